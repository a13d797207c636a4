import FenecDB
import Foundation
import Testing

/// A chain's text to the byte, and its parameters as JSON.
private func expect(
    _ made: @autoclosure () throws -> (text: String, params: [Value]), _ text: String, _ params: String,
    location: SourceLocation = #_sourceLocation
) {
    do {
        let made = try made()
        #expect(made.text == text, sourceLocation: location)
        #expect(Value.array(made.params).json == (try Value.parse(params).json), sourceLocation: location)
    } catch {
        Issue.record(error, sourceLocation: location)
    }
}

private func refused(_ chain: () throws -> Void, location: SourceLocation = #_sourceLocation) {
    #expect(sourceLocation: location) { try chain() } throws: { ($0 as? FenecError)?.code == .builder }
}

private func refused(_ chain: () async throws -> Void, location: SourceLocation = #_sourceLocation) async {
    await #expect(sourceLocation: location) { try await chain() } throws: { ($0 as? FenecError)?.code == .builder }
}

private let v: [Float] = [0.5, 0.25, 1]
private let day = Date(timeIntervalSince1970: 1_778_051_289.010)
private struct Book: Codable, Sendable, FenecValue {
    var id: Int?
    var title: String
    var year: Int
}

@Suite struct QueryTextTests {
    private let books: Query

    init() throws { books = try Query.from("books") }

    @Test func comparisonsAreWrittenAsSpecified() throws {
        expect(try books.where("year", ">=", 1999).toFenecQL(), "get books where year >= $1", "[1999]")
        expect(try books.where("title", "contains", "fox").toFenecQL(), "get books where title ~ $1", #"["fox"]"#)
        expect(try books.where("tags", "has", "old").toFenecQL(), "get books where tags has $1", #"["old"]"#)
        expect(try books.where("id", "in", [4, 8]).toFenecQL(), "get books where id in [$1, $2]", "[4,8]")
        expect(try books.where("lang", "neq", "de").toFenecQL(), "get books where lang != $1", #"["de"]"#)
        expect(try books.where("out", "=", Value.null).toFenecQL(), "get books where out is null", "[]")
        expect(try books.where("out", "ne", Value.null).toFenecQL(), "get books where out is not null", "[]")
        expect(try books.where("meta.shelf.row", "<", 3).toFenecQL(), "get books where meta.shelf.row < $1", "[3]")
        expect(
            try books.where("added", ">", day).toFenecQL(),
            "get books where added > $1", #"["2026-05-06T07:08:09.010Z"]"#)
        expect(
            try books.where("price", "<=", 9.75).where("stock", ">", 0).toFenecQL(),
            "get books where price <= $1 and stock > $2", "[9.75,0]")
        expect(try books.where("tags", "=", ["a", "b"]).toFenecQL(), "get books where tags = $1", #"[["a","b"]]"#)
        expect(
            try books.where("meta", "=", ["k": 1] as Value).toFenecQL(),
            "get books where meta = $1", #"[{"k":1}]"#)
    }

    @Test func specsOfOneFieldAreWrittenAsSpecified() throws {
        expect(try books.where("lent", false).toFenecQL(), "get books where lent = $1", "[false]")
        expect(try books.where("out", nil as Value).toFenecQL(), "get books where out is null", "[]")
        expect(
            try books.where("year", ["gte": 1990, "lt": 2000]).toFenecQL(),
            "get books where year >= $1 and year < $2", "[1990,2000]")
        expect(
            try books.where("year", ["lt": 2000, "gte": 1990] as Value).toFenecQL(),
            "get books where year < $1 and year >= $2", "[2000,1990]")
        expect(
            try books.where("lang", ["not": ["in": ["de", "fr"]]] as Value).toFenecQL(),
            "get books where not (lang in [$1, $2])", #"["de","fr"]"#)
        expect(try books.where("out", ["not": nil] as Value).toFenecQL(), "get books where out is not null", "[]")
        expect(
            try books.where("year", ["gt": 5, "not": 7] as Value).toFenecQL(),
            "get books where year > $1 and not (year = $2)", "[5,7]")
        expect(
            try books.where("at", ["within": [11.0, 48.0, 12.0, 49.0]] as Value).toFenecQL(),
            "get books where within(at, $1)", "[[11.0,48.0,12.0,49.0]]")
        expect(
            try books.where("at", ["distance": ["from": [11.5, 48.25], "lte": 900]] as Value).toFenecQL(),
            "get books where distance(at, $1) <= $2", "[[11.5,48.25],900]")
        expect(
            try books.where("at", ["distance": ["from": [11.5, 48.25], "gt": 10, "lt": 900]] as Value).toFenecQL(),
            "get books where distance(at, $1) > $2 and distance(at, $3) < $4", "[[11.5,48.25],10,[11.5,48.25],900]")
    }

    @Test func conditionsAreWrittenAsSpecified() throws {
        expect(
            try books.where(["lang": "en", "year": ["gte": 2000]]).toFenecQL(),
            "get books where lang = $1 and year >= $2", #"["en",2000]"#)
        expect(try books.where([:]).toFenecQL(), "get books", "[]")
        expect(
            try books.where(.or(["lang": "en"], ["tags": ["has": "old"]])).toFenecQL(),
            "get books where lang = $1 or tags has $2", #"["en","old"]"#)
        expect(
            try books.where(.or(["a": 1, "b": 2], ["c": nil])).toFenecQL(),
            "get books where (a = $1 and b = $2) or c is null", "[1,2]")
        expect(
            try books.where(.or(.cmp("a", "<", 1), .and(["b": 2], .or(["c": 3], ["d": 4])))).toFenecQL(),
            "get books where a < $1 or (b = $2 and (c = $3 or d = $4))", "[1,2,3,4]")
        expect(
            try books.where("a", 1).where(.or(["b": 2], ["c": 3])).toFenecQL(),
            "get books where a = $1 and (b = $2 or c = $3)", "[1,2,3]")
        expect(
            try books.where(.or(.or(["a": 1], ["b": 2]), ["c": 3])).toFenecQL(),
            "get books where a = $1 or b = $2 or c = $3", "[1,2,3]")
        expect(try books.where(.not(["a": 1])).toFenecQL(), "get books where not (a = $1)", "[1]")
        expect(
            try books.where(.not(.or(["a": 1], ["b": 2]))).where("c", 3).toFenecQL(),
            "get books where not (a = $1 or b = $2) and c = $3", "[1,2,3]")
        expect(try books.where(.or([:], .and(), ["a": 1])).toFenecQL(), "get books where a = $1", "[1]")
        expect(try books.where(.not(.or([:]))).toFenecQL(), "get books", "[]")
        expect(try books.where(.raw("len(title) > ?", 12)).toFenecQL(), "get books where len(title) > $1", "[12]")
        expect(
            try books.where(.raw("due <= now()")).where("n", 1).toFenecQL(),
            "get books where due <= now() and n = $1", "[1]")
        expect(
            try books.where(.raw("a = ? or b = ?", 1, 2)).where("c", 3).toFenecQL(),
            "get books where a = $1 or b = $2 and c = $3", "[1,2,3]")
        expect(
            try books.where(.not(.raw("dot(embed, ?) > ?", v, 0.5))).toFenecQL(),
            "get books where not (dot(embed, $1) > $2)", "[[0.5,0.25,1],0.5]")
        expect(try books.where("a", 1).orWhere("b", 2).toFenecQL(), "get books where a = $1 or b = $2", "[1,2]")
        expect(
            try books.where("a", 1).where("b", 2).orWhere("c", ">", 3).where("d", 4).toFenecQL(),
            "get books where ((a = $1 and b = $2) or c > $3) and d = $4", "[1,2,3,4]")
        expect(try books.orWhere(["a": 1, "b": 2]).toFenecQL(), "get books where a = $1 and b = $2", "[1,2]")
        expect(
            try books.where("a", 1).orWhere("b", ["gte": 2, "lt": 5]).toFenecQL(),
            "get books where a = $1 or (b >= $2 and b < $3)", "[1,2,5]")
    }

    @Test func columnsAndGroupsAreWrittenAsSpecified() throws {
        expect(try books.select("title", "meta.shelf").toFenecQL(), "get books select title, meta.shelf", "[]")
        expect(try books.select("title").select("*").toFenecQL(), "get books", "[]")
        expect(
            try books.select("COUNT()", " Avg(price) ", "count( distinct  lang )").toFenecQL(),
            "get books select count(*), avg(price), count(distinct lang)", "[]")
        expect(
            try books.select("lang", "count(*)").group("lang").order("count(*)", "desc").limit(3).toFenecQL(),
            "get books select lang, count(*) group lang order count(*) desc limit $1", "[3]")
        expect(
            try books.select("title", .expr("price * ?", 1.5).as("gross")).toFenecQL(),
            "get books select title, price * $1 as gross", "[1.5]")
        expect(
            try books.select(.bucket("added", "1mo").as("month"), "sum(price)").group("month").toFenecQL(),
            "get books select bucket(added, 1mo) as month, sum(price) group month", "[]")
        expect(
            try books.select(.bucket("added", "1d", "Asia/Tokyo").as("day"), "count(*)").group("day")
                .where("lang", "ja").toFenecQL(),
            "get books select bucket(added, 1d, $1) as day, count(*) where lang = $2 group day",
            #"["Asia/Tokyo","ja"]"#)
        expect(
            try books.select("count(*)").group(.bucket("added", "12h"), "lang").toFenecQL(),
            "get books select count(*) group bucket(added, 12h), lang", "[]")
        expect(
            try books.select("shop", .first("price", by: "added").as("open"), .last("price").as("close"))
                .group("shop").toFenecQL(),
            "get books select shop, first(price by added) as open, last(price) as close group shop", "[]")
        expect(
            try books.select("shop", .countDistinct("reader").as("readers")).group("shop").toFenecQL(),
            "get books select shop, count(distinct reader) as readers group shop", "[]")
        expect(
            try books.select("name", .distance("at", [11.5, 48.25]).as("m")).order("m").toFenecQL(),
            "get books select name, distance(at, $1) as m order m asc", "[[11.5,48.25]]")
        expect(
            try books.select("sum(price)").order("price", "desc").limit(10).toFenecQL(),
            "get books select sum(price) order price desc limit $1", "[10]")
        expect(
            try books.where("a", 1).select("count(*)").group(.expr("price / ?", 10)).toFenecQL(),
            "get books select count(*) where a = $1 group price / $2", "[1,10]")
    }

    @Test func rankingsAreWrittenAsSpecified() throws {
        expect(
            try books.near("embed", v, ef: 64).limit(5).toFenecQL(),
            "get books near embed $1 ef 64 limit $2", "[[0.5,0.25,1],5]")
        expect(
            try books.limit(5).near("embed", v, exact: true).where("lang", "en").select("title").toFenecQL(),
            "get books select title where lang = $1 near embed $2 exact limit $3", #"["en",[0.5,0.25,1],5]"#)
        expect(try books.match("body", "sly fox").toFenecQL(), "get books match body $1", #"["sly fox"]"#)
        expect(
            try books.match("body", "sly fxo", fuzzy: true, prefix: true).toFenecQL(),
            "get books match body $1 fuzzy 2 prefix", #"["sly fxo"]"#)
        expect(try books.match("body", "fxo", fuzzy: 1).toFenecQL(), "get books match body $1 fuzzy 1", #"["fxo"]"#)
        expect(
            try books.match("body", "fox").near("embed", v).fuse().toFenecQL(),
            "get books near embed $1 match body $2 fuse", #"[[0.5,0.25,1],"fox"]"#)
        expect(
            try books.fuse(k: 60, candidates: 200).near("embed", v).match("body", "fox").limit(9).toFenecQL(),
            "get books near embed $1 match body $2 fuse k 60 candidates 200 limit $3", #"[[0.5,0.25,1],"fox",9]"#)
        expect(
            try books.match("body", "fox").rerank("embed", v, candidates: 80).toFenecQL(),
            "get books match body $1 rerank embed $2 candidates 80", #"["fox",[0.5,0.25,1]]"#)
    }

    @Test func marksAreWrittenAsSpecified() throws {
        expect(
            try books.select("title").highlight("body").match("body", "fox").toFenecQL(),
            "get books select title, highlight(body) match body $1", #"["fox"]"#)
        expect(
            try books.match("body", "fox").highlight("body", pre: "<em>", post: "</em>").toFenecQL(),
            "get books select *, highlight(body, $1, $2) match body $3", #"["<em>","</em>","fox"]"#)
        expect(
            try books.snippet("body", 20).match("body", "fox").toFenecQL(),
            "get books select *, snippet(body, 20) match body $1", #"["fox"]"#)
        expect(
            try books.snippet("body", 20, ellipsis: "~").match("body", "fox").toFenecQL(),
            "get books select *, snippet(body, 20, $1) match body $2", #"["~","fox"]"#)
        expect(
            try books.snippet("body", 20, pre: "[", post: "]").match("body", "fox").toFenecQL(),
            "get books select *, snippet(body, 20, $1, $2, $3) match body $4", #"["","[","]","fox"]"#)
        expect(
            try books.select("title", .expr("price * ?", 2).as("p")).highlight("body", pre: "<", post: ">")
                .match("body", "fox").where("a", 1).toFenecQL(),
            "get books select title, price * $3 as p, highlight(body, $1, $2) where a = $4 match body $5",
            #"["<",">",2,1,"fox"]"#)
    }

    @Test func facetsAreWrittenAsSpecified() throws {
        expect(
            try books.facet("lang", top: 5).facet("meta.shelf").limit(20).toFenecQL(),
            "get books limit $1 facet lang top $2, meta.shelf", "[20,5]")
        expect(
            try books.facet("price", ranges: [0, 10, 99.5]).toFenecQL(),
            "get books facet price ranges [0, 10, 99.5]", "[]")
        expect(
            try books.where("lang", "en").facet("lang", disjunctive: true).order("year").toFenecQL(),
            "get books where lang = $1 order year asc facet lang disjunctive", #"["en"]"#)
    }

    @Test func ordersAndPagesAreWrittenAsSpecified() throws {
        expect(
            try books.order("year", "desc").order("title", collate: "tr").toFenecQL(),
            "get books order year desc, title collate tr asc", "[]")
        expect(try books.limit(20).offset(40).toFenecQL(), "get books limit $1 offset $2", "[20,40]")
        expect(try books.offset(0).limit(0).toFenecQL(), "get books limit $1", "[0]")
        expect(
            try books.where("sku", "s1").where("price", 5).require(1).toFenecQL(),
            "get books where sku = $1 and price = $2 require 1", #"["s1",5]"#)
    }

    @Test func lookupsAreWrittenAsSpecified() throws {
        expect(try books.lookup("loans", on: "book_id").toFenecQL(), "get books lookup loans on book_id", "[]")
        expect(
            try books.where("lang", "en").limit(5)
                .lookup(
                    "loans", on: "isbn", parentKey: "isbn", select: ["who"], where: ["back": nil], required: true,
                    order: [SortKey("at", "desc"), "who"], limit: 3, offset: 1
                )
                .toFenecQL(),
            "get books where lang = $1 limit $2 lookup loans on isbn = isbn required select who where back is null order at desc, who asc limit $3 offset $4",
            #"["en",5,3,1]"#)
        expect(
            try books.lookup("loans", on: "book_id", limit: 2).lookup("people", on: "loan_id", select: ["name"])
                .toFenecQL(),
            "get books lookup loans on book_id limit $1 lookup people on loan_id select name", "[2]")
        expect(
            try books.lookup("copies", on: ["org", "book"], parentKey: ["org", "id"]).toFenecQL(),
            "get books lookup copies on (org, book) = (org, id)", "[]")
        expect(
            try books.lookup(
                "loans", on: "book_id", select: ["year", "count(*)"], group: ["year"],
                order: [SortKey("count(*)", "desc")], limit: 1
            )
            .toFenecQL(),
            "get books lookup loans on book_id select year, count(*) group year order count(*) desc limit $1", "[1]")
        expect(
            try books.select("author", "count(*)").group("author").lookup("people", on: "id", parentKey: "author")
                .toFenecQL(),
            "get books select author, count(*) group author lookup people on id = author", "[]")
        expect(
            try books.facet("lang", top: 1).require(2)
                .lookup("loans", on: "book_id", where: .or(["a": 1], ["b": 2])).toFenecQL(),
            "get books require 2 facet lang top $1 lookup loans on book_id where a = $2 or b = $3", "[1,1,2]")
    }

    @Test func writesAreWrittenAsSpecified() throws {
        expect(
            try books.toInsert(["title": "Fox", "year": 1999, "out": nil] as Value),
            "put books {title: $1, year: $2, out: $3}", #"["Fox",1999,null]"#)
        expect(
            try books.toInsert([["n": 1], ["n": 2, "m": 3]] as Value),
            "put books [{n: $1}, {n: $2, m: $3}]", "[1,2,3]")
        expect(try books.toInsert([["n": 1]] as Value, ifAbsent: true), "put books {n: $1} if absent", "[1]")
        expect(
            try books.toInsert(
                ["embed": .floats([0.5, 0.25, 1]), "meta.lang": "en", "at": .expr("now()")] as Value, returning: ["id"]),
            "put books {embed: $1, meta.lang: $2, at: now()} returning id", #"[[0.5,0.25,1],"en"]"#)
        expect(
            try books.toInsert(Book(title: "Fox", year: 1999)),
            "put books {title: $1, year: $2}", #"["Fox",1999]"#)
        expect(
            try books.toInsert([Book(title: "A", year: 1), Book(title: "B", year: 2)], require: 2),
            "put books [{title: $1, year: $2}, {title: $3, year: $4}] require 2", #"["A",1,"B",2]"#)
        expect(
            try books.where("id", 7).toUpdate(["lent": true] as Value),
            "set books {lent: $1} where id = $2", "[true,7]")
        expect(
            try books.where("id", 7).where("stock", ">=", 2)
                .toUpdate(["stock": .inc(-2), "seen": .expr("now()")] as Value, require: 1),
            "set books {stock: coalesce(stock, 0) + $1, seen: now()} where id = $2 and stock >= $3 require 1",
            "[-2,7,2]")
        expect(
            try books.toUpdate(["price": .expr("price * ?", 1.5)] as Value, all: true),
            "set books {price: price * $1}", "[1.5]")
        expect(
            try books.where("state", "new").order("at").limit(10)
                .toUpdate(["state": "taken", "tries": .inc()] as Value, returning: ["*"]),
            "set books {state: $1, tries: coalesce(tries, 0) + $2} where state = $3 order at asc limit $4 returning *",
            #"["taken",1,"new",10]"#)
        expect(try books.limit(3).toUpdate(["a": 1] as Value), "set books {a: $1} limit $2", "[1,3]")
        expect(try books.where("year", "<", 1900).toDelete(), "del books where year < $1", "[1900]")
        expect(try books.toDelete(all: true), "del books", "[]")
        expect(
            try books.order("at").limit(1).toDelete(require: 1, returning: ["id", "meta.lang"]),
            "del books order at asc limit $1 returning id, meta.lang require 1", "[1]")
        expect(
            try books.toUpsert(["key": "k", "n": 1] as Value, ["n": .expr("n + new.n")] as Value),
            "put books {key: $1, n: $2} if absent else set {n: n + new.n}", #"["k",1]"#)
        expect(
            try books.toUpsert(
                [["key": "a"], ["key": "b"]] as Value, ["hits": .inc(2), "by": "me"] as Value, returning: ["key"]),
            "put books [{key: $1}, {key: $2}] if absent else set {hits: coalesce(hits, 0) + $3, by: $4} returning key",
            #"["a","b",2,"me"]"#)
    }

    @Test func aDictionaryHasNoOrderAndIsSorted() throws {
        expect(
            try books.where("year", ["lt": 2000, "gte": 1990]).toFenecQL(),
            "get books where year >= $1 and year < $2", "[1990,2000]")
        expect(
            try books.where("year", ["lt": 2000, "gte": 1990] as Row).toFenecQL(),
            "get books where year < $1 and year >= $2", "[2000,1990]")
        expect(try books.where(.fields(["z": 1, "a": 2])).toFenecQL(), "get books where z = $1 and a = $2", "[1,2]")
        expect(try books.toInsert(["z": 1, "a": 2]), "put books {a: $1, z: $2}", "[2,1]")
    }

    @Test func pointsAndAreasHaveConditionsOfTheirOwn() throws {
        expect(
            try books.where(.within("at", [1.5, 2, 3, 4] as [Double])).toFenecQL(),
            "get books where within(at, $1)", "[[1.5,2,3,4]]")
        expect(
            try books.where(.or(.distance("at", from: [1.5, 2.5] as [Double], "lte", 900), ["n": 1])).toFenecQL(),
            "get books where distance(at, $1) <= $2 or n = $3", "[[1.5,2.5],900,1]")
        refused { _ = try books.where(.distance("at", from: [1, 2], "from", 5)) }
        refused { _ = try books.where(.distance("at", from: [1, 2], "<", .nan)) }
    }

    @Test func aQueryIsAValue() throws {
        let base = try books.where("a", 1)
        let left = try base.where("b", 2)
        let right = try base.orWhere("c", 3)
        for _ in 0..<2 {
            expect(try base.toFenecQL(), "get books where a = $1", "[1]")
            expect(try left.toFenecQL(), "get books where a = $1 and b = $2", "[1,2]")
            expect(try right.toFenecQL(), "get books where a = $1 or c = $2", "[1,3]")
        }
        #expect(base.collection == "books")
    }

    @Test func lettersAreToldApartByScalar() throws {
        for name in ["größe", "_x2", "meta.名前", "x\u{0661}", "Ⓐ", "x½"] {
            expect(try books.where(name, 1).toFenecQL(), "get books where \(name) = $1", "[1]")
        }
        for name in ["a b", "2x", "a-b", "a.", ".a", "a'", "", "a\u{0}", "a\u{301}", "$1", "\u{661}", "a\nb", "a;b"] {
            refused { _ = try books.where(name, 1) }
        }
        // Folded, these would spell count, as in İ, and min; the Kelvin sign is K and the long s an s.
        for name in ["m\u{130}n(a)", "m\u{131}n(a)", "fir\u{17F}t(a)", "\u{17F}um(a)", "count(\u{200B})"] {
            refused { _ = try books.select(name) }
        }
        refused { _ = try books.order("a", "a\u{17F}c") }
        expect(
            try books.select("\u{3000}cOuNt(\u{FEFF}DISTINCT\u{2003}a.b_1\u{A0})\t").toFenecQL(),
            "get books select count(distinct a.b_1)", "[]")
        expect(
            try books.select(.expr("\u{17F}um(a)").as("x")).near("e", v).toFenecQL(),
            "get books select \u{17F}um(a) as x near e $1", "[[0.5,0.25,1]]")
        refused { _ = try books.select(.expr("1 + Sum\u{2003}(a)")).near("e", v).toFenecQL() }
    }

    @Test func messagesNameWhatTheyRefuse() {
        func message(_ chain: () throws -> Void) -> String {
            do { try chain() } catch { return "\(error)" }
            return ""
        }
        #expect(message { _ = try Query.from("my \"books\"") }.contains(#"collection"#))
        #expect(message { _ = try Query.from("my \"books\"") }.contains(#""my \"books\"""#))
        #expect(message { _ = try books.where("a b", 1) }.contains("field"))
        #expect(message { _ = try books.select(.expr("1").as("a b")) }.contains("column"))
        #expect(message { _ = try books.where("a", "<>", 1) }.contains(#""<>""#))
        #expect(message { _ = try books.where("a", ["foo": 1] as Value) }.contains(#""foo""#))
        #expect(message { _ = try books.toDelete() }.contains("all: true"))
    }

    @Test func boundsOfRangesAreWrittenAsJavaScriptDoes() throws {
        expect(
            try books.facet("a", ranges: [-1e22, -0.5, -0.0, 1.5e-7, 1e-6, 50.5, 1e20, 1e21, 1.25e300]).toFenecQL(),
            "get books facet a ranges [-1e+22, -0.5, 0, 1.5e-7, 0.000001, 50.5, 100000000000000000000, 1e+21, 1.25e+300]",
            "[]")
        refused { _ = try books.facet("a", ranges: [0, .infinity]) }
        refused { _ = try books.facet("a", ranges: [.nan, 1]) }
    }

    @Test func whatNestsTooDeepIsRefused() throws {
        var cond: Cond = ["a": 1]
        for _ in 0..<400 { cond = .not(cond) }
        #expect(try books.where(cond).toFenecQL().text.hasPrefix("get books where not (not ("))
        for _ in 0..<100_000 { cond = .not(cond) }
        refused { _ = try books.where(cond) }
        refused { _ = try books.where("a", 1).orWhere(cond) }
        refused { _ = try books.lookup("loans", on: "b", where: cond) }
        var spec: Value = 1
        for _ in 0..<600 { spec = ["not": spec] }
        refused { _ = try books.where("a", spec) }
        // A chain of `orWhere` is one list however long.
        var query = books
        for n in 0..<2000 { query = try query.orWhere("a", n) }
        #expect(try query.toFenecQL().params.count == 2000)
        refused {
            for n in 0..<600 { query = try query.where("a", n).orWhere("b", n) }
        }
    }

    @Test func aValueThatCannotBeWrittenIsNoRefusal() {
        #expect { try books.where("a", UInt64.max) } throws: { ($0 as? FenecError)?.code == .type }
        #expect { try books.where(.cmp("a", "=", UInt64.max)) } throws: { ($0 as? FenecError)?.code == .type }
    }
}

@Suite struct QueryRefusalTests {
    private let books: Query

    init() throws { books = try Query.from("books") }

    @Test func chainsAreRefusedAsSpecified() {
        refused { _ = try Query.from("my books") } // collection name
        refused { _ = try Query.from("a.b") } // a collection is no path
        refused { _ = try books.where("x = 1 or y", 1) } // field name
        refused { _ = try books.where("a..b", 1) } // empty part of a path
        refused { _ = try books.where("a", "<>", 1) } // unknown operator
        refused { _ = try books.where("a", "LIKE", "x") } // operator words are lower case
        refused { _ = try books.where("a", "not", 1) } // not only inside an operator object
        refused { _ = try books.where("a", ">", Value.null) } // null only with = and !=
        refused { _ = try books.where("a", "in", 5) } // in takes a list
        refused { _ = try books.where("a", "in", [] as Value) } // in takes no empty list
        refused { _ = try books.where("a", [:] as Value) } // no operator in the object
        refused { _ = try books.where("a", ["between": [1, 2]] as Value) } // unknown operator
        refused { _ = try books.where("p", ["distance": ["lte": 5]] as Value) } // no from
        refused { _ = try books.where("p", ["distance": ["from": [1, 2]]] as Value) } // no comparison
        // Metres compare with = != < <= > >= alone
        refused { _ = try books.where("p", ["distance": ["from": [1, 2], "has": 5]] as Value) }
        refused { _ = try books.where(.raw("a = ?", 1, 2)).toFenecQL() } // more parameters than ?
        refused { _ = try books.where(.raw("a = ? + ?", 1)).toFenecQL() } // more ? than parameters
        // .inc and .expr stand only as a document's field
        refused { _ = try books.where("a", .inc(1) as Value).toFenecQL() }
        refused { _ = try books.select("sum( price )") } // neither a field nor an aggregate as spelled
        refused { _ = try books.select("median(price)") } // no such aggregate; use .expr
        refused { _ = try books.select(.bucket("at", "0h")) } // interval
        refused { _ = try books.select(.bucket("at", "1d", "")) } // empty zone
        refused { _ = try books.select(.expr("a + 1").as("b.c")) } // a column name is no path
        refused { _ = try books.select(Column("a").as("b")) } // only an expression takes as
        refused { _ = try books.select("lang").group("lang").toFenecQL() } // group without an aggregate in the list
        refused { _ = try books.group([] as [Column]) } // no key
        // Aggregate with match (likewise near)
        refused { _ = try books.select("count(*)").match("t", "x").toFenecQL() }
        refused { _ = try books.select("count(*)").require(1).toFenecQL() } // ungrouped aggregate with require
        refused { _ = try books.select("count(*)").facet("a").toFenecQL() } // facet with aggregates
        // near takes a field, no path (likewise match, rerank, highlight, snippet, lookup keys)
        refused { _ = try books.near("meta.e", v) }
        refused { _ = try books.near("e", v, ef: -1) } // negative
        refused { _ = try books.match("t", "x", fuzzy: 3) } // edits are 0, 1 or 2
        refused { _ = try books.match("t", "x").near("e", v).toFenecQL() } // both without fuse
        refused { _ = try books.near("e", v).fuse().toFenecQL() } // fuse without match
        refused { _ = try books.rerank("e", v).toFenecQL() } // rerank without match
        refused { _ = try books.match("t", "x").near("e", v).fuse().rerank("e", v).toFenecQL() } // fuse and rerank
        refused { _ = try books.highlight("t").toFenecQL() } // mark without match
        refused { _ = try books.highlight("t", pre: "<") } // one tag alone
        refused { _ = try books.highlight("t").highlight("t") } // asked twice
        refused { _ = try books.snippet("t", 0) } // no word
        refused { _ = try books.facet("a", top: 0) } // answers nothing
        refused { _ = try books.facet("a").facet("a", top: 2) } // asked twice
        refused { _ = try books.facet("a", ranges: [3, 3]) } // bounds must rise
        refused { _ = try books.facet("a", top: 2, ranges: [1, 2]) } // top with ranges
        refused { _ = try books.facet("a").near("e", v).toFenecQL() } // facet with near
        refused { _ = try books.order("a", "down") } // direction
        refused { _ = try books.order("a", collate: "de") } // collation
        refused { _ = try books.limit(-1) } // negative
        refused { _ = try books.limit(1 << 53) } // above 2^53 − 1
        refused { _ = try books.require(-1) } // negative
        refused { _ = try books.lookup("loans", on: "") } // no child field
        refused { _ = try books.lookup("copies", on: ["a", "b"]) } // several child fields need as many parent fields
        refused { _ = try books.lookup("books", on: "parent").toFenecQL() } // a collection twice in one chain
        // Lookup with match (likewise near, rerank)
        refused { _ = try books.lookup("loans", on: "b").match("t", "x").toFenecQL() }
        refused { _ = try books.lookup("loans", on: "b", select: ["x"], group: ["x"]) } // group without an aggregate
        // An expression needs an aggregating list
        refused { _ = try books.lookup("loans", on: "b", select: [.expr("x + 1").as("y")]) }
        refused { _ = try books.limit(1).toInsert(["a": 1] as Value) } // page on an insert
        refused { _ = try books.where("a", 1).toInsert(["a": 1] as Value) } // filter on an insert (likewise upsert)
        refused { _ = try books.toInsert([] as Value) } // no document
        refused { _ = try books.toInsert([:] as Value) } // no field
        refused { _ = try books.toInsert(5) } // no document
        refused { _ = try books.toInsert(["n": .inc(1)] as Value) } // .inc reads a row; an insert has none
        refused { _ = try books.toInsert(["a": 1] as Value, returning: []) } // no field named
        refused { _ = try books.toInsert(["a": 1] as Value, returning: ["*", "id"]) } // * stands alone
        refused { _ = try books.require(1).toInsert(["a": 1] as Value) } // a write takes require as its argument
        refused { _ = try books.toUpdate(["a": 1] as Value) } // no filter, no all, no limit
        // An empty condition is no filter; order alone bounds nothing
        refused { _ = try books.where([:]).order("a").toUpdate(["a": 1] as Value) }
        refused { _ = try books.where("a", 1).offset(1).toUpdate(["a": 1] as Value) } // offset on a write
        refused { _ = try books.where("a", 1).toUpdate(["n": .inc("x")] as Value) } // .inc takes a finite number
        refused { _ = try books.toDelete() } // no filter, no all, no limit
        refused { _ = try books.toUpsert(["n": 1] as Value, [:] as Value) } // empty patch
    }

    @Test func runningCallsAreRefusedBeforeTheySend() async throws {
        let books = books.bind { _, _ in
            Issue.record("a refused chain was sent")
            return .affected(0)
        }
        // Count with near, match, rerank, order, limit, offset, select or require
        await refused { _ = try await books.limit(1).count() }
        // Count with a lookup that is not required
        await refused { _ = try await books.lookup("loans", on: "b").count() }
        await refused { _ = try await Query.from("books").rows() } // bound to no database
        await refused { _ = try await books.delete() }
        await refused { _ = try await books.update(["n": .inc("x")] as Value, all: true) }
    }

    @Test func computedValuesStandInDocumentsAlone() async throws {
        refused { _ = try books.where("a", "in", [1, .inc()] as Value).toFenecQL() }
        refused { _ = try books.where("a", ["not": .expr("now()")] as Value).toFenecQL() }
        refused { _ = try books.where("a", ["within": .inc()] as Value).toFenecQL() }
        refused { _ = try books.where(.raw("a = ?", params: [.inc()])).toFenecQL() }
        refused { _ = try books.select(.expr("a + ?", .inc())).toFenecQL() }
        refused { _ = try books.near("e", [.inc()] as Value).toFenecQL() }
        refused { _ = try books.toInsert(["a": ["b": .expr("now()")]] as Value) }
        refused { _ = try books.toInsert(["a": [.expr("now()")]] as Value) }
        refused { _ = try books.toInsert(Value.expr("now()")) }
        refused { _ = try books.toUpdate(["a": .inc(.inc())] as Value, all: true) }
        refused { _ = try books.toUpdate(["a": .inc(.double(.infinity))] as Value, all: true) }
        refused { _ = try books.toUpdate(["a": .expr("? + 1", .inc())] as Value, all: true) }
        refused { _ = try books.toUpdate(["a": .expr("? + 1")] as Value, all: true) }
        let db = try Fenec.memory()
        await refused { _ = try await db.run("get t where a = $1", params: [["a": .inc()]]) }
        // No JSON reads as one.
        #expect(try Value.parse(Value.inc(2).json) != .inc(2))
        #expect(Value.inc(2) == .inc(2))
        #expect(Value.inc(2) != .inc(3))
    }
}

@Suite struct QueryRunningTests {
    /// What a bound query sends.
    private actor Log {
        private(set) var sent: [(text: String, params: [Value])] = []
        private let answer: Answer

        init(_ answer: Answer) { self.answer = answer }

        func run(_ text: String, _ params: [Value]) -> Answer {
            sent.append((text, params))
            return answer
        }

        func query(_ collection: String) throws -> Query { try Query.from(collection).bind { await self.run($0, $1) } }
    }

    @Test func runningCallsSendAsSpecified() async throws {
        let log = Log(.rows(columns: ["count"], rows: [["count": 3, "plan": "scan"]]))
        let books = try await log.query("books")
        #expect(try await books.where("a", 1).limit(5).first() == ["count": 3, "plan": "scan"])
        #expect(try await books.where("a", 1).count() == 3)
        _ = try await books.lookup("loans", on: "book_id", where: ["back": nil], required: true).count()
        #expect(try await books.near("embed", v).limit(1).explain() == ["scan"])
        #expect(try await books.where("id", 7).delete() == 0)
        #expect(try await books.insert([] as Value) == 0)
        #expect(try await books.insert([Book](), returning: ["*"]) == [])
        #expect(try await books.upsert([] as Value, ["a": 1]) == 0)
        #expect(try await books.insert(["a": 1] as Value, returning: ["*"]).count == 1)
        let sent = await log.sent
        #expect(
            sent.map(\.text) == [
                "get books where a = $1 limit $2", "get books where a = $1 count",
                "get books count lookup loans on book_id required where back is null",
                "explain get books near embed $1 limit $2", "del books where id = $1",
                "put books {a: $1} returning *",
            ])
        #expect(sent.map(\.params) == [[1, 1], [1], [], [.floats(v), 1], [7], [1]])
    }

    @Test func readsNameTheCollections() throws {
        let books = try Query.from("books")
        #expect(books.reads == ["books"])
        let joined = try books.lookup("loans", on: "b").lookup("people", on: "l", where: .raw("get_ready > ?", 1))
        #expect(joined.reads == ["books", "loans", "people"])
        #expect(try books.lookup("books", on: "parent").reads == ["books"])
        #expect(try books.where(.or(["a": 1], .not(.raw("id in (GET other select id)")))).reads == nil)
        #expect(try books.lookup("loans", on: "b", where: .raw("a in (get x)")).reads == nil)
        #expect(try books.select(.expr("a in (get x select id)")).reads == nil)
        #expect(try books.select("count(*)").group(.expr("a in (get x select id)")).reads == nil)
        #expect(try books.select("get").where("get", "get").reads == ["books"])
        #expect(try books.where(.raw("target = ?", "get")).reads == ["books"])
    }

    private struct Job: Codable, Sendable, FenecValue, Equatable {
        var id: Int?
        var title: String
        var done: Bool
    }

    @Test func queriesRunOnTheirDatabase() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection jobs (title text, done bool @hash, tries int, key text @unique)")
        let jobs = try db.from("jobs")
        #expect(try await jobs.insert([Job(title: "paint", done: false), Job(title: "saw", done: true)]) == 2)
        #expect(
            try await jobs.insert(["title": "nail", "done": false, "key": "n"] as Value, returning: ["id"]) == [
                ["id": 3]
            ])
        #expect(
            try await jobs.where("done", false).order("title").rows(as: Job.self).map(\.title) == ["nail", "paint"])
        #expect(try await jobs.where("id", 2).first(as: Job.self) == Job(id: 2, title: "saw", done: true))
        #expect(try await jobs.where("id", 9).first() == nil)
        #expect(try await jobs.where(.or(["done": true], ["title": ["like": "na"]])).count() == 2)
        #expect(try await jobs.where("id", 1).update(["done": true, "tries": .inc()] as Value) == 1)
        #expect(
            try await jobs.where("done", true).order("id").limit(1).update(
                ["tries": .inc(5)] as Value, returning: ["tries"])
                == [["tries": 6]])
        #expect(
            try await jobs.upsert(["key": "n", "title": "x"] as Value, ["title": .expr("title + ?", "s")] as Value) == 1
        )
        #expect(try await jobs.where("key", "n").first()?["title"] == "nails")
        #expect(try await jobs.insert(["key": "n"] as Value, ifAbsent: true) == 0)
        await #expect {
            try await jobs.where("id", 1).update(["done": false] as Value, require: 2)
        } throws: { ($0 as? FenecError)?.code == .unmet }
        #expect(try await !jobs.where("done", true).explain().isEmpty)
        let counts = try await jobs.select("done", "count(*)").group("done").order("done").rows()
        #expect(counts == [["done": false, "count": 1], ["done": true, "count": 2]])
        #expect(try await jobs.facet("done").limit(0).answer().facets["done"]?.count == 2)
        #expect(try await jobs.where("done", true).delete() == 2)
        #expect(try await jobs.delete(all: true, returning: ["title"]) == [["title": "nails"]])
        #expect { try db.from("no name") } throws: { ($0 as? FenecError)?.code == .builder }
    }

    @Test func aQueryDoesNotKeepItsDatabaseOpen() async throws {
        var db: Fenec? = try Fenec.memory()
        try await db?.execute("create collection t (n int)")
        let query = try #require(try db?.from("t"))
        #expect(try await query.count() == 0)
        weak let watched = db
        db = nil
        #expect(watched == nil)
        await #expect { try await query.rows() } throws: { ($0 as? FenecError)?.code == .misuse }
    }
}

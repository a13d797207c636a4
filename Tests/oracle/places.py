"""Points and collated names: random programs over one collection, its twin without an index, and a model with
the formula of the platform. What lies within a millimetre of an edge, or of another point's distance, is left
to the twin, which must answer the same to the last digit; so is the order of names."""
import math
import random

EARTH = 6372797.560856
NAMES = ["ada", "Ada", "âda", "Irmak", "ılgaz", "İlker", "ince", "Zeynep", "Zoë", "çınar", "Çağla", "cem", "can", "Ömer", "oya",
         "şule", "su", "山田", "Борис", "", " a", "a-b", "10", "9", "e\u0301", "é", "\U00010400", "\uffff", "ü" * 130, "ü" * 130 + "a",
         "ü" * 129 + "u"]


def distance(a, b):
    u, v = math.sin(math.radians(b[1] - a[1]) / 2), math.sin(math.radians(b[0] - a[0]) / 2)
    h = u * u + math.cos(math.radians(a[1])) * math.cos(math.radians(b[1])) * v * v
    return 2 * EARTH * math.asin(math.sqrt(min(1.0, h)))


def within(p, box):
    west, south, east, north = box
    inside = west <= p[0] <= east if west <= east else p[0] >= west or p[0] <= east
    return inside and south <= p[1] <= north


class Places:
    def __init__(self, engine, seed, path, difference):
        self.engine, self.path, self.difference = engine, path, difference
        self.r = random.Random(seed)
        self.db, self.twin = engine.Fenec(path), engine.Fenec()
        self.rows, self.last, self.log = {}, 0, []
        collate = self.r.choice(["und", "tr"])
        self.both("create collection p (n int @sorted, k int @hash, loc geo @geo, name text collate %s @sorted)" % collate,
                  "create collection p (n int, k int, loc geo, name text collate %s)" % collate)

    def both(self, text, twins=None, params=()):
        self.log.append((text, list(params)))
        answers = []
        for db, t in ((self.db, text), (self.twin, twins or text)):
            try:
                answers.append(db.query(t, *params))
            except self.engine.FenecError as e:
                answers.append(e.name)
        if answers[0] != answers[1]:
            raise self.difference(f"without indexes: {answers[1]}\n       with them: {answers[0]}")
        if isinstance(answers[0], str):
            raise self.difference(f"expected an answer, got {answers[0]}")
        return answers[0]

    # ---- drawing ----

    def point(self):
        r = self.r
        pick = r.random()
        if pick < 0.1:
            return [r.choice([-180.0, 180.0, 179.9999, -179.9999]), r.uniform(-90, 90)]
        if pick < 0.2:
            return [r.uniform(-180, 180), r.choice([-90.0, 90.0, 89.9999, -89.9999])]
        if pick < 0.4:
            return [r.uniform(-180, 180), math.degrees(math.asin(r.uniform(-1, 1)))]
        if pick < 0.5 and self.rows:
            return list(r.choice(list(self.rows.values()))["loc"] or [0.0, 0.0])
        return [29 + r.gauss(0, 0.1), 41 + r.gauss(0, 0.1)]

    def document(self):
        r = self.r
        return {"n": r.choice([None, *range(6)]), "k": r.randint(0, 4), "loc": None if r.random() < 0.1 else self.point(),
                "name": None if r.random() < 0.05 else r.choice(NAMES) + r.choice(["", "", "a", "Z", "ı"])}

    def narrowing(self):
        """(text, test) of a condition beside the point's."""
        r = self.r
        pick = r.random()
        if pick < 0.3:
            v = r.randint(0, 5)
            return f"n < {v}", lambda row: row["n"] is not None and row["n"] < v
        if pick < 0.5:
            v = r.randint(0, 5)
            return f"k = {v}", lambda row: row["k"] == v
        return None

    def area(self):
        """(text, params, test) of a condition on the point; the test is None where it is too near an edge."""
        r = self.r
        if r.random() < 0.4:
            a, b = self.point(), self.point()
            box = [a[0], min(a[1], b[1]), b[0], max(a[1], b[1])]
            return "within(loc, $1)", [box], lambda p: within(p, box)
        at, metres = self.point(), 10 ** r.uniform(0, 7.4)
        params = [at, metres]
        text = r.choice(["distance(loc, $1) < $2", "distance($1, loc) <= $2", "$2 > distance(loc, $1)", "$2 >= distance($1, loc)"])

        def test(p):
            d = distance(p, at)
            return None if abs(d - metres) < (1 if d > 1.9e7 else 1e-3) else d < metres
        return text, params, test

    # ---- statements ----

    def put(self):
        documents = [self.document() for _ in range(self.r.choice([1, 1, 5, 30]))]
        self.both("put p $1", params=[documents])
        for d in documents:
            self.last += 1
            self.rows[self.last] = d

    def change(self):
        if not self.rows:
            return
        i = self.r.choice(list(self.rows))
        if self.r.random() < 0.4:
            self.both(f"del p where id = {i}")
            del self.rows[i]
            return
        fresh = self.document()
        field = self.r.choice(["loc", "name", "n"])
        self.both(f"set p {{{field}: $1}} where id = {i}", params=[fresh[field]])
        self.rows[i] = dict(self.rows[i], **{field: fresh[field]})

    def passing(self, test, more, negated):
        """Ids that pass, or None where one is too near an edge to tell."""
        out = []
        for i, row in self.rows.items():
            if more and not more[1](row):
                continue
            inside = test(row["loc"]) if row["loc"] else False
            if inside is None:
                return None
            if inside != negated:
                out.append(i)
        return out

    def filtered(self):
        text, params, test = self.area()
        more, negated = self.narrowing(), self.r.random() < 0.1
        where = f"not {text}" if negated else text
        where += f" and {more[0]}" if more else ""
        wanted = self.passing(test, more, negated)
        if self.r.random() < 0.3:
            got = self.both(f"get p where {where} count", params=params)["result"]["rows"][0]["count"]
            wanted = None if wanted is None else len(wanted)
        else:
            limit = self.r.choice([None, self.r.randint(0, 10)])
            order = self.r.choice(["", "", " order n desc", " order name"])
            answer = self.both(f"get p where {where}{order}" + (f" limit {limit}" if limit is not None else ""), params=params)
            got = [row["id"] for row in answer["result"]["rows"]]
            wanted = None if order or wanted is None else wanted[:limit]
        if wanted is not None and got != wanted:
            raise self.difference(f"expected {wanted}\n     got {got}")

    def nearest(self):
        at, more = self.point(), self.narrowing()
        limit, offset = self.r.choice([None, self.r.randint(0, 12)]), self.r.choice([0, 0, self.r.randint(0, 5)])
        page = (f" limit {limit}" if limit is not None else "") + (f" offset {offset}" if offset else "")
        where = f" where {more[0]}" if more else ""
        got = self.both(f"get p select id{where} near loc $1{page}", f"get p select id{where} near loc $1 exact{page}", [at])
        got = [(row["id"], row["_score"]) for row in got["result"]["rows"]]
        met = sorted((distance(row["loc"], at), i) for i, row in self.rows.items() if row["loc"] and (not more or more[1](row)))
        end = len(met) if limit is None else offset + limit
        # The formula of the chapter and this one differ in the last digits: rows of other places that are as far
        # may stand in either order, also those just past the page.
        reach = end
        while 0 < reach < len(met) and met[reach][0] - met[end - 1][0] < 1:
            reach += 1
        close = any(abs(a - b) < 1 and self.rows[i]["loc"] != self.rows[k]["loc"]
                    for (a, i), (b, k) in zip(met[:reach], met[1:reach]))
        wanted = met[offset:end]
        if len(got) != len(wanted) or not close and [i for i, _ in got] != [i for _, i in wanted]:
            raise self.difference(f"expected {wanted}\n     got {got}")
        if any(abs(score - d) > 1e-6 * d + 1.1 for (_, score), (d, _) in zip(got, wanted)):
            raise self.difference(f"expected distances {wanted}\n     got {got}")

    def named(self):
        r = self.r
        name = lambda: r.choice(NAMES) + r.choice(["", "a"])
        where = r.choice(["", " where name < $1", " where name >= $1", " where $1 < name and name <= $2", " where name = $1",
                          " where name in [$1, $2] and n < 4", " where name > $1 and k = 2"])
        order = r.choice(["", " order name", " order name desc", " order name, n desc", " order name collate und"])
        page = r.choice(["", f" limit {r.randint(0, 8)}", f" limit {r.randint(0, 8)} offset {r.randint(0, 9)}"])
        tail = " count" if r.random() < 0.15 else f"{order}{page}"
        self.both(f"get p{where}{tail}", params=[name(), name()])
        if r.random() < 0.2:
            self.both(f"get p select min(name), max(name), count(distinct name){where}", params=[name(), name()])

    def run(self, statements):
        for _ in range(statements):
            pick = self.r.random()
            if pick < 0.004 and self.path:
                self.db.close()
                self.db = self.engine.Fenec(self.path)
            elif pick < 0.15 and len(self.rows) < 400:
                self.put()
            elif pick < 0.3:
                self.change()
            elif pick < 0.6:
                self.filtered()
            elif pick < 0.8:
                self.nearest()
            else:
                self.named()
        self.db.close()
        return statements

"""Chapter 6 said again, plainly: schemas drawn at random, what a comparison answers, what an apply leaves."""
import copy
import json
import math

NAMES = ("a b c A B title Title x1 _x é şehir_2 İ हिंदी ｗｉｄｅ 㐀 Ⅷ a² ID Id group count select where order limit match "
         "field set to on add drop rename alter create index collection by first case exists distinct true null not "
         "NOT False and or has in is as from into text int required collate und ttl hash put get del default "
         ).split() + ["long_" + "x" * 60]
COLLECTIONS = [n for n in NAMES if not n.startswith("_")]
UNITS = [("d", 86400000), ("h", 3600000), ("m", 60000), ("s", 1000), ("ms", 1)]
WRITTEN = {"bool": True, "int": 7, "float": 1.5, "text": "x", "bytes": [1, 2], "timestamp": "2031-01-01",
           "json": {"k": 1}, "geo": [1, 2]}


# ---- drawing ----

def base(t):
    return t.split("<")[0]


def draw_type(r, deep=0):
    k = r.randrange(14)
    if k < 8:
        t = list(WRITTEN)[k]
    elif k < 10:
        t = "timestamp"
    elif k == 10:
        t = f"vector<{r.choice([1, 2, 4, 8, 65536])}>"
    elif k == 11:
        t = f"vector<{r.choice([1, 2, 4, 8])}, f16>"
    elif k == 12:
        t = f"sparse<{r.choice([1, 100, 10 ** 9])}>"
    else:
        t = "json"
        while t == "json":
            t = draw_type(r, deep + 1) if deep < 4 else "text"
        t = f"[{t}]"
    return t


def kinds(t):
    """Kinds of an index a type takes, those of few types more often."""
    own = {"timestamp": ["ttl"], "text": ["text"], "vector": ["hnsw"], "sparse": ["inverted"], "geo": ["geo"]}
    some = [] if t == "geo" else ["hash", "unique"]
    if t in ("int", "float", "timestamp", "text", "json"):
        some += ["sorted"] * (3 if t == "timestamp" else 1)
    return some + 3 * own.get(base(t), [])


def draw_index(r, t, may_expire):
    kind = r.choice(kinds(t))
    if kind == "ttl" and not may_expire:
        kind = "hash"
    index = {"kind": kind}

    def option(name, values):
        if r.random() < 0.4:
            index[name] = r.choice(values)
    if kind == "ttl":
        index["ms"] = r.choice([1, 999, 1500, 90000, 7200000, 86400001, 604800000, 2 ** 62])
    elif kind == "text":
        option("k1", [0, 1, 1.2, 0.9, 100, 0.05, 0.004, 0.005, 33.335, 1.115, 99.99])
        option("b", [0, 1, 0.4, 0.401, 2.675])
        option("prefix", [0, 1, 5, 64, None])
        option("prefix_min", [0, 1, 3, 5, 64, None])
        option("chars", [True, False, None])
    elif kind == "hnsw":
        option("quant", ["none", "int8", "i8", "bit", "binary", "BIT", "None", "Int8"])
        option("metric", ["cosine", "l2", "dot"] if quant(index) != "bit" else ["cosine"])
        option("m", [0, 1, 2, 16, 32767, None])
        option("ef_construction", [0, 7, 8, 200, None, 5000000000])
        option("ef_search", [0, 1, 100, 200, None])
    return index


def draw_paths(r):
    paths = {".".join(r.choice(NAMES) for _ in range(r.choice([1, 1, 2, 3, 64]))) for _ in range(r.randrange(4))}
    return [{"path": p, "index": {"kind": r.choice(["hash", "unique", "sorted"])}} for p in sorted(paths)]


def draw_field(r, name, may_expire):
    t = draw_type(r)
    field = {"name": name, "type": t}
    if r.random() < 0.5:
        field["required"] = r.choice([True, False, None])
    if t in ("text", "[text]") and r.random() < 0.4:
        field["collate"] = r.choice(["und", "tr", None])
    if r.random() < 0.6:
        field["index"] = r.choice([None, draw_index(r, t, may_expire), draw_index(r, t, may_expire)])
    if t == "json" and r.random() < 0.8:
        field["paths"] = r.choice([None, draw_paths(r), draw_paths(r)])
    members = list(field.items())
    r.shuffle(members)
    return dict(members)


def expires(field):
    return (field.get("index") or {}).get("kind") == "ttl"


def draw_collection(r, name):
    fields = []
    for n in r.sample(NAMES, r.randrange(1, 6)):
        fields.append(draw_field(r, n, not any(map(expires, fields))))
    return {"name": name, "fields": fields}


def draw_schema(r):
    return [draw_collection(r, n) for n in r.sample(COLLECTIONS, r.randrange(1, 5))]


def vary(r, schema):
    """Another schema that shares most of it, so that plans without refusals are met too."""
    schema = copy.deepcopy(schema)
    for _ in range(r.randrange(1, 4)):
        what = r.random()
        if what < 0.2 or not schema:
            free = [n for n in COLLECTIONS if n not in [c["name"] for c in schema]]
            schema.insert(r.randrange(len(schema) + 1), draw_collection(r, r.choice(free)))
            continue
        c = r.choice(schema)["fields"]
        at = r.randrange(len(c))
        names, field = [f["name"] for f in c], c[at]
        may_expire = not any(expires(f) for f in c if f is not field)
        if what < 0.5:
            new = draw_field(r, r.choice([n for n in NAMES if n not in names]), may_expire and not expires(field))
            if r.random() < 0.8:
                new.pop("required", None)
            c.insert(r.randrange(len(c) + 1), new)
        elif what < 0.6 and len(c) > 1:
            c.pop(at)
        elif what < 0.7:
            field["required"] = not field.get("required")
        elif what < 0.75 and field["type"] in ("text", "[text]"):
            field["collate"] = r.choice(["und", "tr", None])
        elif what < 0.9:
            field["index"] = r.choice([None] + 3 * [draw_index(r, field["type"], may_expire)])
        elif what < 0.95 and field["type"] == "json":
            field["paths"] = draw_paths(r)
        else:
            c[at] = draw_field(r, field["name"], may_expire)
    return schema


def draw_value(t):
    """A value of the type, as JSON; None where it would be a large one."""
    if t[0] == "[":
        return []
    if base(t) == "vector":
        n = int(t[7:-1].split(",")[0])
        return [1] * n if n < 100 else None
    return f"{{1:0.5}}/{t[7:-1]}" if base(t) == "sparse" else WRITTEN[t]


# ---- the same in FenecQL, with every freedom its grammar gives ----

def in_case(r, word):
    return "".join(c.upper() if r.random() < 0.3 else c for c in word)


def space(r):
    return r.choice([" ", " ", "\n", "\t", " -- x\n", " # create collection z (q int)\n", " ; "])


def type_text(r, t):
    if t[0] == "[":
        return "[" + r.choice(["", " "]) + type_text(r, t[1:-1]) + "]"
    word, rest = base(t), t[len(base(t)):]
    same = {"text": ["string"], "bytes": ["blob"], "timestamp": ["timestamptz"], "json": ["jsonb"], "vector": ["vec"],
            "sparse": ["sparsevec"]}
    if word == "vector" and "," not in rest:
        rest = rest[:-1] + r.choice([">", ", f32>", ",F32>"])
    return in_case(r, r.choice([word] + same.get(word, []))) + rest


def index_text(r, index):
    kind, options = index["kind"], []
    words = {"text": ["text", "bm25"], "hnsw": ["hnsw", "vector"]}.get(kind, [kind])
    same = {"prefix": ["prefix", "prefix_max"], "ef_construction": ["ef_construction", "ef_c"], "ef_search": ["ef_search", "ef"],
            "cosine": ["cosine", "cos"], "l2": ["l2", "euclidean"], "dot": ["dot", "ip"]}
    head = "@" + r.choice(["", " "]) + in_case(r, r.choice(words))
    if kind == "ttl":
        unit, length = r.choice([u for u in UNITS if index["ms"] % u[1] == 0])
        return f"{head}({index['ms'] // length}{in_case(r, unit)})"
    for name, v in index.items():
        if name == "kind" or v is None or v is False:
            continue
        if name == "metric":
            options.append(in_case(r, r.choice(same[v])))
        elif name == "chars":
            options.append(in_case(r, name))
        else:
            options.append(f"{in_case(r, r.choice(same.get(name, [name])))}={v}")
    r.shuffle(options)
    return head + (f"({', '.join(options)})" if options else r.choice(["", "()"] if kind in ("text", "hnsw") else [""]))


def schema_text(r, schema):
    out, later = [], []
    for c in schema:
        fields = []
        for f in c["fields"]:
            words = []
            if f.get("required"):
                words.append(in_case(r, "required"))
            if f.get("collate"):
                words.append("collate " + in_case(r, f["collate"]))
            if f.get("index") and r.random() < 0.6:
                words.append(index_text(r, f["index"]))
            elif f.get("index"):
                later.append(f"create{space(r)}index{r.choice([' ', ' if not exists '])}on {c['name']} ({f['name']}) "
                             + index_text(r, f["index"]))
            r.shuffle(words)
            fields.append(" ".join([f["name"], type_text(r, f["type"])] + words))
            for p in f.get("paths") or []:
                later.append(f"create index on {c['name']} ({f['name']}.{p['path']}) {index_text(r, p['index'])}")
        out.append(f"{in_case(r, 'create')}{space(r)}collection{r.choice([' ', ' if not exists '])}{c['name']} "
                   f"({(',' + space(r)).join(fields)}{r.choice(['', ','])})")
        if r.random() < 0.5:
            out, later = out + later, []
    return "".join(s + r.choice(["\n", ";", "\n-- c\n", " ; "]) for s in out + later)


# ---- normal form: what is compared ----

def quant(index):
    q = (index.get("quant") or "none").lower()
    return {"i8": "int8", "binary": "bit"}.get(q, q)


def normal_index(index):
    if index is None:
        return None
    kind = index["kind"]

    def option(name, default):
        return default if index.get(name) is None else index[name]
    if kind == "ttl":
        return kind, index["ms"]
    if kind == "text":
        prefix = option("prefix", 0)
        hundredths = [math.floor(100 * option(n, d) + 0.5) for n, d in (("k1", 0.9), ("b", 0.4))]
        return kind, *hundredths, prefix, option("prefix_min", 3) if prefix else 3, option("chars", False)
    if kind == "hnsw":
        return (kind, option("metric", "cosine"), max(2, option("m", 16)),
                min(2 ** 32 - 1, max(8, option("ef_construction", 200))),
                max(1, option("ef_search", 200 if quant(index) == "bit" else 100)), quant(index))
    return kind,


def normal(schema):
    return [{"name": c["name"], "fields": [
        {"name": f["name"], "type": f["type"], "required": bool(f.get("required")), "collate": f.get("collate"),
         "index": normal_index(f.get("index")),
         "paths": [(p["path"], normal_index(p["index"])) for p in f.get("paths") or []]} for f in c["fields"]]}
        for c in schema]


# ---- as text (section 9) and as a description (section 13) ----

def decimal(hundredths):
    whole, part = divmod(hundredths, 100)
    return f"{whole}.{part:02}".rstrip("0").rstrip(".")


def spell_index(index):
    if index is None:
        return "none"
    kind, *o = index
    if kind == "ttl":
        unit, length = next(u for u in UNITS if o[0] % u[1] == 0)
        return f"@ttl({o[0] // length}{unit})"
    if kind == "text":
        prefix = f", prefix={o[2]}" + (f", prefix_min={o[3]}" if o[3] != 3 else "") if o[2] else ""
        return f"@text(k1={decimal(o[0])}, b={decimal(o[1])}{prefix}{', chars' if o[4] else ''})"
    if kind == "hnsw":
        return (f"@hnsw({o[0]}, m={o[1]}, ef_construction={o[2]}, ef_search={o[3]}"
                + (f", quant={o[4]}" if o[4] != "none" else "") + ")")
    return "@" + kind


def spell_field(f, required=True, index=True):
    return " ".join([f["name"], f["type"]] + ["required"] * (required and f["required"])
                    + (["collate " + f["collate"]] if f["collate"] else [])
                    + ([spell_index(f["index"])] if index and f["index"] else []))


def path_statements(c, f):
    return [f"create index on {c} ({f['name']}.{p}) {spell_index(i)}" for p, i in f["paths"]]


def create(c):
    first = f"create collection {c['name']} ({', '.join(map(spell_field, c['fields']))})"
    return [first] + [s for f in c["fields"] for s in path_statements(c["name"], f)]


def rebuild(c, f):
    """The text a rebuild of the field is recorded as (section 10.3)."""
    n, expiring = f["name"], (f["index"] or [None])[0] == "ttl"
    new = spell_field(dict(f, name=n + "__rebuilt"), required=False, index=not expiring)
    steps = [f"alter collection {c} add field {new}", f"set {c} {{{n}__rebuilt: {n}}}",
             f"alter collection {c} drop field {n}", f"alter collection {c} rename field {n}__rebuilt to {n}"]
    steps += path_statements(c, f)
    if expiring:
        steps.append(f"create index on {c} ({n}) {spell_index(f['index'])}")
    return "; ".join(steps)


def describe_index(index):
    kind, *o = index
    if kind == "ttl":
        return {"kind": kind, "ms": o[0]}
    if kind == "text":
        d = {"kind": kind, "k1": json.loads(decimal(o[0])), "b": json.loads(decimal(o[1]))}
        if o[2]:
            d["prefix"] = o[2]
        if o[2] and o[3] != 3:
            d["prefix_min"] = o[3]
        return dict(d, chars=True) if o[4] else d
    if kind == "hnsw":
        d = dict(zip(("kind", "metric", "m", "ef_construction", "ef_search"), index))
        return dict(d, quant=o[4]) if o[4] != "none" else d
    return {"kind": kind}


def describe(db):
    collections = []
    for c in db:
        fields = []
        for f in c["fields"]:
            d = {"name": f["name"], "type": f["type"]}
            if f["required"]:
                d["required"] = True
            if f["collate"]:
                d["collate"] = f["collate"]
            if f["index"]:
                d["index"] = describe_index(f["index"])
            if f["paths"]:
                d["paths"] = [{"path": p, "index": describe_index(i)} for p, i in f["paths"]]
            fields.append(d)
        collections.append({"name": c["name"], "fields": fields})
    return {"format": 1, "collections": collections}


# ---- the comparison (sections 7 and 8) ----

def readable(name):
    return name.lower() not in ("null", "true", "false", "not")


class Comparison:
    """statements; refusals as (kind, collection, field, parts of the message, parts of the fix), a part in a
    list is one that must not stand there."""

    def __init__(self, db, code, follow):
        self.statements, self.refusals, self.follow = [], [], follow
        there = {c["name"]: c for c in db}
        for c in code:
            if c["name"] in there:
                self.both(c, there[c["name"]])
            elif follow:
                self.refuse("collection_missing", c["name"], None, [f"`{c['name']}`"], ["; ".join(create(c))])
            else:
                self.statements += create(c)

    def refuse(self, *refusal):
        self.refusals.append(refusal)

    def both(self, code, db):
        stored = {f["name"]: f for f in db["fields"]}
        for f in code["fields"]:
            if f["name"] in stored:
                self.field(code["name"], f, stored[f["name"]])
            else:
                self.new(code["name"], f)
        declared = {f["name"] for f in code["fields"]}
        for f in db["fields"]:
            if f["name"] not in declared and not self.follow:
                self.undeclared(code, f, stored, last=not declared & set(stored))

    def new(self, c, f):
        place, add = f"`{c}.{f['name']}`", f"alter collection {c} add field {spell_field(f, required=False)}"
        if self.follow:
            self.refuse("field_missing", c, f["name"], [place], ["not required"] if f["required"] else [add])
        elif f["required"]:
            self.refuse("required_added", c, f["name"], [place], ["not required"])
        else:
            self.statements += [add] + path_statements(c, f)

    def undeclared(self, code, f, stored, last):
        c = code["name"]
        new = [g["name"] for g in code["fields"] if g["name"] not in stored and g["type"] == f["type"]]
        to = new[0] + "`" if len(new) == 1 else "<"
        fix = [f"`alter collection {c} drop field {f['name']}`", f"`alter collection {c} rename field {f['name']} to {to}"]
        self.refuse("field_not_declared", c, f["name"], [f"`{c}.{f['name']}`"], fix + [f"drop collection {c}"] * last)

    def field(self, c, code, db):
        n, place = code["name"], f"`{c}.{code['name']}`"
        declare = ["as the database has it", f"`{spell_field(db)}`", ['"rebuild"']]
        fix = declare if self.follow or not readable(n) else self.rebuild(c, code, db)
        if code["type"] != db["type"]:
            self.refuse("type_changed", c, n, [place, f"`{code['type']}`", f"`{db['type']}`"],
                        declare if self.follow else [f"`{code['type']}`", f"drop `{n}`"])
            return
        if code["required"] != db["required"]:
            self.refuse("required_changed", c, n, [place], declare if code["required"] else fix)
        if code["collate"] != db["collate"]:
            self.refuse("collate_changed", c, n, [place, f"`{code['collate'] or 'none'}`", f"`{db['collate'] or 'none'}`"],
                        fix)
        self.index(c, n, db["index"], code["index"], fix)
        stored, declared = dict(db["paths"]), dict(code["paths"])
        for p, i in code["paths"] + [(p, None) for p, _ in db["paths"] if p not in declared]:
            have = stored.get(p)
            self.index(c, f"{n}.{p}", have, i,
                       ["as the database has it", f"`{spell_index(have)}`", ['"rebuild"']] if fix is declare else fix)

    def rebuild(self, c, code, db):
        fix = ['`{"rebuild": {"collection": "%s", "field": "%s"}}`' % (c, code["name"])]
        delete = f"`del {'from ' if c.lower() == 'from' else ''}{c} where expired()`"
        fix.append(delete if (db["index"] or [None])[0] == "ttl" else ["expired()"])
        return fix + (["not required"] if code["required"] else [])

    def index(self, c, on, db, code, fix):
        place, make = f"`{c}.{on}`", f"create index on {c} ({on}) {spell_index(code)}"
        if db == code:
            return
        if db is None and self.follow:
            self.refuse("index_missing", c, on, [place, f"`{spell_index(code)}`"], [f"`{make}`"])
        elif db is None:
            self.statements.append(make)
        elif code is None:
            if not self.follow:
                self.refuse("index_removed", c, on, [place, f"`{spell_index(db)}`"], fix)
        else:
            if not self.follow and "." not in on and {db[0], code[0]} <= {"sorted", "ttl"}:
                fix = [f"`alter collection {c} alter field {on} {spell_index(code)}`"]
            self.refuse("index_changed", c, on, [place, f"`{spell_index(db)}`", f"`{spell_index(code)}`"], fix)


def applied(db, code):
    """The database after an apply that was not refused."""
    db = copy.deepcopy(db)
    there = {c["name"]: c for c in db}
    for c in code:
        if c["name"] not in there:
            db.append(copy.deepcopy(c))
            continue
        stored = {f["name"]: f for f in there[c["name"]]["fields"]}
        for f in c["fields"]:
            if f["name"] not in stored:
                there[c["name"]]["fields"].append(copy.deepcopy(f))
                continue
            g = stored[f["name"]]
            g["index"] = g["index"] or f["index"]
            g["paths"] += [p for p in f["paths"] if p not in g["paths"]]
    return db

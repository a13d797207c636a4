"""Inner reads, lookups and facets: drawn, written, and worked out by chapter 3 sections 11, 12 and 13.

A condition ("inner", field, read) stands for `field in (get ...)`; before a filter is worked out `resolved`
makes a list of it."""
import functools

from draw import Text
from groups import Aggregate, GroupText, encoding
from model import Instant, Refused, coerce, compare, evaluate, read_path, shown, truth

NUMERIC = ("int", "float", "timestamp")


# ---- inner reads ----

class Inner:
    """A read of one column."""

    def __init__(self, draw, models, deep, sure):
        self.name = draw.r.choice(list(models))
        c = models[self.name]
        self.aggregate = None
        self.item, self.label = draw.field(c), None
        while sure and self.item[1][0] == "nobody":
            self.item = draw.field(c)
        if not sure and draw.chance(0.2):
            self.item, self.label = draw.value(c, 1), "y"
        elif draw.chance(0.15):
            numbers = [f for f, t in c.fields.items() if t in ("int", "float")]
            if numbers:
                self.aggregate = (draw.r.choice(["min", "max"]), draw.r.choice(numbers))
        self.where = draw.safe(c) if draw.chance(0.6) else None
        if deep and draw.chance(0.2):
            inner = ("inner", draw.field(c) if not sure else ("field", ("id",)), Inner(draw, models, deep - 1, sure))
            self.where = ("and", self.where, inner) if self.where else inner
        self.order = draw.order(c, sure=True) if draw.chance(0.2) else []
        self.limit = draw.r.randint(0, 5) if draw.chance(0.2) else None
        if self.aggregate:
            self.order, self.limit = [], None

    def text(self, t):
        listed = f"{self.aggregate[0]}({self.aggregate[1]})" if self.aggregate else t.expr(self.item)
        listed += f" as {self.label}" if self.label else ""
        out = f"get {self.name} select {listed}" + (f" where {t.top(self.where)}" if self.where else "")
        return out + t.order(self.order) + (f" limit {self.limit}" if self.limit is not None else "")

    def values(self, models, bind):
        c = models[self.name]
        if not self.aggregate:
            bind(self.item, c)
        ids = c.pick(resolved(self.where, models, bind), self.order, self.limit)
        if self.aggregate:
            given = [c.rows[i][self.aggregate[1]] for i in ids]
            given = [v for v in given if v is not None]
            best = given[:1]
            for v in given[1:]:
                way = compare(v, best[0])
                if way < 0 if self.aggregate[0] == "min" else way > 0:
                    best = [v]
            return best
        values = [evaluate(self.item, c.rows[i], c.fields) for i in ids]
        return [v for v in values if v is not None]


def resolved(e, models, bind):
    if not isinstance(e, tuple) or not e or e[0] in ("field", "const"):
        return e
    if e[0] == "inner":
        return ("in", e[1], [("const", v) for v in e[2].values(models, bind)])
    return tuple(resolved(p, models, bind) if isinstance(p, tuple)
                 else [resolved(x, models, bind) for x in p] if isinstance(p, list) else p for p in e)


def with_inner(draw, models, c, where, sure):
    """The filter, now and then with an inner read in its chain or below it."""
    if not draw.chance(0.15):
        return where
    field = ("field", (draw.r.choice(list(c.fields) + ["id"]),)) if sure else draw.field(c)
    inner = ("inner", field, Inner(draw, models, 2, sure))
    if draw.chance(0.2):
        inner = ("not", inner)
    return (draw.r.choice(["and", "and", "or"]), where, inner) if where else inner


class JoinText(GroupText):
    def expr(self, e):
        if e[0] == "inner":
            return f"({Text.expr(self, e[1])} in ({e[2].text(self)}))"
        return super().expr(e)


# ---- lookups ----

def kind_of(c, name):
    if name == "id":
        return "int"
    if name not in c.fields:
        raise Refused("NOT_FOUND")
    return c.fields[name]


def is_number(v):
    return isinstance(v, (int, float, Instant)) and not isinstance(v, bool)


def is_pair(parent, child, kind):
    """Whether a child's key equals a parent's."""
    if parent is None or child is None:
        return False
    if is_number(parent):
        return is_number(child) and compare(parent, child) == 0
    try:
        parent = coerce(parent, kind)
    except Refused:
        return False
    return not is_number(child) and compare(parent, child) == 0


class Level:
    def __init__(self, draw, models, name, above):
        """`above` is the collection of the level above."""
        self.name, self.next = name, None
        c, r = models[name], draw.r
        self.keys = [self.draw_key(draw, c, above) for _ in range(1 if draw.chance(0.85) else 2)]
        if len({k for k, _ in self.keys}) < len(self.keys):
            self.keys = self.keys[:1]
        self.required = draw.chance(0.35)
        self.where = draw.safe(c) if draw.chance(0.4) else None
        self.where = with_inner(draw, models, c, self.where, True)
        self.order = draw.order(c, sure=True) if draw.chance(0.4) else []
        self.limit = r.randint(0, 3) if draw.chance(0.3) else None
        self.offset = r.randint(0, 2) if draw.chance(0.15) else 0
        self.columns, self.made = [], None
        if draw.chance(0.25):
            self.made = Aggregate(draw, c)
            self.made.having, self.made.count = None, False
            self.made.order = self.made.order if self.made.keys else self.order
            if self.made.keys:
                self.order, self.limit, self.offset = [], self.made.limit, self.made.offset
            else:
                self.made.limit, self.made.offset = self.limit, self.offset
        elif draw.chance(0.5):
            for _ in range(r.randint(1, 3)):
                field = draw.field(c)
                if field not in self.columns:
                    self.columns.append(field)

    def draw_key(self, draw, c, above):
        """Mostly an indexed field and one of its type."""
        r = draw.r
        good = [(k, p) for k in ["id", *sorted(c.hashed)] for p in ["id", *above.fields]
                if (k == "id" or k in c.fields) and
                (kind_of(c, k) == kind_of(above, p) or kind_of(c, k) in NUMERIC and kind_of(above, p) in NUMERIC)]
        met = [(k, p) for k, p in good if self.meet(c, k, above, p)]
        if met and draw.chance(0.7):
            return r.choice(met)
        if good and draw.chance(0.8):
            return r.choice(good)
        return r.choice(["id", "nobody", *c.fields]), r.choice(["id", *above.fields])

    @staticmethod
    def meet(c, kid, above, parent):
        """Whether some rows hold one value."""
        held = {encoding(row[kid]) for row in c.rows.values() if row[kid] is not None}
        return any(encoding(row[parent]) in held for row in above.rows.values())

    def text(self, t):
        kids, parents = [k for k, _ in self.keys], [p for _, p in self.keys]
        out = f" lookup {self.name} on "
        if len(self.keys) > 1:
            out += f"({', '.join(kids)}) = ({', '.join(parents)})"
        else:
            out += kids[0] + (f" = {parents[0]}" if parents[0] != "id" or t.r.random() < 0.5 else "")
        out += " required" if self.required else ""
        if self.made:
            m = self.made
            out += " select " + ", ".join(t.expr(i.e) + (f" as {i.name}" if i.given else "") for i in m.items)
            if m.keys:
                out += " group " + ", ".join(t.expr(k.written) + (f" as {k.name}" if k.name else "") for k in m.keys)
        elif self.columns:
            out += " select " + ", ".join(t.expr(f) for f in self.columns)
        out += f" where {t.top(self.where)}" if self.where else ""
        order = self.made.order if self.made and self.made.keys else self.order
        if order:
            out += " order " + ", ".join((".".join(k) if isinstance(k, tuple) else k) + (" desc" if down else "")
                                         for k, down in order)
        out += f" limit {self.limit}" if self.limit is not None else ""
        out += f" offset {self.offset}" if self.offset else ""
        return out + (self.next.text(t) if self.next else "")

    def bind(self, models, above, bind):
        """Names, types and indexes, known before any row is read."""
        c = models[self.name]
        try:
            self.bind_keys(c, above)
            for f in self.columns:
                bind(f, c)
            if self.made:
                self.made.bind(c, bind)
        except Refused as e:
            e.sure = True
            raise
        self.filter = resolved(self.where, models, bind)
        if self.next:
            self.next.bind(models, c, bind)

    def bind_keys(self, c, above):
        for kid, parent in self.keys:
            k, p = kind_of(c, kid), kind_of(above, parent)
            if k != p and not (k in NUMERIC and p in NUMERIC):
                raise Refused("TYPE")
        if not any(k == "id" or k in c.hashed for k, _ in self.keys):
            raise Refused("QUERY")

    def children(self, models, parent):
        """Rows of the collection that belong to a parent and survive what is required below them."""
        c, out = models[self.name], []
        for i in sorted(c.rows):
            row = c.rows[i]
            if not all(is_pair(parent[p], row[k], kind_of(c, k)) for k, p in self.keys):
                continue
            if self.filter and not truth(evaluate(self.filter, row, c.fields)):
                continue
            if self.next and self.next.required and not self.next.children(models, row):
                continue
            out.append(row)
        return out

    def answer(self, models, parent):
        c = models[self.name]
        rows = self.children(models, parent)
        if self.made and self.made.keys:
            out = self.made.rows(rows, c.fields)
            if self.made.may_fail:
                raise Refused("QUERY")
            return out
        for parts, down in reversed(self.order):
            way = -1 if down else 1
            rows.sort(key=functools.cmp_to_key(lambda a, b: way * compare(read_path(a, parts), read_path(b, parts))))
        rows = rows[self.offset:] if self.limit is None else rows[self.offset:self.offset + self.limit]
        if self.made:
            return self.made.rows(sorted(rows, key=lambda row: row["id"]), c.fields)
        out = []
        for row in rows:
            fields = self.columns or [("field", (f,)) for f in ["id", *c.fields]]
            made = {".".join(f[1]): shown(read_path(row, f[1])) for f in fields}
            if self.next:
                made[self.next.name] = self.next.answer(models, row)
            out.append(made)
        return out


def draw_levels(draw, models, name):
    """A chain over the collections that are there; None where there is only one."""
    others = [n for n in models if n != name]
    draw.r.shuffle(others)
    if not others:
        return None
    first = Level(draw, models, others[0], models[name])
    if len(others) > 1 and not first.made and draw.chance(0.5):
        first.next = Level(draw, models, others[1], models[others[0]])
    return first


# ---- facets ----

def terms(e):
    if e is None:
        return []
    return terms(e[1]) + terms(e[2]) if e[0] == "and" else [e]


def fields_of(e):
    """Texts of the fields a term reads; an inner read's are its own collection's."""
    if not isinstance(e, tuple) or not e:
        return set()
    if e[0] == "field":
        return {".".join(e[1])}
    if e[0] == "const":
        return set()
    out = set()
    for p in e[1:2] if e[0] == "inner" else e[1:]:
        for x in p if isinstance(p, list) else [p]:
            if isinstance(x, tuple) and x and not isinstance(x[0], str):
                for y in x:  # an arm of case
                    out |= fields_of(y)
            else:
                out |= fields_of(x)
    return out


class Facet:
    def __init__(self, draw, c, where):
        self.field = draw.field(c)
        self.name = ".".join(self.field[1])
        read = sorted(fields_of(where)) if where else []
        if read and draw.chance(0.4):
            self.name = draw.r.choice(read)
            self.field = ("field", tuple(self.name.split(".")))
        self.top = draw.r.randint(1, 4) if draw.chance(0.3) else None
        self.ranges = None
        if self.top is None and draw.chance(0.25):
            self.ranges = sorted(draw.r.sample([-10, -1, 0, 0.5, 1, 2, 2.5, 5, 100, 2**53, 1767323045000], draw.r.randint(2, 5)))
        self.disjunctive = draw.chance(0.4)

    def text(self):
        out = self.name + (f" top {self.top}" if self.top is not None else "")
        out += f" ranges [{', '.join(map(str, self.ranges))}]" if self.ranges else ""
        return out + (" disjunctive" if self.disjunctive else "")

    def own(self, where):
        """The filter without the conditions on this field."""
        if not self.disjunctive or not where:
            return where
        kept = None
        for term in terms(where):
            read = fields_of(term)
            if self.name not in read:
                kept = ("and", kept, term) if kept else term
            elif len(read) > 1:
                raise Refused("QUERY")
        return kept

    def bind(self, c, bind):
        bind(self.field, c)
        kind = kind_of(c, self.field[1][0])
        if self.ranges and len(self.field[1]) == 1 and kind.strip("[]") not in (*NUMERIC, "json"):
            raise Refused("QUERY")

    def answer(self, rows):
        if self.ranges:
            return self.by_range(rows)
        found = {}  # encoding -> [value, count]; the first row's place is the order of insertion
        for row in rows:
            v = read_path(row, self.field[1])
            held = {}
            for x in v if isinstance(v, list) else [v]:
                held.setdefault(encoding(x), x)
            for b, x in held.items():
                found.setdefault(b, [x, 0, row["id"]])[1] += 1

        def before(a, b):
            return b[1] - a[1] or compare(a[0], b[0]) or a[2] - b[2]
        out = sorted(found.values(), key=functools.cmp_to_key(before))
        return [{"value": shown(v), "count": n} for v, n, _ in out[:self.top]]

    def by_range(self, rows):
        out = []
        for low, high in zip(self.ranges, self.ranges[1:]):
            n = 0
            for row in rows:
                v = read_path(row, self.field[1])
                held = [x.ms if isinstance(x, Instant) else x for x in (v if isinstance(v, list) else [v])]
                n += any(is_number(x) and compare(x, low) >= 0 and compare(x, high) < 0 for x in held)
            out.append({"value": [low, high], "count": n})
        return out


def draw_facets(draw, c, where):
    out = []
    for _ in range(draw.r.randint(1, 2)):
        f = Facet(draw, c, where)
        if f.name not in [o.name for o in out]:
            out.append(f)
    return out

"""Aggregates and groups: drawn, written, and worked out by the rules of chapter 3 section 9 and appendix A.

A list is items, keys, having, order and page. In its trees ("agg", function, argument, by) is a call; a
field outside one names a key, or in having a column."""
import functools
import math
import struct

from draw import Text
from model import INT_MAX, INT_MIN, Instant, Refused, compare, evaluate, shown, truth

NUMBERS = ("int", "float", "json")
ORDERED = NUMBERS + ("timestamp", "text", "bool")


# ---- appendix A ----

def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def zigzag(i):
    return varint(i * 2 if i >= 0 else -i * 2 - 1)


def encoding(v):
    if v is None:
        return b"\0"
    if isinstance(v, bool):
        return bytes([1, v])
    if isinstance(v, int):
        return b"\2" + zigzag(v)
    if isinstance(v, float):
        return b"\3" + struct.pack("<d", v or 0.0)
    if isinstance(v, str):
        return b"\4" + varint(len(v.encode())) + v.encode()
    if isinstance(v, list):
        return b"\7" + varint(len(v)) + b"".join(map(encoding, v))
    if isinstance(v, Instant):
        return b"\x09" + zigzag(v.ms)
    members = sorted((k.encode(), x) for k, x in v.items())
    return b"\x0d" + varint(len(members)) + b"".join(varint(len(k)) + k + encoding(x) for k, x in members)


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & (2**64 - 1)
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & (2**64 - 1)
    return x ^ x >> 33


def hashed(b):
    h = 0x9E3779B97F4A7C15 ^ len(b) * 0xFF51AFD7ED558CCD & (2**64 - 1)
    for at in range(0, len(b), 8):
        h = mix(h ^ int.from_bytes(b[at:at + 8].ljust(8, b"\0"), "little"))
    return mix(h)


def registers(values):
    out = {}
    for v in values:
        h = hashed(encoding(v))
        rest = h & (2**50 - 1)
        rank = 51 - rest.bit_length()
        out[h >> 50] = max(out.get(h >> 50, 0), rank)
    return out


def sparse(set_registers):
    out = [2, 14]
    for index in sorted(set_registers):
        out += [index & 255, index >> 8, set_registers[index]]
    return bytes(out)


def estimate(set_registers):
    m, c = 16384, [0] * 52
    for rank in set_registers.values():
        c[rank] += 1
    c[0] = m - len(set_registers)
    z = 0.0  # no test draws a value of rank 51
    for k in range(50, 0, -1):
        z = 0.5 * (z + c[k])
    x, y, s, old = c[0] / m, 1.0, c[0] / m, None
    if x == 1:
        return 0
    while s != old:
        x, old = x * x, s
        s += x * y
        y += y
    z += m * s
    return math.floor(0.7213475204444817 * m * m / z + 0.5)


# ---- folding ----

def finite(f):
    return f if math.isfinite(f) else None


def fold(call, rows, fields):
    """What a call comes to over rows in ascending id."""
    _, function, argument, by = call
    if function == "count":
        return len(rows)
    values = []
    for row in rows:
        v = evaluate(argument, row, fields)
        if v is None:
            continue
        if function in ("first", "last"):
            k = evaluate(by, row, fields) if by else row["id"]
            if k is not None:
                values.append((k, v))
            continue
        if function in ("sum", "avg") and (isinstance(v, bool) or not isinstance(v, (int, float))):
            raise Refused("TYPE")
        values.append(v)
        if function == "sum" and all(isinstance(x, int) for x in values) and not INT_MIN <= sum(values) <= INT_MAX:
            raise Refused("QUERY")
    if function == "count distinct":
        return len({encoding(v) for v in values})
    if function == "approx_count_distinct":
        return estimate(registers(values))
    if not values:
        return None
    if function == "hll_accumulate":
        return sparse(registers(values))
    if function == "sum":
        total = values[0]
        for v in values[1:]:
            total = total + v if isinstance(total, int) and isinstance(v, int) else float(total) + float(v)
        return total if isinstance(total, int) else finite(total)
    if function == "avg":
        total = 0.0
        for v in values:
            total += float(v)
        return finite(total / len(values))
    best = values[0]
    for v in values[1:]:
        if function in ("min", "max"):
            c = compare(v, best)
            if c < 0 if function == "min" else c > 0:
                best = v
        else:
            c = compare(v[0], best[0])
            if c < 0 if function == "first" else c >= 0:
                best = v
    return best[1] if function in ("first", "last") else best


class Everything:
    """Fields of a group: whatever is asked for."""

    def __contains__(self, name):
        return True

    def get(self, name, other=None):
        return other


def lowered(e, calls):
    """A tree that evaluate works out: names are one part each, calls are names too."""
    if e[0] == "field":
        return ("field", (".".join(e[1]),))
    if e[0] == "agg":
        calls.append(e)
        return ("field", (f"({len(calls) - 1}",))
    return tuple(lowered(p, calls) if isinstance(p, tuple) else [lowered(x, calls) if isinstance(x, tuple) else x for x in p]
                 if isinstance(p, list) and e[0] in ("in", "call") else p for p in e)


class Group:
    """What names stand for in one group."""

    def __init__(self, made, keys, rows, fields):
        self.made, self.keys, self.rows, self.fields = made, keys, rows, fields

    def value(self, e, columns=False):
        calls = []
        tree = lowered(e, calls)
        outer = self

        class Row(dict):
            def __missing__(self, name):
                if name[0] == "(":
                    return fold(calls[int(name[1:])], outer.rows, outer.fields)
                return outer.named(name, columns)
        return evaluate(tree, Row(), Everything())

    def named(self, name, columns):
        for place, k in enumerate(self.made.keys):
            if k.name == name:
                return self.keys[place]
        for place, k in enumerate(self.made.keys):
            if k.means[0] == "field" and ".".join(k.means[1]) == name:
                return self.keys[place]
        if columns:
            for item in self.made.items:
                if item.name == name:
                    return self.column(item)
        raise Refused("QUERY")

    def column(self, item):
        for place, k in enumerate(self.made.keys):
            if k.item is item:
                return self.keys[place]
        return self.value(item.e)


class Key:
    def __init__(self, written, means, name=None, item=None):
        self.written, self.means, self.name, self.item = written, means, name, item


class Item:
    def __init__(self, e, name, given):
        self.e, self.name, self.given = e, name, given


def walk(e):
    yield e
    for part in e[1:]:
        for x in part if isinstance(part, list) else [part]:
            if isinstance(x, tuple) and x and isinstance(x[0], str) and e[0] != "field":
                yield from walk(x)


class Aggregate:
    """One list, drawn over a collection."""

    def __init__(self, draw, c):
        self.draw, self.r = draw, draw.r
        self.keys, self.items, self.having, self.order = [], [], None, []
        self.may_fail = False
        if draw.chance(0.65):
            for _ in range(self.r.choice([1, 1, 1, 2])):
                self.draw_key(c)
        for _ in range(self.r.randint(1, 3)):
            self.add_item(*self.draw_item(c))
        if not any(x[0] == "agg" for i in self.items for x in walk(i.e)):
            self.add_item(("agg", "count", None, None), "count", False)
        if self.keys and draw.chance(0.35):
            self.having = self.condition(c)
        self.count = bool(self.keys) and draw.chance(0.12)
        paged = not self.count
        if paged and self.keys and draw.chance(0.5):
            names = [i.name for i in self.items] + [k.name for k in self.keys if k.name]
            self.order = [(self.r.choice(names) if draw.chance(0.97) else "nobody", draw.chance(0.4))
                          for _ in range(self.r.randint(1, 2))]
        elif paged and not self.keys:
            self.order = draw.order(c)
        self.limit = self.r.randint(0, 6) if paged and draw.chance(0.35) else None
        self.offset = self.r.randint(0, 4) if paged and draw.chance(0.25) else 0

    def add_item(self, e, name, given):
        if name not in [i.name for i in self.items] and name not in [k.name for k in self.keys if k.name]:
            self.items.append(Item(e, name, given))

    def draw_key(self, c):
        pick = self.r.random()
        place = len(self.keys)
        if pick < 0.6:
            field = self.draw.field(c)
            self.keys.append(Key(field, field))
            if self.draw.chance(0.8):
                self.add_item(field, ".".join(field[1]), False)
        elif pick < 0.75:
            item = Item(self.draw.value(c, 1), f"y{place}", True)
            self.items.append(item)
            self.keys.append(Key(("field", (item.name,)), item.e, item=item))
        else:
            name = f"k{place}"
            e = self.draw.value(c, 1)
            self.keys.append(Key(e, e, name=name))
            if self.draw.chance(0.5):
                self.add_item(("field", (name,)), "w" + name, True)

    def call(self, c):
        function = self.r.choice(["count", "count distinct", "sum", "sum", "avg", "min", "max", "first", "last",
                                  "approx_count_distinct", "hll_accumulate"])
        if function == "count":
            return ("agg", "count", None, None), "count"
        folds = {"sum": NUMBERS[:2], "avg": NUMBERS[:2], "min": ORDERED, "max": ORDERED}.get(function)
        fitting = [f for f, t in c.fields.items() if not folds or t in folds]
        if fitting and self.draw.chance(0.75):
            e = ("field", (self.r.choice(fitting),))
        elif self.draw.chance(0.5):
            e = self.draw.field(c)
        else:
            e = self.draw.number(c, 1) if folds else self.draw.value(c, 1)
        by = self.draw.field(c) if function in ("first", "last") and self.draw.chance(0.6) else None
        text = ".".join(e[1]) if e[0] == "field" else None
        name = text and (f"count(distinct {text})" if function == "count distinct" else f"{function}({text})")
        return ("agg", function, e, by), name

    def draw_item(self, c):
        place = f"x{len(self.items)}"
        e, name = self.call(c)
        pick = self.r.random()
        if pick < 0.2:
            other = self.call(c)[0] if self.draw.chance(0.5) else ("const", self.r.choice([1, 2, 0.5]))
            return ("arith", self.r.choice("+-*/"), e, other), place, True
        if pick < 0.25 and self.keys:
            return ("call", "coalesce", [self.key_of(), e]), place, True
        return (e, name, False) if name and pick < 0.75 else (e, place, True)

    def key_of(self):
        k = self.r.choice(self.keys)
        if k.name:
            return ("field", (k.name,))
        return k.means if k.means[0] == "field" else ("const", 1)

    def condition(self, c, deep=1):
        if deep and self.draw.chance(0.3):
            return (self.r.choice(["and", "or"]), self.condition(c, 0), self.condition(c, 0))
        pick = self.r.random()
        named = [i.name for i in self.items if i.name.isidentifier()]
        left = self.key_of() if pick < 0.4 else ("field", (self.r.choice(named),)) if named and pick < 0.7 else self.call(c)[0]
        if self.draw.chance(0.2):
            return ("null", left)
        return ("cmp", self.r.choice(["=", "!=", "<", "<=", ">", ">="]), left, ("const", self.draw.scalar(
            self.r.choice(["int", "int", "float", "text"]))))

    # ---- text ----

    def text(self, name, where, t):
        listed = ", ".join(t.expr(i.e) + (f" as {i.name}" if i.given else "") for i in self.items)
        out = f"get {name} select {listed}" + (f" where {t.top(where)}" if where else "")
        if self.keys:
            out += " group " + ", ".join(t.expr(k.written) + (f" as {k.name}" if k.name else "") for k in self.keys)
        out += f" having {t.expr(self.having)}" if self.having else ""
        if self.order:
            out += " order " + ", ".join((".".join(k) if isinstance(k, tuple) else k) + (" desc" if down else "")
                                         for k, down in self.order)
        out += f" limit {self.limit}" if self.limit is not None else ""
        out += f" offset {self.offset}" if self.offset else ""
        return out + (" count" if self.count else "")

    # ---- answer ----

    def bind(self, m, names):
        """Names and types, known before any row is read."""
        for k in self.keys:
            names(k.means, m)
        trees = [i.e for i in self.items] + ([self.having] if self.having else [])
        for e in [x for tree in trees for x in walk(tree) if x[0] == "agg"]:
            names([p for p in e[2:] if p], m)
            if e[2] and e[2][0] == "field" and len(e[2][1]) == 1 and e[2][1] != ("id",):
                takes = {"sum": NUMBERS, "avg": NUMBERS, "min": ORDERED, "max": ORDERED}.get(e[1])
                if takes and m.fields[e[2][1][0]] not in takes:
                    raise Refused("TYPE")
        known = [i.name for i in self.items] + [k.name for k in self.keys]
        if self.keys and any(k not in known for k, _ in self.order):
            raise Refused("QUERY")

    def answer(self, m, where, names):
        self.bind(m, names)
        order = [] if self.keys else self.order
        limit, offset = (None, 0) if self.keys else (self.limit, self.offset)
        ids = sorted(m.pick(where, order, limit, offset))
        try:
            return self.rows([m.rows[i] for i in ids], m.fields)
        except Refused as e:
            e.sure = True
            raise

    def rows(self, rows, fields):
        if not self.keys:
            g = Group(self, [], rows, fields)
            return [{i.name: shown(g.column(i)) for i in self.items}]
        found = {}
        for row in rows:
            keys = [evaluate(k.means, row, fields) for k in self.keys]
            found.setdefault(b"".join(map(encoding, keys)), (keys, []))[1].append(row)
        groups = [Group(self, keys, of, fields) for keys, of in found.values()]
        for g in groups:  # every call is folded, whether its group passes or not
            for e in [i.e for i in self.items] + ([self.having] if self.having else []):
                for x in walk(e):
                    if x[0] == "agg":
                        fold(x, g.rows, fields)
        if self.having:
            groups = [g for g in groups if truth(g.value(self.having, True))]
        if self.count:
            return [{"count": len(groups)}]
        by = [(lambda g, n=n: self.sort_value(g, n), down) for n, down in self.order]
        by += [(lambda g, n=n: g.keys[n], False) for n in range(len(self.keys))]

        def before(a, b):
            for value, down in by:
                c = compare(value(a), value(b))
                if c:
                    return -c if down else c
            return 0
        # Items of groups outside the page may be worked out or not, and so may their errors be met.
        self.may_fail = any(self.fails(g) for g in groups)
        groups.sort(key=functools.cmp_to_key(before))
        page = groups[self.offset:] if self.limit is None else groups[self.offset:self.offset + self.limit]
        return [{i.name: shown(g.column(i)) for i in self.items} for g in page]

    def fails(self, g):
        try:
            for i in self.items:
                g.column(i)
        except Refused:
            return True
        return False

    def sort_value(self, g, name):
        for i in self.items:
            if i.name == name:
                return g.column(i)
        return g.named(name, False)


class GroupText(Text):
    def expr(self, e):
        if e[0] != "agg":
            return super().expr(e)
        if e[1] == "count":
            return self.r.choice(["count(*)", "count()", "COUNT(*)"])
        if e[1] == "count distinct":
            return f"count(distinct {self.expr(e[2])})"
        return f"{e[1]}({self.expr(e[2])}" + (f" by {self.expr(e[3])})" if e[3] else ")")

"""A naive model of the language: rows in a dictionary, no index, every rule written from the chapters.

Values are Python's None, bool, int, float, str, bytes, list, dict, and Instant for timestamps. An
expression is a tuple whose first element names its kind; draw.py makes them and writes their text."""
import functools
import math
import re

INT_MIN, INT_MAX = -2**63, 2**63 - 1


class Refused(Exception):
    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


class Instant:
    __slots__ = ("ms",)

    def __init__(self, ms):
        self.ms = ms

    def text(self):
        days, rest = divmod(self.ms, 86400000)
        z = days + 719468
        era, doe = divmod(z, 146097)
        yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
        doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
        mp = (5 * doy + 2) // 153
        day, month = doy - (153 * mp + 2) // 5 + 1, mp + 3 if mp < 10 else mp - 9
        year = yoe + era * 400 + (month <= 2)
        h, rest = divmod(rest, 3600000)
        m, rest = divmod(rest, 60000)
        s, ms = divmod(rest, 1000)
        spelled = f"{year:04}" if year >= 0 else f"-{-year:04}"
        return f"{spelled}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}" + (f".{ms:03}" if ms else "") + "Z"


INSTANT = re.compile(r"(\d{4,})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{3}))?Z)?")


def instant_of(text):
    """The milliseconds of the forms that draw.py and answers write; None for other text."""
    found = INSTANT.fullmatch(text.strip())
    if not found:
        return None
    year, month, day, h, m, s, ms = (int(g or 0) for g in found.groups())
    y = year - (month <= 2)
    era, yoe = divmod(y, 400)
    doy = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    days = era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468
    ms += ((days * 24 + h) * 60 + m) * 60000 + s * 1000
    return ms if INT_MIN <= ms <= INT_MAX else None


# ---- the order over all values (2 section 8.1) ----

def rank(v):
    if v is None:
        return 0
    if isinstance(v, bool):
        return 1
    if isinstance(v, (int, float, Instant)):
        return 2
    return {str: 3, bytes: 3, list: 5, dict: 7}[type(v)]


def number(v):
    return float(v.ms) if isinstance(v, Instant) else float(v)


def sign(a, b):
    return (a > b) - (a < b)


def compare(a, b):
    if isinstance(a, str) and isinstance(b, Instant):
        ms = instant_of(a)
        return 1 if ms is None else sign(ms, b.ms)
    if isinstance(a, Instant) and isinstance(b, str):
        return -compare(b, a)
    ra, rb = rank(a), rank(b)
    if ra != rb:
        return sign(ra, rb)
    if ra == 0:
        return 0
    if ra == 1:
        return sign(a, b)
    if ra == 2:
        if isinstance(a, int) and isinstance(b, int):
            return sign(a, b)
        if isinstance(a, Instant) and isinstance(b, Instant):
            return sign(a.ms, b.ms)
        return sign(number(a), number(b))
    if ra == 3:
        return sign(*(v.encode() if isinstance(v, str) else v for v in (a, b)))
    if ra == 5:
        for x, y in zip(a, b):
            c = compare(x, y)
            if c:
                return c
        return sign(len(a), len(b))
    left, right = members(a), members(b)
    for (k, x), (l, y) in zip(left, right):
        c = sign(k.encode(), l.encode()) or compare(x, y)
        if c:
            return c
    return sign(len(left), len(right))


def members(d):
    return sorted(d.items(), key=lambda kv: kv[0].encode())


def truth(v):
    if v is None:
        return False
    if isinstance(v, Instant):
        return v.ms != 0
    return bool(v)


# ---- expressions ----

def arithmetic(op, a, b):
    if a is None or b is None:
        return None
    plain = lambda v: isinstance(v, int) and not isinstance(v, bool)
    if plain(a) and plain(b):
        if op == "/":
            if b == 0:
                raise Refused("QUERY")
            out = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        else:
            out = {"+": a + b, "-": a - b, "*": a * b}[op]
        if not INT_MIN <= out <= INT_MAX:
            raise Refused("QUERY")
        return out
    numeric = lambda v: plain(v) or isinstance(v, float)
    if numeric(a) and numeric(b):
        x, y = float(a), float(b)
        if op == "/":
            if y == 0:
                raise Refused("QUERY")
            out = x / y
        else:
            out = {"+": x + y, "-": x - y, "*": x * y}[op]
        if not math.isfinite(out):
            raise Refused("QUERY")
        return out
    if isinstance(a, Instant) and isinstance(b, Instant) and op == "-":
        out = a.ms - b.ms
    elif isinstance(a, Instant) and plain(b) and op in "+-":
        out = a.ms + b if op == "+" else a.ms - b
    elif plain(a) and isinstance(b, Instant) and op == "+":
        out = a + b.ms
    elif isinstance(a, str) and isinstance(b, str) and op == "+":
        return a + b
    else:
        raise Refused("TYPE")
    if not INT_MIN <= out <= INT_MAX:
        raise Refused("QUERY")
    return out if isinstance(a, Instant) and isinstance(b, Instant) else Instant(out)


def read_path(row, parts):
    v = row[parts[0]]
    for key in parts[1:]:
        v = v.get(key) if isinstance(v, dict) else None
    return v


def call(name, args):
    if name == "len":
        return len(args[0]) if isinstance(args[0], (str, bytes, list)) else 0
    if name in ("lower", "upper"):
        return getattr(args[0], name)() if isinstance(args[0], str) else args[0]
    given = [a for a in args if a is not None]
    if name == "coalesce":
        return given[0] if given else None
    if not given:
        return None
    out = given[0]
    for a in given[1:]:
        c = compare(a, out)
        if c > 0 if name == "greatest" else c < 0:
            out = a
    return out


COMPARE = {"=": lambda c: c == 0, "!=": lambda c: c != 0, "<": lambda c: c < 0, "<=": lambda c: c <= 0,
           ">": lambda c: c > 0, ">=": lambda c: c >= 0}


def evaluate(e, row, fields, new=None):
    """row: field -> value with "id"; fields: field -> type, for names that do not exist."""
    kind = e[0]
    if kind == "const":
        return e[1]
    if kind == "field":
        parts = e[1]
        if parts[0] != "id" and parts[0] not in fields:
            raise Refused("NOT_FOUND")
        if len(parts) > 1 and fields.get(parts[0]) != "json":
            raise Refused("TYPE")
        return read_path(row, parts)
    if kind == "new":
        if e[1] != "id" and e[1] not in fields:
            raise Refused("NOT_FOUND")
        return new.get(e[1])
    if kind == "and":
        return truth(evaluate(e[1], row, fields, new)) and truth(evaluate(e[2], row, fields, new))
    if kind == "or":
        return truth(evaluate(e[1], row, fields, new)) or truth(evaluate(e[2], row, fields, new))
    if kind == "not":
        return not truth(evaluate(e[1], row, fields, new))
    if kind == "null":
        return evaluate(e[1], row, fields, new) is None
    if kind == "case":
        for condition, v in e[1]:
            if truth(evaluate(condition, row, fields, new)):
                return evaluate(v, row, fields, new)
        return evaluate(e[2], row, fields, new) if e[2] else None
    if kind == "in":
        left = evaluate(e[1], row, fields, new)
        return any(compare(left, evaluate(x, row, fields, new)) == 0 for x in e[2])
    if kind == "call":
        return call(e[1], [evaluate(a, row, fields, new) for a in e[2]])
    left, right = evaluate(e[2], row, fields, new), evaluate(e[3], row, fields, new)
    if kind == "arith":
        return arithmetic(e[1], left, right)
    op = e[1]
    if op == "~":
        return isinstance(left, str) and isinstance(right, str) and right.lower() in left.lower()
    if op == "has":
        return isinstance(left, list) and any(compare(x, right) == 0 for x in left)
    if op not in ("=", "!=") and (left is None or right is None):
        return False
    return COMPARE[op](compare(left, right))


# ---- coercion (2 section 4) ----

def depth(v):
    if isinstance(v, list):
        return 1 + max(map(depth, v), default=0)
    if isinstance(v, dict):
        return 1 + max(map(depth, v.values()), default=0)
    return 0


def coerce(v, kind):
    if v is None:
        return None
    plain = isinstance(v, int) and not isinstance(v, bool)
    if kind == "bool" and isinstance(v, bool):
        return v
    if kind == "int":
        if plain:
            return v
        if isinstance(v, Instant):
            return v.ms
        if isinstance(v, float) and v == math.floor(v) and -2.0**63 <= v < 2.0**63:
            return int(v)
    if kind == "float" and (plain or isinstance(v, float)):
        return float(v)
    if kind == "text":
        if isinstance(v, str):
            return v
        if isinstance(v, Instant):
            return v.text()
    if kind == "timestamp":
        if isinstance(v, Instant):
            return v
        if plain:
            return Instant(v)
        if isinstance(v, str):
            ms = instant_of(v)
            if ms is not None:
                return Instant(ms)
    if kind == "json":
        return v.text() if isinstance(v, Instant) else v
    if kind.startswith("[") and isinstance(v, list):
        return [coerce(x, kind[1:-1]) for x in v]
    raise Refused("TYPE")


def set_path(base, keys, v):
    if base is None:
        base = {}
    if not isinstance(base, dict):
        raise Refused("TYPE")
    out = dict(base)
    out[keys[0]] = v if len(keys) == 1 else set_path(base.get(keys[0]), keys[1:], v)
    return out


# ---- collections ----

class Collection:
    def __init__(self, fields, unique, required):
        self.fields = dict(fields)  # name -> type, in order
        self.unique = list(unique)  # fields, then paths, as tuples of parts
        self.required = set(required)
        self.rows, self.mark = {}, 0

    def copy(self):
        out = Collection(self.fields, self.unique, self.required)
        out.rows, out.mark = dict(self.rows), self.mark
        return out

    def ordered_unique(self):
        names = list(self.fields)
        return sorted(self.unique, key=lambda p: (len(p) > 1, names.index(p[0])))

    def assign(self, row, parts, v):
        """One pair of a document or a set, into `row`."""
        if parts[0] not in self.fields:
            raise Refused("NOT_FOUND")
        kind = self.fields[parts[0]]
        if len(parts) == 1:
            row[parts[0]] = coerce(v, kind)
            return
        if kind != "json":
            raise Refused("TYPE")
        row[parts[0]] = set_path(row[parts[0]], parts[1:], coerce(v, "json"))

    def clash(self, row, own):
        """The holder of the first @unique value of `row` that another row holds."""
        for parts in self.ordered_unique():
            v = read_path(row, parts)
            if v is None:
                continue
            for i, other in self.rows.items():
                if i != own and compare(read_path(other, parts), v) == 0:
                    return i
        return None

    def assemble(self, pairs):
        row = {f: None for f in self.fields}
        row["id"] = None
        named, seen = set(), set()
        for parts, e in pairs:
            v = evaluate(e, {}, {})
            if parts in seen:
                raise Refused("QUERY")
            seen.add(parts)
            if parts == ("id",):
                if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                    raise Refused("TYPE")
                row["id"] = v
                continue
            self.assign(row, parts, v)
            named.add(parts[0])
        if self.required - named:
            raise Refused("TYPE")
        return row

    def store(self, row):
        i = row["id"]
        if i is None:
            i = self.mark + 1
        row = dict(row, id=i)
        if self.clash(row, i) is not None:
            raise Refused("DUPLICATE")
        self.rows[i] = row
        self.mark = max(self.mark, i)
        return row

    def put(self, docs, insert, if_absent, else_set):
        made = [self.assemble(d) for d in docs]
        out = []
        for doc in made:
            holder = doc["id"] if doc["id"] in self.rows else None
            if if_absent:
                if holder is None:
                    holder = self.clash(doc, doc["id"])
                if holder is not None:
                    if else_set is not None:
                        out.append(self.change(holder, else_set, doc))
                    continue
            elif insert and holder is not None:
                raise Refused("DUPLICATE")
            out.append(self.store(doc)["id"])
        return out

    def change(self, i, pairs, new=None):
        old = self.rows[i]
        row, seen = dict(old), set()
        for parts, e in pairs:
            v = evaluate(e, old, self.fields, new)
            if parts in seen:
                raise Refused("QUERY")
            seen.add(parts)
            self.assign(row, parts, v)
        if self.clash(row, i) is not None:
            raise Refused("DUPLICATE")
        self.rows[i] = row
        return i

    def pick(self, where, order, limit, offset=0):
        for parts, _ in order:
            if parts[0] != "id" and parts[0] not in self.fields:
                raise Refused("NOT_FOUND")
            if len(parts) > 1 and self.fields.get(parts[0]) != "json":
                raise Refused("TYPE")
        ids = [i for i in sorted(self.rows) if where is None or truth(evaluate(where, self.rows[i], self.fields))]
        for parts, down in reversed(order):
            way = -1 if down else 1
            ids.sort(key=functools.cmp_to_key(
                lambda a, b: way * compare(read_path(self.rows[a], parts), read_path(self.rows[b], parts))))
        return ids[offset:] if limit is None else ids[offset:offset + limit]


# ---- what an answer shows ----

def shown(v):
    if isinstance(v, Instant):
        return v.text()
    if isinstance(v, bytes):
        return list(v)
    if isinstance(v, list):
        return [shown(x) for x in v]
    if isinstance(v, dict):
        return {k: shown(x) for k, x in v.items()}
    return v


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        # A whole float past 2^53 is written with all its digits.
        return a == b if type(a) is type(b) else float(a) == float(b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b

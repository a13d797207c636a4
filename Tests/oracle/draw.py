"""Random statements: the tree for the model, the text (and parameters) for the engine."""
import json

from model import Instant

NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"]
TYPES = ["int", "int", "float", "text", "text", "bool", "timestamp", "json", "json", "[int]", "[text]"]
INDEXES = {"int": ["hash", "unique", "sorted", "sorted"], "float": ["hash", "sorted", "unique"],
           "text": ["hash", "unique", "sorted"], "bool": ["hash"], "timestamp": ["hash", "sorted", "unique"],
           "json": ["hash", "sorted", "unique"], "[int]": ["hash", "unique"], "[text]": ["hash"]}
KEYS = ["k", "l", "m"]
TEXTS = ["", "a", "A", "ab", "b", "ba", "Ba", "é", "É", "ç", "z", "10", "2026-01-02T03:04:05Z", "2026-01-02", "x y", "\"q\"", "it's",
         "a" * 300, "a" * 300 + "b", "line\nbreak", "🦊"]
INTS = [0, 1, 2, 3, 5, 7, 10, -1, -2, 100, 2**53, 2**53 + 1, 2**63 - 1, -2**63 + 1, 1767322800000, 1767323045000]
FLOATS = [0.0, -0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, -1.5, 1e15, 9007199254740992.0, 0.1, 1e300, -1e-7]
MOMENTS = [0, 1, -1, 1767322800000, 1767323045000, 1767323045250, 86400000]


class Draw:
    def __init__(self, random):
        self.r = random

    def chance(self, share):
        return self.r.random() < share

    # ---- constants ----

    def scalar(self, kind):
        r = self.r
        if kind == "int":
            return r.choice(INTS) if self.chance(0.3) else r.randint(0, 9)
        if kind == "float":
            return r.choice(FLOATS) if self.chance(0.5) else r.randint(0, 20) / 4
        if kind == "text":
            return r.choice(TEXTS) if self.chance(0.6) else r.choice("abcde") * r.randint(1, 2)
        if kind == "bool":
            return self.chance(0.5)
        return self.moment_text() if self.chance(0.6) else r.choice(MOMENTS)

    def moment_text(self):
        return Instant(self.r.choice(MOMENTS[3:])).text()

    def json(self, deep=2):
        r = self.r
        pick = r.random()
        if deep and pick < 0.45:
            return {k: self.json(deep - 1) for k in r.sample(KEYS, r.randint(0, 3))}
        if deep and pick < 0.55:
            return [self.json(deep - 1) for _ in range(r.randint(0, 3))]
        if pick < 0.6:
            return None
        return self.scalar(r.choice(["int", "int", "float", "text", "bool"]))

    def constant(self, kind):
        """A value that fits a field of the kind, mostly."""
        if self.chance(0.1):
            return None
        if self.chance(0.04):
            return self.scalar(self.r.choice(["int", "float", "text", "bool"]))
        if kind == "json":
            return self.json()
        if kind.startswith("["):
            return [None if self.chance(0.1) else self.scalar(kind[1:-1]) for _ in range(self.r.randint(0, 3))]
        if kind == "float" and self.chance(0.3):
            return self.r.randint(0, 5)
        return self.scalar(kind)

    # ---- fields and expressions over a row ----

    def field(self, c):
        name = self.r.choice(list(c.fields)) if c.fields else "id"
        if self.chance(0.08):
            name = "id"
        if self.chance(0.01):
            name = "nobody"
        parts = (name,)
        if c.fields.get(name) == "json" and self.chance(0.75):
            parts += tuple(self.r.choice(KEYS) for _ in range(self.r.randint(1, 2)))
        return ("field", parts)

    def kind_of(self, c, field):
        if field[1] == ("id",):
            return "int"
        if len(field[1]) > 1:
            return self.r.choice(["int", "float", "text", "bool"])
        return c.fields.get(field[1][0], "int")

    def near(self, c, field):
        """A constant worth comparing with the field: often one that a row holds."""
        if self.chance(0.5) and c.rows:
            row = self.r.choice(list(c.rows.values()))
            v = row.get(field[1][0])
            for key in field[1][1:]:
                v = v.get(key) if isinstance(v, dict) else None
            if isinstance(v, Instant):
                v = v.text() if self.chance(0.6) else v.ms
            elif isinstance(v, int) and not isinstance(v, bool) and self.chance(0.2):
                v = float(v) if abs(v) < 2**53 else v
            return ("const", v)
        return ("const", self.constant(self.kind_of(c, field)))

    def number(self, c, deep):
        r = self.r
        numeric = [f for f, t in c.fields.items() if t in ("int", "float", "timestamp")]
        if deep and self.chance(0.5):
            return ("arith", r.choice("+-*/"), self.number(c, deep - 1), self.number(c, deep - 1))
        if numeric and self.chance(0.7):
            return ("field", (r.choice(numeric),))
        return ("const", r.choice([0, 1, 2, 3, -4, 0.5, 2.5, 1000]))

    def value(self, c, deep=2):
        r = self.r
        pick = r.random()
        if deep and pick < 0.25:
            return self.number(c, deep)
        if deep and pick < 0.35:
            name = r.choice(["len", "lower", "upper", "coalesce", "greatest", "least"])
            count = 1 if name in ("len", "lower", "upper") else r.randint(1, 3)
            return ("call", name, [self.value(c, deep - 1) for _ in range(count)])
        if deep and pick < 0.42:
            return ("case", [(self.condition(c, deep - 1), self.value(c, deep - 1)) for _ in range(r.randint(1, 2))],
                    self.value(c, 0) if self.chance(0.6) else None)
        if deep and pick < 0.46:
            return self.condition(c, deep - 1)
        if pick < 0.8:
            return self.field(c)
        return ("const", self.json(1) if self.chance(0.2) else self.scalar(r.choice(["int", "float", "text", "bool"])))

    def condition(self, c, deep=3):
        r = self.r
        pick = r.random()
        if deep and pick < 0.3:
            return ("and", self.condition(c, deep - 1), self.condition(c, deep - 1))
        if deep and pick < 0.4:
            return ("or", self.condition(c, deep - 1), self.condition(c, deep - 1))
        if deep and pick < 0.46:
            return ("not", self.condition(c, deep - 1))
        if pick < 0.5 and deep:
            return ("cmp", r.choice(["=", "!=", "<", "<=", ">", ">="]), self.value(c, 1), self.value(c, 1))
        field = self.field(c)
        pick = r.random()
        if pick < 0.08:
            return ("null", field)
        if pick < 0.22:
            return ("in", field, [self.near(c, field) for _ in range(r.randint(0, 4))])
        if pick < 0.28:
            return ("cmp", "~", field, ("const", r.choice(["a", "A", "É", "", "b", "Y"])))
        if pick < 0.34:
            return ("cmp", "has", field, ("const", self.scalar(r.choice(["int", "text"]))))
        if pick < 0.36:
            return field
        op = r.choice(["=", "=", "=", "!=", "<", "<=", ">", ">="])
        pair = (field, self.near(c, field))
        return ("cmp", op, *(pair if self.chance(0.8) else pair[::-1]))

    def safe(self, c, deep=2):
        """A condition that raises nothing on any row."""
        r = self.r
        if deep and self.chance(0.4):
            return (r.choice(["and", "or"]), self.safe(c, deep - 1), self.safe(c, deep - 1))
        while True:
            field = self.field(c)
            if field[1][0] == "id" or field[1][0] in c.fields:
                break
        if self.chance(0.15):
            return ("in", field, [self.near(c, field) for _ in range(r.randint(1, 3))])
        return ("cmp", r.choice(["=", "=", "<", "<=", ">", ">=", "!="]), field, self.near(c, field))

    def order(self, c, sure=False):
        keys = []
        for _ in range(self.r.choice([0, 0, 1, 1, 1, 2])):
            field = self.field(c)
            while sure and field[1][0] == "nobody":
                field = self.field(c)
            keys.append((field[1], self.chance(0.4)))
        return keys

    def document(self, c):
        out = []
        for name, kind in c.fields.items():
            if self.chance(0.25) and name not in c.required or self.chance(0.01):
                continue
            if kind == "json" and self.chance(0.15):
                out.append(((name, self.r.choice(KEYS)), ("const", self.json(1))))
            elif kind in ("int", "float") and self.chance(0.08):
                out.append(((name,), ("arith", self.r.choice("+-*"), ("const", self.scalar(kind)), ("const", self.scalar(kind)))))
            else:
                out.append(((name,), ("const", self.constant(kind))))
        if self.chance(0.15):
            out.append((("id",), ("const", self.r.randint(1, 40) if self.chance(0.95) else self.r.choice([0, -1, 1.0, "x", None]))))
        if self.chance(0.01):
            out.append((("nobody",), ("const", 1)))
        self.r.shuffle(out)
        return out

    def pairs(self, c, new=False):
        out, used = [], set()
        for _ in range(self.r.randint(1, 2)):
            name = self.r.choice(list(c.fields))
            kind = c.fields[name]
            parts = (name,)
            if kind == "json" and self.chance(0.6):
                parts += tuple(self.r.choice(KEYS) for _ in range(self.r.randint(1, 2)))
            if parts in used and not self.chance(0.02):
                continue
            used.add(parts)
            pick = self.r.random()
            if new and pick < 0.4:
                e = ("new", self.r.choice(list(c.fields) + ["id"]))
            elif pick < 0.5 and kind in ("int", "float"):
                e = ("arith", self.r.choice("++-*"), ("field", (name,)), ("const", self.r.choice([1, 2, 0.5])))
            elif pick < 0.6:
                e = self.value(c, 1)
            else:
                e = ("const", self.constant(kind))
            out.append((parts, e))
        return out


# ---- text ----

class Text:
    """Writes a tree as FenecQL; now and then a constant becomes a parameter."""

    def __init__(self, random, param_share=0.3):
        self.r, self.share, self.params = random, param_share, []

    def quoted(self, s):
        return '"' + s.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def constant(self, v):
        if self.r.random() < self.share:
            self.params.append(v)
            return f"${len(self.params)}"
        # The smallest int is one only where sign and digits are one token, which they are not after a keyword.
        return f"({v})" if v == -2**63 and isinstance(v, int) else self.literal(v)

    def literal(self, v):
        if v is None:
            return "null"
        if v is True or v is False:
            return "true" if v else "false"
        if isinstance(v, str):
            return self.quoted(v)
        if isinstance(v, int):
            return str(v)
        if isinstance(v, float):
            return json.dumps(v)
        if isinstance(v, list):
            return "[" + ", ".join(map(self.literal, v)) + "]"
        return "{" + ", ".join(f"{self.quoted(k)}: {self.literal(x)}" for k, x in v.items()) + "}"

    def expr(self, e):
        kind = e[0]
        if kind == "const":
            return self.constant(e[1])
        if kind == "field":
            return ".".join(e[1])
        if kind == "new":
            return "new." + e[1]
        if kind in ("and", "or"):
            return f"({self.expr(e[1])} {kind} {self.expr(e[2])})"
        if kind == "not":
            return f"(not ({self.expr(e[1])}))"
        if kind == "null":
            return f"({self.expr(e[1])} is null)"
        if kind == "case":
            arms = " ".join(f"when {self.expr(c)} then {self.expr(v)}" for c, v in e[1])
            return f"case {arms}{' else ' + self.expr(e[2]) if e[2] else ''} end"
        if kind == "in":
            return f"({self.expr(e[1])} in [{', '.join(map(self.expr, e[2]))}])"
        if kind == "call":
            return f"{e[1]}({', '.join(map(self.expr, e[2]))})"
        return f"({self.expr(e[2])} {e[1]} {self.expr(e[3])})"

    def top(self, e):
        """A condition without its outer parentheses, so that the planner sees its `and` chain."""
        text = self.expr(e)
        return text[1:-1] if text[0] == "(" else text

    def pairs(self, pairs):
        return "{" + ", ".join(f"{'.'.join(parts)}: {self.expr(e)}" for parts, e in pairs) + "}"

    def order(self, order):
        return " order " + ", ".join(".".join(p) + (" desc" if down else "") for p, down in order) if order else ""

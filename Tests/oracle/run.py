#!/usr/bin/env python3
"""Random statements against a naive model: the same rows, order, counts and kinds of error.

    run.py --lib build/libfenec.so [--statements 200000] [--seed N] [--file] [--show N]

Every difference prints the seed and the statements that led to it. The last line is "N passed, N failed"
(statements)."""
import argparse
import os
import random
import re
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "docs", "examples")]
from draw import Draw, INDEXES, NAMES, TYPES, Text  # noqa: E402
from groups import Aggregate  # noqa: E402
from joins import JoinText, draw_facets, draw_levels, resolved, with_inner  # noqa: E402
from model import Collection, Refused, evaluate, compare, read_path, same, shown, truth  # noqa: E402
from places import Places  # noqa: E402


class Difference(Exception):
    pass


class Program:
    """One database and its model, driven by one seed."""

    def __init__(self, engine, seed, path):
        self.engine, self.path, self.seed = engine, path, seed
        self.r = random.Random(seed)
        self.draw = Draw(self.r)
        self.model = {}
        self.log = []
        self.db = engine.Fenec(path)
        # Now and then the same statements run over collections without an index but @unique, which must
        # answer the same: an index changes no answer.
        self.twin = engine.Fenec() if seed % 3 == 0 else None

    def ask(self, text, params):
        self.log.append((text, params))
        try:
            answer, error = self.db.query(text, *params), None
        except self.engine.FenecError as e:
            answer, error = None, e
        if self.twin:
            self.ask_twin(text, params, answer)
        return answer, error

    def ask_twin(self, text, params, answer):
        if text.startswith("create index") and not text.endswith("@unique"):
            return
        if text.startswith("create collection"):
            text = re.sub(r" @(hash|sorted)", "", text)
        try:
            other = self.twin.query(text, *params)
        except self.engine.FenecError:
            return  # a scan meets rows that an index passes over; a lookup needs its index
        if answer and other != answer and answer["kind"] != "ok":
            raise Difference(f"without indexes: {other}\n       with them: {answer}")

    # ---- one statement each: (text writer's text, what the model says) ----

    def create(self):
        name = self.r.choice([n for n in "tuv" if n not in self.model])
        fields, unique, required, text = {}, [], set(), []
        for field in NAMES[:self.r.randint(1, 7)]:
            kind = self.r.choice(TYPES)
            fields[field] = kind
            words = [field, kind]
            if self.draw.chance(0.1):
                required.add(field)
                words.append("required")
            if self.draw.chance(0.5):
                index = self.r.choice(INDEXES[kind])
                if index == "unique":
                    unique.append((field,))
                words.append("@" + index)
            text.append(" ".join(words))
        self.expect_ok(f"create collection {name} ({', '.join(text)})")
        self.model[name] = Collection(fields, unique, required)
        self.model[name].paths = {}
        self.model[name].indexed = {t.split()[0] for t in text if "@" in t}
        self.model[name].hashed = {t.split()[0] for t in text if "@hash" in t or "@unique" in t}

    def expect_ok(self, text):
        answer, error = self.ask(text, [])
        if error:
            raise Difference(f"expected success, got {error.name}: {error}")

    def index(self, name, c):
        field = self.r.choice(list(c.fields))
        kind = self.r.choice(["hash", "sorted", "unique"])
        parts = (field,)
        if c.fields[field] == "json":
            parts += (self.r.choice("klm"),)
        if parts in c.paths or len(parts) == 1 and (field in c.indexed or kind not in INDEXES[c.fields[field]]):
            return
        text = f"create index on {name} ({'.'.join(parts)}) @{kind}"
        if kind == "unique":
            values = [v for v in (read_path(r, parts) for r in c.rows.values()) if v is not None]
            if any(compare(x, y) == 0 for i, x in enumerate(values) for y in values[:i]):
                self.expect_error(text, [], "DUPLICATE")
                return
            c.unique.append(parts)
        self.expect_ok(text)
        (c.paths.setdefault(parts, kind) if len(parts) > 1 else c.indexed.add(field))
        if len(parts) == 1 and kind != "sorted":
            c.hashed.add(field)

    def expect_error(self, text, params, kind):
        answer, error = self.ask(text, params)
        if not error or error.name != kind:
            raise Difference(f"expected {kind}, got {error.name if error else answer}: {error}")

    def alter(self, name, c):
        if self.draw.chance(0.5) and len(c.fields) < len(NAMES):
            field = next(n for n in NAMES if n not in c.fields)
            kind = self.r.choice(TYPES)
            self.expect_ok(f"alter collection {name} add {field} {kind}")
            c.fields[field] = kind
            for i in c.rows:
                c.rows[i] = dict(c.rows[i], **{field: None})
        elif len(c.fields) > 1:
            field = self.r.choice(list(c.fields))
            self.expect_ok(f"alter collection {name} drop {field}")
            del c.fields[field]
            c.unique = [p for p in c.unique if p[0] != field]
            c.paths = {p: k for p, k in c.paths.items() if p[0] != field}
            c.required.discard(field)
            c.indexed.discard(field)
            c.hashed.discard(field)
            for i, row in c.rows.items():
                c.rows[i] = {k: v for k, v in row.items() if k != field}

    def returned(self, c, ids, before=None):
        columns = ["id", *c.fields]
        return [{k: shown((before or c.rows)[i][k]) for k in columns} for i in ids]

    def put(self, name, c):
        docs = [self.draw.document(c) for _ in range(self.r.choice([1, 1, 1, 2, 5]))]
        insert = self.draw.chance(0.4)
        if_absent = self.draw.chance(0.25)
        else_set = self.draw.pairs(c, new=True) if if_absent and self.draw.chance(0.6) else None
        t = Text(self.r)
        if self.draw.chance(0.2) and all(e[0] == "const" for d in docs for _, e in d):
            # A document of a parameter applies its keys in their order.
            docs = [sorted(d, key=lambda p: ".".join(p[0]).encode()) for d in docs]
            t.params.append([{".".join(parts): e[1] for parts, e in d} for d in docs])
            written = "$1"
        else:
            written = " ".join(map(t.pairs, docs)) if self.draw.chance(0.5) else "[" + ", ".join(map(t.pairs, docs)) + "]"
        text = f"{'insert' if insert else 'put'} {name} {written}"
        if if_absent:
            text += " if absent" + (f" else set {t.pairs(else_set)}" if else_set is not None else "")
        return text, t.params, lambda m: ("affected", len(m.put(docs, insert, if_absent, else_set)))

    def update(self, name, c):
        where = self.draw.safe(c) if self.draw.chance(0.9) else None
        where = with_inner(self.draw, self.model, c, where, True)
        order = self.draw.order(c, sure=True) if self.draw.chance(0.3) else []
        limit = self.r.randint(0, 4) if self.draw.chance(0.3) else None
        pairs = self.draw.pairs(c)
        require = self.r.randint(0, 2) if self.draw.chance(0.08) else None
        returning = self.draw.chance(0.3)
        t = JoinText(self.r)
        text = f"set {name} {t.pairs(pairs)}" + (f" where {t.top(where)}" if where else "") + t.order(order)
        text += (f" limit {limit}" if limit is not None else "") + (" returning *" if returning else "")
        text += f" require {require}" if require is not None else ""

        def work(m):
            ids = m.pick(resolved(where, self.model, self.bind), order, limit)
            for i in ids:
                m.change(i, pairs)
            if require is not None and len(ids) != require:
                raise Refused("UNMET")
            return ("rows", self.returned(m, ids)) if returning else ("affected", len(ids))
        return text, t.params, work

    def delete(self, name, c):
        where = with_inner(self.draw, self.model, c, self.draw.safe(c), True)
        order = self.draw.order(c, sure=True) if self.draw.chance(0.3) else []
        limit = self.r.randint(0, 3) if self.draw.chance(0.7) else None
        returning = self.draw.chance(0.3)
        t = JoinText(self.r)
        text = f"del {name} where {t.top(where)}" + t.order(order) + (f" limit {limit}" if limit is not None else "")
        text += " returning *" if returning else ""

        def work(m):
            ids = m.pick(resolved(where, self.model, self.bind), order, limit)
            rows = self.returned(m, ids)
            for i in ids:
                del m.rows[i]
            return ("rows", rows) if returning else ("affected", len(ids))
        return text, t.params, work

    def get(self, name, c):
        where = self.draw.condition(c) if self.draw.chance(0.85) else None
        if self.draw.chance(0.3):
            return self.aggregate(name, c)
        if self.draw.chance(0.3):
            return self.join(name, c)
        where = with_inner(self.draw, self.model, c, where, False)
        t = JoinText(self.r)
        if self.draw.chance(0.12):
            text = f"get {name}" + (f" where {t.top(where)}" if where else "") + " count"
            return text, t.params, lambda m: ("rows", [{"count": len(m.pick(self.resolve(where), [], None))}])
        columns = []
        if self.draw.chance(0.5):
            for k in range(self.r.randint(1, 3)):
                if self.draw.chance(0.6):
                    field = self.draw.field(c)
                    if ".".join(field[1]) not in [n for n, _ in columns]:
                        columns.append((".".join(field[1]), field))
                else:
                    columns.append((f"x{k}", self.draw.value(c)))
        shape = self.r.random()
        listed = ", ".join(n if e[0] == "field" and ".".join(e[1]) == n else f"{t.expr(e)} as {n}" for n, e in columns)
        text = f"select {listed} from {name}" if columns and shape < 0.4 else f"get {name}"
        text += f" select {listed}" if columns and shape >= 0.4 else ""
        text += f" where {t.top(where)}" if where else ""
        order = self.draw.order(c)
        text += t.order(order)
        limit = self.r.randint(0, 6) if self.draw.chance(0.5) else None
        offset = self.r.randint(0, 5) if self.draw.chance(0.3) else 0
        text += f" limit {limit}" if limit is not None else ""
        text += f" offset {offset}" if offset else ""

        def work(m):
            for n, e in columns:
                self.bind(e, m)
            ids = m.pick(self.resolve(where), order, limit, offset)
            if not columns:
                return "rows", self.returned(m, ids)
            return "rows", [{n: shown(evaluate(e, m.rows[i], m.fields)) for n, e in columns} for i in ids]
        return text, t.params, work

    def aggregate(self, name, c):
        where = self.draw.safe(c) if self.draw.chance(0.4) else self.draw.condition(c) if self.draw.chance(0.1) else None
        where = with_inner(self.draw, self.model, c, where, False)
        t = JoinText(self.r)
        made = Aggregate(self.draw, c)

        def work(m):
            rows = made.answer(m, self.resolve(where), self.bind)
            return ("rows", rows, "may fail") if made.may_fail else ("rows", rows)
        return made.text(name, where, t), t.params, work

    def resolve(self, where):
        return resolved(where, self.model, self.bind)

    def join(self, name, c):
        """A page with lookups, facets, or both; or their count."""
        where = self.draw.safe(c) if self.draw.chance(0.6) else None
        where = with_inner(self.draw, self.model, c, where, True)
        level = draw_levels(self.draw, self.model, name) if self.draw.chance(0.65) else None
        facets = draw_facets(self.draw, c, where) if not level or self.draw.chance(0.3) else []
        count = (not level or level.required) and self.draw.chance(0.2)
        order = self.draw.order(c, sure=True) if not count else []
        limit = self.r.randint(0, 6) if not count and self.draw.chance(0.5) else None
        offset = self.r.randint(0, 3) if not count and self.draw.chance(0.2) else 0
        t = JoinText(self.r)
        text = f"get {name}" + (f" where {t.top(where)}" if where else "") + t.order(order)
        text += (f" limit {limit}" if limit is not None else "") + (f" offset {offset}" if offset else "")
        text += (" facet " + ", ".join(f.text() for f in facets) if facets else "") + (" count" if count else "")
        text += level.text(t) if level else ""

        def work(m):
            if level:
                level.bind(self.model, m, self.bind)
            try:
                owns = [f.own(where) for f in facets]
                for f in facets:
                    f.bind(m, self.bind)
            except Refused as e:
                e.sure = True
                raise
            needs = level and level.required
            kept = lambda ids: [i for i in ids if not needs or level.children(self.model, m.rows[i])]
            ids = kept(m.pick(self.resolve(where), order, None))
            if count:
                rows = [{"count": len(ids)}]
            else:
                page = ids[offset:] if limit is None else ids[offset:offset + limit]
                rows = self.returned(m, page)
                for made, i in zip(rows, page):
                    if level:
                        made[level.name] = level.answer(self.model, m.rows[i])
            if not facets:
                return "rows", rows
            counted = {f.name: f.answer([m.rows[i] for i in kept(m.pick(self.resolve(own), [], None))])
                       for f, own in zip(facets, owns)}
            return "faceted", {"rows": rows, "facets": counted}
        return text, t.params, work

    def bind(self, e, m):
        """A list's names are known before any row is read."""
        if isinstance(e, tuple) and e and e[0] == "field":
            if e[1][0] != "id" and e[1][0] not in m.fields:
                raise Refused("NOT_FOUND")
            if len(e[1]) > 1 and m.fields.get(e[1][0]) != "json":
                raise Refused("TYPE")
        elif isinstance(e, (tuple, list)):
            for part in e:
                self.bind(part, m)

    # ---- a text ----

    def judge(self, text, params, wanted, reads):
        answer, error = self.ask(text, params)
        if isinstance(wanted, Refused):
            # A read that passed over the row whose filter errs may answer without it.
            if reads and error is None and not getattr(wanted, "sure", False):
                return
            if error is None or error.name != wanted.kind and not reads:
                raise Difference(f"expected {wanted.kind}, got {error.name if error else answer}: {error}")
            return
        if error:
            if "may fail" in wanted:
                return
            raise Difference(f"expected {wanted}, got {error.name}: {error}")
        got = answer["count"] if answer["kind"] == "affected" else answer["result"]["rows"]
        if wanted[0] == "faceted":
            got = {k: answer["result"][k] for k in ("rows", "facets")}
        if not same(got, wanted[1]):
            raise Difference(f"expected {wanted}\n     got {got}")

    def step(self):
        name = self.r.choice(list(self.model))
        c = self.model[name]
        pick = self.r.random()
        if len(c.rows) > 60:
            pick = 0.75
        if pick < 0.25:
            made, reads = self.put(name, c), False
        elif pick < 0.4:
            made, reads = self.update(name, c), False
        elif pick < 0.48:
            made, reads = self.delete(name, c), False
        else:
            made, reads = self.get(name, c), True
        text, params, work = made
        if not reads and self.draw.chance(0.1):
            # A block whose second statement fails leaves nothing of the first.
            text, work = text + " del t_nobody", lambda m: (_ for _ in ()).throw(Refused("NOT_FOUND"))
            answer, error = self.ask(text, params)
            if not error or error.at not in (0, 1):
                raise Difference(f"expected a failed block, got {answer} {error}")
            return
        copy = c if reads else c.copy()
        if not reads:
            copy.paths, copy.indexed, copy.hashed = c.paths, c.indexed, c.hashed
        try:
            wanted = work(copy)
        except Refused as e:
            wanted = e
        self.judge(text, params, wanted, reads)
        if not reads and not isinstance(wanted, Refused):
            self.model[name] = copy

    def run(self, statements):
        for _ in range(self.r.choice([1, 2, 2, 3])):
            self.create()
        done = 0
        while done < statements:
            done += 1
            pick = self.r.random()
            if pick < 0.01 and len(self.model) < 3:
                self.create()
            elif pick < 0.013 and len(self.model) > 1:
                name = self.r.choice(list(self.model))
                self.expect_ok(f"drop collection {name}")
                del self.model[name]
            elif pick < 0.03:
                name = self.r.choice(list(self.model))
                self.index(name, self.model[name])
            elif pick < 0.036:
                name = self.r.choice(list(self.model))
                self.alter(name, self.model[name])
            elif pick < 0.038:
                self.expect_ok("compact")
            elif pick < 0.042 and self.path:
                self.db.close()
                self.db = self.engine.Fenec(self.path)
            else:
                self.step()
        self.db.close()
        return done


def program(arguments):
    seed, statements, on_file = arguments
    import fenec
    with tempfile.TemporaryDirectory(prefix="fenec-oracle-") as folder:
        path = os.path.join(folder, "o.fenec") if on_file else None
        p = Places(fenec, seed, path, Difference) if seed % 10 == 0 else Program(fenec, seed, path)
        try:
            return p.run(statements), None
        except Difference as e:
            tail = "\n".join(f"    {t}   {v}" for t, v in p.log[-1:])
            return len(p.log), f"seed {seed}, statement {len(p.log)}: {e}\n{tail}"
        except Exception as e:  # a fault of the model is a failure too
            return len(p.log), f"seed {seed}, statement {len(p.log)}: {type(e).__name__}: {e}\n    {p.log[-1:]}"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--lib", required=True)
    ap.add_argument("--statements", type=int, default=200000)
    ap.add_argument("--length", type=int, default=400, help="statements of one program")
    ap.add_argument("--seed", type=int, default=int(time.time()))
    ap.add_argument("--one", action="store_true", help="only the program of this seed")
    ap.add_argument("--file", action="store_true", help="on files (every fourth program is, without)")
    ap.add_argument("--show", type=int, default=5)
    a = ap.parse_args()
    os.environ["FENEC_LIB"] = os.path.abspath(a.lib)
    print(f"oracle: seed {a.seed}", flush=True)
    count = 1 if a.one else -(-a.statements // a.length)
    jobs = [(a.seed + i, a.length, a.file or i % 4 == 3) for i in range(count)]
    if a.one:
        jobs = [(a.seed, a.length, a.file)]
    done = failed = 0
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for ran, why in pool.map(program, jobs, chunksize=4):
            done += ran
            if why:
                failed += 1
                if failed <= a.show:
                    print(why)
    print(f"{done - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

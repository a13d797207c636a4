#!/usr/bin/env python3
"""Random schemas in code against a model: one applied, another planned, followed, applied, and brought
through by the migrations its refusals offer.

    schemas.py --lib build/libfenec.so [--schemas 400] [--seed N] [--one]

Every difference prints its seed. The last line is "N passed, N failed" (pairs of schemas)."""
import argparse
import copy
import json
import os
import random
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "docs", "examples")]
import schema_model as model  # noqa: E402


class Difference(Exception):
    pass


def check(is_so, *what):
    if not is_so:
        raise Difference("\n".join(str(w) for w in what))


def answer_of(applied, ran, migrations, statements):
    return {"kind": "schema", "applied": applied, "ran": ran, "migrations": migrations, "statements": statements}


class Pair:
    """Schema A in a database, and schema B, which its app declares next."""

    def __init__(self, engine, seed):
        self.engine, self.r = engine, random.Random(seed)
        self.a = model.draw_schema(self.r)
        self.b = model.vary(self.r, self.a) if self.r.random() < 0.8 else model.draw_schema(self.r)
        self.db = engine.Fenec()

    def written(self, schema, **more):
        """As lists or as FenecQL, which give the same."""
        if self.r.random() < 0.5:
            return dict({"format": 1, "collections": schema}, **more)
        return dict({"format": 1, "fenecql": model.schema_text(self.r, schema)}, **more)

    def described(self, db=None):
        return (db or self.db).schema(None, self.engine.DESCRIBE)

    def check_answer(self, got, want, refusals=()):
        check(list(got) == [*want, "refusals"], got)
        for name in want:
            check(got[name] == want[name], name, "is  ", got[name], "not ", want[name])
        check([tuple(g[n] for n in ("kind", "collection", "field")) for g in got["refusals"]]
              == [w[:3] for w in refusals], "refusals are", got["refusals"], "not", refusals)
        for g, w in zip(got["refusals"], refusals):
            check(list(g) == ["kind", "collection", "field", "message", "fix"], g)
            for name, parts in (("message", w[3]), ("fix", w[4])):
                for p in parts:
                    is_there = (p[0] if isinstance(p, list) else p) in g[name]
                    check(is_there != isinstance(p, list), name, "of", g, "and", p)

    def run(self):
        self.apply_a()
        self.check_describe()
        self.put_rows()
        self.bring_b()
        self.check_rebuild()

    def apply_a(self):
        made = model.Comparison([], model.normal(self.a), False)
        for text in (self.written(self.a), {"format": 1, "fenecql": model.schema_text(self.r, self.a)}):
            self.check_answer(self.db.schema(text, self.engine.PLAN), answer_of(False, False, [], made.statements))
        got = self.db.schema(self.written(self.a), self.engine.APPLY)
        self.check_answer(got, answer_of(True, False, [], made.statements))
        for mode in (self.engine.APPLY, self.engine.PLAN, self.engine.FOLLOW):
            self.check_answer(self.db.schema(self.written(self.a), mode), answer_of(False, False, [], []))
        self.there = model.applied([], model.normal(self.a))

    def check_describe(self):
        """What is told is what is there, and makes the same elsewhere, as lists and as statements."""
        told, want = self.described(), model.describe(self.there)
        check(json.dumps(told) == json.dumps(want), "described as", told, "not", want)
        by_list, by_text = self.engine.Fenec(), self.engine.Fenec()
        statements = by_list.schema(told, self.engine.APPLY)["statements"]
        by_text.schema({"format": 1, "fenecql": "\n".join(statements)}, self.engine.APPLY)
        check(self.described(by_list) == self.described(by_text) == told, "made anew as", self.described(by_list))
        by_list.close()
        by_text.close()

    def put_rows(self):
        for c in self.there:
            row = {f["name"]: model.draw_value(f["type"]) for f in c["fields"]}
            if all(row.values()) or not any(f["required"] for f in c["fields"]):
                self.db.query(f"put into {c['name']} $1", row)

    def bring_b(self):
        code, before, seq = model.normal(self.b), self.described(), self.db.changes(0)["seq"]
        plan = model.Comparison(self.there, code, False)
        got = self.db.schema(self.written(self.b), self.engine.PLAN)
        self.check_answer(got, answer_of(False, False, [], plan.statements), plan.refusals)
        followed = model.Comparison(self.there, code, True)
        got = self.db.schema(self.written(self.b), self.engine.FOLLOW)
        self.check_answer(got, answer_of(False, False, [], []), followed.refusals)
        got = self.db.schema(self.written(self.b), self.engine.APPLY)
        if plan.refusals or not plan.statements:
            self.check_answer(got, answer_of(False, False, [], plan.statements), plan.refusals)
            check(self.described() == before and self.db.changes(0)["seq"] == seq, "something was written")
            if plan.refusals:
                self.resolve(got)
            return
        self.check_answer(got, answer_of(True, True, [], plan.statements))
        self.there = model.applied(self.there, code)
        self.check_describe()
        self.check_answer(self.db.schema(self.written(self.b), self.engine.APPLY), answer_of(False, False, [], []))

    def resolve(self, answer):
        """The refusals are lifted by what they offer."""
        self.declared, migrations = copy.deepcopy(self.b), []
        while answer["refusals"]:
            check(len(migrations) < 100, "not resolved", answer, migrations)
            migrations += [m for m in self.fixes(answer["refusals"]) if m not in migrations]
            try:
                answer = self.db.schema(self.written(self.declared, migrations=migrations), self.engine.PLAN)
            except self.engine.FenecError as e:
                # Told in the order of the fields, an expiry may come before the one it replaces is gone.
                check("two fields with @ttl" in str(e), e, migrations)
                return
        got = self.db.schema(self.written(self.declared, migrations=migrations), self.engine.APPLY)
        self.check_answer(got, answer_of(True, True, list(range(1, len(migrations) + 1)), answer["statements"])
                          if migrations or answer["statements"] else answer_of(False, False, [], []))
        got = self.db.schema(self.written(self.declared, migrations=migrations), self.engine.APPLY)
        self.check_answer(got, answer_of(False, False, [], []))

    def fixes(self, refusals):
        migrations, dropped = [], set()
        for x in refusals:
            c, name, kind, fix = x["collection"], x["field"].split(".")[0], x["kind"], x["fix"]
            fields = next(d for d in self.declared if d["name"] == c)["fields"]
            at = next((i for i, f in enumerate(fields) if f["name"] == name), None)
            offered = [m for m in re.findall(r"`([^`]*)`", fix) if m.startswith(("alter ", "del ", "drop ", "{"))
                       and "<" not in m and "..." not in m]
            if c in dropped:
                continue
            if kind == "field_not_declared":
                whole = [m for m in offered if m.startswith("drop collection")]
                dropped |= {c} if whole else set()
                # What is gone with its collection needs no other migration.
                migrations = [m for m in migrations if not whole or not self.is_of(m, c)]
                migrations.append(whole[0] if whole else self.r.choice(offered))
            elif kind == "type_changed":
                fields[at]["required"] = False
                migrations.append(f"alter collection {c} add field {name}__new {fields[at]['type']}; alter collection {c} "
                                  f"drop field {name}; alter collection {c} rename field {name}__new to {name}")
            elif "as the database has it" in fix:
                fields[at] = copy.deepcopy(next(f for d in self.a if d["name"] == c for f in d["fields"]
                                                if f["name"] == name))
            else:
                if "not required" in fix:
                    fields[at]["required"] = False
                migrations += [json.loads(m) if m[0] == "{" else m for m in offered]
        return [m for i, m in enumerate(migrations) if m not in migrations[:i]]

    @staticmethod
    def is_of(migration, c):
        if isinstance(migration, dict):
            return migration["rebuild"]["collection"] == c
        return re.match(rf"(alter collection|del|del from) {re.escape(c)} ", migration) is not None

    def check_rebuild(self):
        """A rebuild is recorded as the text it runs as; a field that is required is refused afterwards."""
        able = [(c, f) for c in model.normal(self.a) for f in c["fields"] if model.readable(f["name"])]
        if not able:
            return
        c, f = self.r.choice(able)
        db = self.engine.Fenec()
        db.schema(self.written(self.a), self.engine.APPLY)
        rebuild = [{"rebuild": {"collection": c["name"], "field": f["name"]}}]
        got = db.schema(self.written(self.a, migrations=rebuild), self.engine.APPLY)
        if f["required"]:
            check(got["refusals"][0]["kind"] == "required_changed", got)
        else:
            self.check_answer(got, answer_of(True, True, [1], []))
            row = db.query("get _migrations select n, text")["result"]["rows"][0]
            check(row == {"n": 1, "text": model.rebuild(c["name"], f)}, row, "not", model.rebuild(c["name"], f))
        db.close()


def pair(seed):
    import fenec
    try:
        Pair(fenec, seed).run()
        return None
    except (Difference, fenec.FenecError) as e:
        return f"seed {seed}: {e}"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--lib", required=True)
    ap.add_argument("--schemas", type=int, default=400)
    ap.add_argument("--seed", type=int, default=int(time.time()))
    ap.add_argument("--one", action="store_true", help="only the pair of this seed")
    a = ap.parse_args()
    os.environ["FENEC_LIB"] = os.path.abspath(a.lib)
    print(f"schemas: seed {a.seed}", flush=True)
    seeds = range(a.seed, a.seed + (1 if a.one else a.schemas))
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        failed = [why for why in pool.map(pair, seeds, chunksize=8) if why]
    print("\n".join(failed[:5] + [f"{len(seeds) - len(failed)} passed, {len(failed)} failed"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs conformance cases and says which wait for a clause that this build does not run yet.

    conformance.py --lib build/libfenec.so --folder ../shared/conformance --own Tests/cases [--reopen]

A case whose first difference is the answer "... is not available in this build" waits; how many may is
written in Tests/conformance_waiting.txt, one line a file, and only falls. Everything else must pass.
Files whose chapter is not delivered at all are left out. The last line is "N passed, N failed, N skipped"."""
import argparse
import ctypes
import importlib.util
import os
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DELIVERED = ["01-grammar.jsonl", "02-writes.jsonl", "03-reads.jsonl", "04-search.jsonl", "05-abi.jsonl", "06-schema.jsonl",
             "random/01.jsonl", "random/02.jsonl", "random/03.jsonl", "random/04.jsonl"]
WAITS = "is not available in this build"
WAITING_FILE = Path(__file__).resolve().parent.parent / "Tests" / "conformance_waiting.txt"


class Library(ctypes.CDLL):
    """The runner names functions that come with later chapters: those a library lacks are left unbound."""

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return types.SimpleNamespace() if name.startswith("fenec_s") else super().__getattr__(name)


def load_runner(folder: Path):
    ctypes.CDLL = Library
    spec = importlib.util.spec_from_file_location("conformance_run", folder / "run.py")
    runner = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(runner)
    return runner


def allowed() -> dict:
    out = {}
    for line in WAITING_FILE.read_text().splitlines() if WAITING_FILE.exists() else []:
        if line.strip() and not line.startswith("#"):
            name, count = line.split()
            out[name] = int(count)
    return out


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--lib", required=True)
    ap.add_argument("--folder", type=Path, required=True)
    ap.add_argument("--own", type=Path)
    ap.add_argument("--only", default="")
    ap.add_argument("--show", type=int, default=20)
    ap.add_argument("--waiting", action="store_true", help="name the cases that wait")
    ap.add_argument("--reopen", action="store_true")
    a = ap.parse_args()
    if not (a.folder / "run.py").exists():
        print(f"conformance: no cases at {a.folder}, left out")
        return 0
    runner = load_runner(a.folder)
    limits, lib, shown = allowed(), os.path.abspath(a.lib), 0
    passed = failed = waiting = 0
    files = [(name, a.folder / "cases" / name) for name in DELIVERED]
    if a.own and a.own.exists():
        files += [(f"own/{f.name}", f) for f in sorted(a.own.glob("*.jsonl"))]
    too_many = False
    for name, path in files:
        cases = [case for _, case in runner.load([path]) if a.only in case["id"]]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            answers = list(pool.map(lambda case: runner.isolated(lib, case, a.reopen), cases))
        good = wait = 0
        for case, why in zip(cases, answers):
            if why is None:
                good += 1
            elif WAITS in why:
                wait += 1
                if a.waiting:
                    print(f"WAIT {case['id']}: {why[:200]}")
            else:
                failed += 1
                if shown < a.show:
                    shown += 1
                    print(f"FAIL {case['id']}: {why}")
        passed, waiting = passed + good, waiting + wait
        note = ""
        if not a.only and wait > limits.get(name, 0):
            too_many, note = True, f" - more than the {limits.get(name, 0)} of {WAITING_FILE.name}"
        print(f"{name}: {good}/{len(cases)}" + (f", {wait} wait for a later clause{note}" if wait else ""))
    print(f"{passed} passed, {failed} failed, {waiting} skipped")
    return 1 if failed or too_many or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the samples of the documentation
(check_docs.py --lib build/libfenec.so [--fenec PROGRAM] FILE_OR_FOLDER...).

Fenced blocks by language:
  fenecql   statements, each followed by comment lines that say its answer, on one memory database a page:
            `-- ok`, `-- affected 2`, `-- no rows`, `-- error TYPE`, or a JSON object a row, and one
            more, {"facets":...}, where facets were asked;
            a statement without such lines must succeed
  console   a session in one folder a page: `$ fenec ...` and what it prints, `$ cat FILE` and what the file is
            to hold, `$ echo $?` and the last exit code; where --fenec names the command, and then nothing else
  c         a program: compiled against fenec.h and the library, and run
  python    a program: run with FENEC_LIB naming the library
  swift     stands, word for word, in one of Tests/FenecTests/Samples*.swift, which the Swift tests compile and run;
            of a .swift file the blocks in its documentation comments
Prints "N passed, N failed"."""
import argparse
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMENT = re.compile(r" */// ?")
ANSWER = re.compile(r"-- (ok|affected \d+|no rows|error [A-Z_]+|\{.*\})$")


def blocks(text: str):
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        yield found.group(1), found.group(2), text.count("\n", 0, found.start()) + 1


def steps(block: str):
    """(statement, answers) pairs."""
    text, answers = [], []
    for line in block.splitlines():
        if ANSWER.match(line):
            answers.append(line[3:])
        else:
            if answers:
                yield "\n".join(text), answers
                text, answers = [], []
            text.append(line)
    if "".join(text).strip() or answers:
        yield "\n".join(text), answers


def outcome(code: str, body) -> list:
    if code != "OK":
        return [f"error {code}"]
    if body["kind"] == "affected":
        return [f"affected {body['count']}"]
    if body["kind"] == "ok":
        return ["ok"]
    rows = body["collections"] if body["kind"] == "schemas" else body["result"]["rows"]
    if "facets" in body.get("result", ()):
        rows = rows + [{"facets": body["result"]["facets"]}]
    return [json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in rows] or ["no rows"]


def normal(answer: str) -> str:
    if not answer.startswith("{"):
        return answer
    return json.dumps(json.loads(answer), ensure_ascii=False, separators=(",", ":"))


def session(block: str):
    """(command, what follows it) pairs."""
    command, shown = None, []
    for line in block.splitlines() + ["$ "]:
        if line.startswith("$ "):
            if command is not None:
                yield command, "".join(f"{line}\n" for line in shown)
            command, shown = line[2:], []
        else:
            shown.append(line)


class Checker:
    fenec = None  # the command

    def __init__(self, library: str):
        self.library, self.passed, self.failed = os.path.abspath(library), 0, 0
        samples = sorted((ROOT / "Tests" / "FenecTests").glob("Samples*.swift"))
        self.samples = "".join("".join(p.read_text().split()) for p in samples)
        spec = importlib.util.spec_from_file_location("fenec_example", ROOT / "docs" / "examples" / "fenec.py")
        self.binding = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode = True
        os.environ["FENEC_LIB"] = self.library
        spec.loader.exec_module(self.binding)

    def count(self, good: bool, where: str, why: str = ""):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"{where}: {why}")

    def fenecql(self, database, block: str, where: str):
        for text, answers in steps(block):
            try:
                code, body = "OK", database.query(text)
            except self.binding.FenecError as e:
                code, body = e.name, None
            got = outcome(code, body)
            want = [normal(a) for a in answers]
            good = got == want if want else code == "OK"
            self.count(good, where, f"`{text.strip()}` answers {got}, the page says {want}")

    def program(self, command, where: str, folder: str):
        env = dict(os.environ, FENEC_LIB=self.library, FENEC_EXAMPLE=str(ROOT / "docs" / "examples" / "fenec.py"),
                    LD_LIBRARY_PATH=os.path.dirname(self.library))
        ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
        self.count(ran.returncode == 0, where, f"exit {ran.returncode}\n{ran.stdout}{ran.stderr}")

    def console(self, block: str, where: str, folder: str):
        status = 0
        for command, shown in session(block):
            words = shlex.split(command)
            if words[0] == "cat":
                (Path(folder) / words[1]).write_text(shown)
                continue
            if words == ["echo", "$?"]:
                got = f"{status}\n"
            else:
                # No terminal reads it here.
                words = [self.fenec] + words[1:] + (["--text"] if words[1] == "schema" else [])
                ran = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, timeout=120)
                status, got = ran.returncode, ran.stdout
            self.count(got == shown, where, f"`{command}` prints\n{got}the page says\n{shown}")

    def sessions(self, path: Path):
        with tempfile.TemporaryDirectory() as folder:
            for language, block, line in blocks(path.read_text()):
                if language == "console":
                    self.console(block, f"{path}:{line}", folder)

    def page(self, path: Path):
        database = self.binding.Fenec()
        text = path.read_text()
        if path.suffix == ".swift":
            text = "".join(COMMENT.sub("", line) if COMMENT.match(line) else "\n" for line in text.splitlines(True))
        for language, block, line in blocks(text):
            where = f"{path}:{line}"
            if language == "fenecql":
                self.fenecql(database, block, where)
            elif language in ("c", "python"):
                with tempfile.TemporaryDirectory() as folder:
                    source = Path(folder) / f"sample.{'c' if language == 'c' else 'py'}"
                    source.write_text(block)
                    if language == "python":
                        self.program([sys.executable, str(source)], where, folder)
                        continue
                    build = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", str(source),
                             self.library, f"-Wl,-rpath,{os.path.dirname(self.library)}", "-o", f"{folder}/sample"]
                    self.program(build, where, folder)
                    if (Path(folder) / "sample").exists():
                        self.program([f"{folder}/sample"], where, folder)
            elif language == "swift":
                self.count("".join(block.split()) in self.samples, where, "this sample is not in Samples*.swift")
        database.close()


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("paths", nargs="+", type=Path)
    ap.add_argument("--lib", required=True)
    ap.add_argument("--fenec")
    a = ap.parse_args()
    checker = Checker(a.lib)
    if a.fenec:
        checker.fenec, checker.page = os.path.abspath(a.fenec), checker.sessions
    for path in a.paths:
        pages = [p for p in path.rglob("*") if p.suffix in (".md", ".swift")] if path.is_dir() else [path]
        for page in sorted(pages):
            checker.page(page)
    print(f"documentation samples\n{checker.passed} passed, {checker.failed} failed")
    return 1 if checker.failed or not checker.passed else 0


if __name__ == "__main__":
    sys.exit(main())

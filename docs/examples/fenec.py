"""A complete binding of libfenec in Python, by ctypes alone.

    FENEC_LIB=build/libfenec.so python3 docs/examples/fenec.py
"""
import ctypes
import json
import os
import struct
import tempfile

CODES = {1: "TYPE", 2: "NOT_FOUND", 3: "EXISTS", 4: "DUPLICATE", 5: "CORRUPT", 6: "QUERY", 7: "IO", 8: "PLUGIN",
         9: "READ_ONLY", 10: "DENIED", 11: "PANIC", 12: "MISUSE", 13: "LOCKED", 14: "UNMET"}
NO_SYNC, IN_MEMORY, NO_AUTO_COMPACT = 1, 2, 4
PLAN, APPLY, FOLLOW, DESCRIBE = 0, 1, 2, 3


class FenecError(Exception):
    def __init__(self, code, body):
        super().__init__(body.get("message", "out of memory") if body else "out of memory")
        self.code, self.name = code, CODES.get(code, str(code))
        self.at, self.exact = (body or {}).get("at"), (body or {}).get("exact")


class Vector(list):
    """A list of numbers that goes over as 32-bit floats."""


def _library():
    c = ctypes.CDLL(os.environ.get("FENEC_LIB", "libfenec.so"))
    size, u64, pointer = ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p
    out = [ctypes.POINTER(pointer), ctypes.POINTER(size)]
    arguments = {
        "fenec_open": [ctypes.c_char_p, size, ctypes.c_uint32, ctypes.POINTER(u64)],
        "fenec_open_memory": [ctypes.POINTER(u64)],
        "fenec_close": [u64], "fenec_sync": [u64], "fenec_flush": [u64], "fenec_checkpoint": [u64],
        "fenec_query": [u64] + [ctypes.c_char_p, size] * 3,
        "fenec_changes": [u64, u64],
        "fenec_schema": [u64, ctypes.c_char_p, size, ctypes.c_uint32],
        "fenec_warm": [u64, ctypes.c_char_p, size],
    }
    for name, given in arguments.items():
        function = getattr(c, name)
        function.argtypes, function.restype = given + out, ctypes.c_int32
    c.fenec_version.restype = ctypes.c_char_p
    c.fenec_free_string.argtypes, c.fenec_free_string.restype = [pointer], None
    return c


_c = _library()


def _call(name, *arguments):
    """Calls a function, releases its answer, raises its error."""
    out, length = ctypes.c_void_p(), ctypes.c_size_t()
    code = getattr(_c, name)(*arguments, ctypes.byref(out), ctypes.byref(length))
    body = None
    if out.value:
        body = json.loads(ctypes.string_at(out.value, length.value))
        _c.fenec_free_string(out)
    if code != 0:
        raise FenecError(code, body)
    return body


def _parameters(values, exact=()):
    """The JSON array, and the vectors apart from it (those in `exact` stay in the JSON)."""
    apart, inside = b"", []
    for place, value in enumerate(values):
        if isinstance(value, Vector) and place not in exact:
            apart += struct.pack(f"<II{len(value)}f", place, len(value), *value)
            inside.append(None)
        else:
            inside.append(value)
    return json.dumps(inside, ensure_ascii=False).encode(), apart


class Fenec:
    """An open database. Without a path it lives in memory. May be used from many threads at once."""

    def __init__(self, path=None, flags=0):
        handle = ctypes.c_uint64()
        if path is None:
            _call("fenec_open_memory", ctypes.byref(handle))
        else:
            raw = os.fsencode(path)
            _call("fenec_open", raw, len(raw), flags, ctypes.byref(handle))
        self.handle = handle.value

    def query(self, text, *values):
        raw = text.encode()
        params, apart = _parameters(values)
        try:
            return _call("fenec_query", self.handle, raw, len(raw), params, len(params), apart, len(apart))
        except FenecError as e:
            if not e.exact:
                raise
            params, apart = _parameters(values, e.exact)
            return _call("fenec_query", self.handle, raw, len(raw), params, len(params), apart, len(apart))

    def rows(self, text, *values):
        return self.query(text, *values)["result"]["rows"]

    def changes(self, since=2**64 - 1):
        return _call("fenec_changes", self.handle, since)

    def schema(self, description, mode=APPLY):
        raw = json.dumps(description, ensure_ascii=False).encode()
        return _call("fenec_schema", self.handle, raw, len(raw), mode)

    def sync(self):
        _call("fenec_sync", self.handle)

    def close(self):
        _call("fenec_close", self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "todo.fenec")
        with Fenec(path) as db:
            db.query("create collection todo (title text required, done bool, tags [text], place vector<2>)")
            db.query("put todo {title: $1, done: false, tags: $2, place: $3}", "paint", ["home"], Vector([0.1, 0.2]))
            db.query("put todo $1", [{"title": "saw", "done": True}, {"title": "nail", "done": False}])
            try:
                db.query("put todo {done: true}")
                raise SystemExit("a required field was left out and nobody minded")
            except FenecError as e:
                assert e.name == "TYPE" and "title" in str(e)
            cursor = db.changes()["seq"]
            db.query("set todo {done: true} where title = $1 require 1", "nail")
            assert db.changes(cursor)["collections"] == ["todo"]
        with Fenec(path) as db:
            open_ones = db.rows("get todo select id, title, place where not done")
            assert open_ones == [{"id": 1, "title": "paint", "place": [0.1, 0.2]}], open_ones
            try:
                Fenec(path)
                raise SystemExit("a file was opened twice")
            except FenecError as e:
                assert e.name == "LOCKED"
    print("fenec", _c.fenec_version().decode(), "works from Python")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes csrc/base/unicode_tables.h from the files of one Unicode version.

    tools/unicode_tables.py [folder of UnicodeData.txt, default /usr/share/unicode]

The header is committed: what an index holds must not depend on the machine that builds. The folder is
that of Debian's package unicode-data; its version must be the one named here and in unicode.h.
"""

import re
import sys
from pathlib import Path

VERSION = "15.0.0"
ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")


def lines(name):
    """The fields of each line that is not only a comment."""
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        line = line.split("#")[0].strip()
        if line:
            yield [field.strip() for field in line.split(";")]


def span(text):
    first, _, last = text.partition("..")
    return range(int(first, 16), int(last or first, 16) + 1)


def check_version():
    head = (FOLDER / "PropList.txt").read_text("utf-8").splitlines()[0]
    if f"-{VERSION}.txt" not in head:
        sys.exit(f"{FOLDER} does not hold Unicode {VERSION}: {head}")
    if f'#define UNICODE_VERSION "{VERSION}"' not in (ROOT / "csrc/base/unicode.h").read_text("utf-8"):
        sys.exit(f"csrc/base/unicode.h does not name Unicode {VERSION}")


def characters_with(name, prop):
    return {c for fields in lines(name) if fields[1] == prop for c in span(fields[0])}


def unicode_data():
    """Characters of Nd, Nl, No, and the simple case mappings."""
    numbers, lower, upper, first = set(), {}, {}, None
    for f in lines("UnicodeData.txt"):
        c = int(f[0], 16)
        if f[1].endswith(", First>"):
            first = c
            continue
        if f[2] in ("Nd", "Nl", "No"):
            numbers.update(range(first if f[1].endswith(", Last>") else c, c + 1))
        if f[13]:
            lower[c] = int(f[13], 16)
        if f[12]:
            upper[c] = int(f[12], 16)
    return numbers, lower, upper


def special_casing():
    """Mappings to several characters that hold in every language and place."""
    lower, upper = {}, {}
    for f in lines("SpecialCasing.txt"):
        if len(f) > 4 and f[4]:
            continue
        c = int(f[0], 16)
        for table, text in ((lower, f[1]), (upper, f[3])):
            mapped = [int(x, 16) for x in text.split()]
            if len(mapped) > 1:
                table[c] = mapped
    return lower, upper


def ranges(characters):
    out = []
    for c in sorted(characters):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def case_ranges(mapping):
    """[first, last, stride, delta]: runs of every, or every second, character with one distance."""
    out = []
    for c in sorted(mapping):
        delta = mapping[c] - c
        if out:
            first, last, stride, before = out[-1]
            step = c - last
            if delta == before and step in (1, 2) and (first == last or step == stride):
                out[-1] = [first, c, step, delta]
                continue
        out.append([c, c, 1, delta])
    return out


def rows(items, width=106):
    text, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > width:
            text.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join(text + [line])


def property_table(name, characters):
    items = [f"{{0x{a:04X}, 0x{b:04X}}}" for a, b in ranges(characters)]
    return f"static const unicode_range {name}[] = {{\n{rows(items)}\n}};\n"


def case_table(name, mapping):
    items = [f"{{0x{a:04X}, 0x{b:04X}, {s}, {d}}}" for a, b, s, d in case_ranges(mapping)]
    return f"static const unicode_case {name}[] = {{\n{rows(items)}\n}};\n"


def special_table(name, mapping):
    items = []
    for c in sorted(mapping):
        to = mapping[c] + [0] * (3 - len(mapping[c]))
        items.append(f"{{0x{c:04X}, {{" + ", ".join(f"0x{x:04X}" if x else "0" for x in to) + "}}")
    return f"static const unicode_special {name}[] = {{\n{rows(items)}\n}};\n"


def main():
    check_version()
    numbers, lower, upper = unicode_data()
    special_lower, special_upper = special_casing()
    parts = [
        "/* unicode_tables.h - made by tools/unicode_tables.py; do not edit. Included by unicode.c alone. */\n"
        "#ifndef BASE_UNICODE_TABLES_H\n#define BASE_UNICODE_TABLES_H\n\n#include <stdint.h>\n\n"
        f"/* Unicode {VERSION}. All tables ascend. */\n"
        "typedef struct unicode_range {\n    uint32_t first, last;\n} unicode_range;\n\n"
        "/* Every stride-th character from first to last maps to itself plus delta. */\n"
        "typedef struct unicode_case {\n    uint32_t first, last, stride;\n    int32_t delta;\n"
        "} unicode_case;\n\n"
        "/* Up to three characters, 0 after the last. */\n"
        "typedef struct unicode_special {\n    uint32_t from, to[3];\n} unicode_special;\n",
        property_table("unicode_white_space", characters_with("PropList.txt", "White_Space")),
        property_table("unicode_alphabetic", characters_with("DerivedCoreProperties.txt", "Alphabetic")),
        property_table("unicode_numbers", numbers),
        property_table("unicode_cased", characters_with("DerivedCoreProperties.txt", "Cased")),
        property_table("unicode_case_ignorable",
                       characters_with("DerivedCoreProperties.txt", "Case_Ignorable")),
        case_table("unicode_to_lower", lower),
        case_table("unicode_to_upper", upper),
        special_table("unicode_special_lower", special_lower),
        special_table("unicode_special_upper", special_upper),
        "#endif\n",
    ]
    (ROOT / "csrc/base/unicode_tables.h").write_text("\n".join(parts), "utf-8")


main()

#!/usr/bin/env python3
"""No folder of the engine includes a header of a folder above it (check_layers.py csrc)."""
import re
import sys
from pathlib import Path

# Bottom first. A folder may include from itself and from those before it, except as SIBLINGS says.
LAYERS = ["base", "value", "ql", "store", "catalog", "search", "exec", "sync", "abi"]
SIBLINGS = {("store", "ql")}  # both sit on value: neither knows the other


def main(root: Path) -> int:
    wrong = 0
    for source in sorted(root.rglob("*.[ch]")):
        layer = source.relative_to(root).parts[0]
        if layer not in LAYERS:
            print(f"{source}: {layer} is no layer")
            wrong += 1
            continue
        for number, line in enumerate(source.read_text().splitlines(), 1):
            included = re.match(r'\s*#\s*include\s+"([a-z]+)/', line)
            if not included:
                continue
            target = included.group(1)
            upward = target not in LAYERS or LAYERS.index(target) > LAYERS.index(layer)
            if upward or (layer, target) in SIBLINGS:
                print(f"{source}:{number}: {layer} includes from {target}")
                wrong += 1
    print(f"layers: {wrong} includes go up" if wrong else "layers: no include goes up")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

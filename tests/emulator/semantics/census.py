"""Lists instruction forms whose values no test of this folder computes.

Run as `python tests/emulator/semantics/census.py`, from the root: runs the tests of the folder in
one process, then holds the opcodes they bound against the registry. Prints what is missing, a type
pattern or a modifier of one a line, and exits 1 if anything is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def missing() -> list[str]:
    """What no test has bound: `name.types`, or that and the modifiers."""
    from emulator.semantics.harness import SEEN
    from prismc.emulator.semantics.registry import find, parse_form, registered

    seen: dict[tuple[str, str], set[str]] = {}
    for opcode in SEEN:
        form = parse_form(opcode)
        seen.setdefault((find(form).name, ".".join(form.types)), set()).update(form.modifiers)
    found = []
    for row in registered():
        for types in row.types:
            bound = seen.get((row.name, types))
            if bound is None:
                found.append(f"{row.name}.{types}")
            elif row.modifiers - bound:
                found.append(f"{row.name}.{types}: {' '.join(sorted(row.modifiers - bound))}")
    return found


def main() -> int:
    root = HERE.parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]
    status = pytest.main([str(HERE), "-q", "-p", "no:xdist"])
    lines = missing()
    print(*lines, sep="\n")
    return status or int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())

"""The machine runs whatever the standard library and the emitter can write.

The test lists what is missing: the instruction, and the file that writes it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from prismc.emulator.execute.compute import SEMANTICS
from prismc.emulator.instructions import OPENERS
from prismc.emulator.semantics.registry import Form, Refused, find, parse_form, registered

ROOT = Path(__file__).resolve().parents[2]
PRISM = sorted((ROOT / "stdlib").glob("*.prism"))
PYTHON = [
    *sorted((ROOT / "src/prismc/backend/cuda").glob("*.py")),
    ROOT / "src/prismc/hardware/primitives.py",
]

# An instruction at the start of a statement, with or without a guard.
_STATEMENT = re.compile(
    r"(?:^|[;{}\n])\s*(?:@!?[%$\w]+\s+)?([a-z][a-z0-9_]*(?:\.[\w:$]+)+)(?=[\s;]|$)"
)
# A constant in the middle of a word: `m64n${N}k16`.
_BRACED = re.compile(r"\$\{(\w+)\}")
_PRISM_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _texts(path: Path) -> Iterator[str]:
    """String literals of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".prism":
        for line in text.splitlines():
            if "asm(" in line or line.lstrip().startswith('"'):
                yield from _PRISM_TEXT.findall(line)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _instructions() -> list[tuple[str, str]]:
    found = {
        (match, path.name)
        for path in (*PRISM, *PYTHON)
        for text in _texts(path)
        for match in _STATEMENT.findall(_BRACED.sub(r"$\1", text.replace("\\n", "\n")))
        if not match.startswith(("std.", "sm_", "x2.", "prismc."))
    }
    return sorted(found)


INSTRUCTIONS = _instructions()


def _is_run(form: Form) -> bool:
    """Whether the machine knows the form; parts with `$` may be anything that fits."""
    if form.name in OPENERS:
        return True
    if not any("$" in part for part in (*form.modifiers, *form.types)):
        try:
            find(form)
        except Refused:
            return False
        return True
    return any(family.name.partition(".")[0] == form.name for family in registered())


def test_there_is_something_to_list() -> None:
    assert SEMANTICS
    assert len(INSTRUCTIONS) > 40


@pytest.mark.parametrize(("opcode", "file"), INSTRUCTIONS)
def test_the_machine_runs(opcode: str, file: str) -> None:
    assert _is_run(parse_form(opcode)), f"{file} can write `{opcode}`"

"""`asm` statements: text with operand numbers to a C++ `asm volatile`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prismc.backend.cuda.expression import Expression, cast
from prismc.backend.cuda.writer import WIDTH
from prismc.hardware.scalars import Scalar

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "%": "%%"}


class Operand(NamedTuple):
    """One operand: `mode` is "=" (output), "+" (update) or "" (input)."""

    mode: str
    scalar: Scalar
    place: Expression

    def text(self) -> str:
        """`"=&f"(acc[0])`; constraints have no 8-bit registers, so inputs of 8 bits are widened.

        What is written takes `&` (early clobber): without it an update and an input of the same
        value share a register, and text of several instructions reads what it has overwritten.
        """
        place = self.place
        mode = f"{self.mode}&" if self.mode else ""
        if self.scalar.bits == 8 and not self.mode:
            place = cast("unsigned short" if self.scalar.kind.value != "signed" else "short", place)
        return f'"{mode}{self.scalar.ptx_register}"({place.text})'


def asm_statement(
    pieces: Sequence[str | int], operands: Sequence[Operand], *, touches_memory: bool
) -> str:
    """The statement. Each line of the PTX is a string literal of its own."""
    text = "".join(f"%{piece}" if isinstance(piece, int) else _escaped(piece) for piece in pieces)
    outputs = ", ".join(one.text() for one in operands if one.mode)
    inputs = ", ".join(one.text() for one in operands if not one.mode)
    lists = [outputs, inputs, '"memory"' if touches_memory else ""]
    while lists and not lists[-1]:
        lists.pop()
    literals = _literals(text)
    clauses = [f": {one}" if one else ":" for one in lists]
    if not lists and "%" in text:
        clauses = ["::"]  # only then `%%` is one percent sign
    line = f"asm volatile({' '.join((*literals, *clauses))});"
    if len(literals) == 1 and len(line) <= WIDTH:
        return line
    return "\n    ".join(("asm volatile(", *literals, *clauses)) + "\n);"


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(c, c) for c in text).replace("??", "?\\?")  # no trigraphs


def _literals(text: str) -> list[str]:
    """The text as string literals, cut after each line."""
    lines = text.split("\n")
    found = [f'"{line}\\n"' for line in lines[:-1]]
    return found + ([f'"{lines[-1]}"'] if lines[-1] or not found else [])

"""The texts of `print`: `%d` and its like against the types of what is printed.

A text is kept as C's `printf` needs it: lengths and signs follow from the types, and a line ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prismc.checker.types.model import ScalarType, Type
from prismc.checker.types.show import show
from prismc.diagnostics.words import counted
from prismc.hardware.scalars import Kind

_DIRECTIVE = re.compile(r"%([-+ #0]*\d*(?:\.\d+)?)(?:hh|h|ll|l|z|t|j)?([A-Za-z%]?)")
_INTEGERS = "diuoxXc"
_FLOATS = "fFeEgGaA"


class FormatError(NamedTuple):
    """What is wrong, what to do, and the position of the argument that it is about, if any."""

    reason: str
    advice: str
    argument: int | None = None


def printf_text(text: str, types: Sequence[Type]) -> str | FormatError:
    """The text for `printf` with arguments of these types, or what is wrong with it."""
    made, at, taken = "", 0, 0
    for match in _DIRECTIVE.finditer(text):
        made += text[at : match.start()]
        at = match.end()
        shape, letter = match.groups()
        if letter == "%":
            made += "%%"
            continue
        if letter == "" or letter not in _INTEGERS + _FLOATS:
            shown = match.group()
            return FormatError(
                f"it does not know `{shown}`",
                "use `%d`, `%u`, `%x` for integers, `%f`, `%e`, `%g` for floats",
            )
        if taken == len(types):
            return FormatError(
                f"its text prints more than the {counted(len(types), 'value')} after it",
                "write one value for each `%`",
            )
        wrong = _mismatch(match.group(), letter, types[taken], taken)
        if wrong is not None:
            return wrong
        made += f"%{shape}{_conversion(letter, types[taken])}"
        taken += 1
    if taken < len(types):
        return FormatError(
            f"its text prints {taken} of the {counted(len(types), 'value')} after it",
            "write one `%` for each value",
            taken,
        )
    made += text[at:]
    return made if made.endswith("\n") else f"{made}\n"


def _mismatch(shown: str, letter: str, of: Type, position: int) -> FormatError | None:
    if not isinstance(of, ScalarType):
        reason = f"{show(of)} is not printed as a whole"
        return FormatError(reason, "print its elements, which are scalars", position)
    if of.scalar.is_float == (letter in _FLOATS):
        return None
    fitting = "`%f`, `%e` or `%g`" if of.scalar.is_float else "`%d`, `%u` or `%x`"
    reason = f"`{shown}` does not print {show(of)}"
    return FormatError(reason, f"write {fitting}", position)


def _conversion(letter: str, of: Type) -> str:
    """Length and letter: 64 bits are `ll`, and decimals have their type's sign."""
    assert isinstance(of, ScalarType)
    if letter in "di" and of.scalar.kind is not Kind.SIGNED:
        letter = "u"
    is_long = letter in _INTEGERS and of.scalar.bits == 64
    return f"ll{letter}" if is_long else letter

"""What is wrong with a word or a character that is none of Prism's."""

from __future__ import annotations

import re

from prismc.diagnostics.problem import Fix, Problem
from prismc.frontend.errors import (
    BadNumber,
    Braces,
    ForeignSpelling,
    NonAsciiName,
    Semicolon,
    UnknownCharacter,
)
from prismc.frontend.literals import shorten
from prismc.source.span import Span

_NUMBER_FAULTS = (
    (r"0[0-7_]+|0[oO].*", "a number in octal, which Prism does not have"),
    (r"0[0-9_]+", "a zero before a number"),
    (r"0[xX].*", "`0x` and hexadecimal digits were expected"),
    (r"0[bB].*", "`0b` and digits 0 and 1 were expected"),
    (
        r"[0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9]+)?[fFlLuUdDhH]+",
        "a literal takes the type that it meets",
    ),
    (r"[0-9_.eE]*_[0-9_.eE]*", "a `_` stands between two digits only"),
    (r"[0-9.]*\.[0-9.]*\.[0-9.]*", "a second decimal point"),
    (r".*[eE]", "digits are missing after the `e`"),
)

# A number of C with its suffix: a float (`1.0f`, `1.f` is left alone), or an integer.
_SUFFIXED = re.compile(
    r"([0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[fF]|(?!0[0-9])([0-9]+)(?:[uUlL]+)"
)

# A stray character that another language uses: how Prism says it.
_FOREIGN = {
    "!": "write `not x`",
    "?": "write `a if c else b`",
    "'": "strings have double quotes",
    "\\": "a line goes on inside brackets; put the expression in `( )`",
    "`": "remove it",
}


def number_fault(text: str, at: Span) -> Problem:
    """Of a word that begins like a number and is none."""
    return BadNumber(
        at=at, text=shorten(text), reason=_reason(text), fixes=_without_suffix(text, at)
    )


def name_fault(name: str, at: Span) -> Problem:
    """Of a name that is not ASCII."""
    letter = next(letter for letter in name if not letter.isascii())
    point = f"U+{ord(letter):04X}"
    return NonAsciiName(at=at, name=shorten(name), letter=letter, code_point=point)


def character_fault(character: str, at: Span, *, ends_line: bool) -> Problem:
    if character == ";":
        fix = Fix(at=at, text="", title="remove the `;`")
        return Semicolon(at=at, fixes=(fix,) if ends_line else ())
    if character in "{}":
        return Braces(at=at)
    if character in _FOREIGN:
        return ForeignSpelling(at=at, written=character, instead=_FOREIGN[character])
    code_point = f"U+{ord(character):04X}"
    shown = f"`{character}` ({code_point})" if character.isprintable() else code_point
    return UnknownCharacter(at=at, character=shown)


def _without_suffix(text: str, at: Span) -> tuple[Fix, ...]:
    """`1.0f`, `8u`: the number without its suffix, which a literal here does not need."""
    match = _SUFFIXED.fullmatch(text)
    if match is None:
        return ()
    number = match[1] or match[2]
    return (Fix(at=at, text=number, title=f"write `{number}`"),)


def _reason(text: str) -> str:
    """Why `text`, which begins like a number, is none."""
    for pattern, reason in _NUMBER_FAULTS:
        if re.fullmatch(pattern, text):
            return reason
    return "a letter or sign that does not belong to a number"

"""PTX text as tokens (PTX ISA 4, "Syntax"). Comments, blanks and line ends are dropped."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from prismc.emulator.ptx.tree import Immediate, PtxError

_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\r\f]+|//[^\n]*|/\*.*?\*/)
    | (?P<newline>\n)
    | (?P<number>0[fF][0-9a-fA-F]{8}(?![0-9a-fA-F]) | 0[dD][0-9a-fA-F]{16}
               | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U?
               | [0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)? | [0-9]+[eE][+-]?[0-9]+ | [0-9]+U?)
    | (?P<word>\.?[A-Za-z_$%][\w$]*(?:(?:\.|::)[\w$]+)*)
    | (?P<string>"[^"\n]*")
    | (?P<mark>[-+*/!@|,;:(){}\[\]<>=&^~?])
    """,
    re.VERBOSE | re.DOTALL,
)

_PART = re.compile(r"\.[^.]+")


class Token(NamedTuple):
    """A token: kind is `number`, `word`, `string`, `mark` or `end`."""

    kind: str
    text: str
    line: int


def tokens_of(text: str, name: str) -> list[Token]:
    """All tokens of a PTX text, with an `end` token last.

    Raises PtxError at a character that starts no token.
    """
    found: list[Token] = []
    line, at = 1, 0
    match = _TOKEN.match
    while at < len(text):
        hit = match(text, at)
        if hit is None:
            raise PtxError(f"unexpected character {text[at]!r}", line, name)
        at = hit.end()
        kind = hit.lastgroup
        if kind == "newline":
            line += 1
        elif kind == "blank":
            line += hit.group().count("\n")
        elif hit.group().startswith("."):
            # `.reg.b32` is two directives; only an opcode keeps its dots.
            found.extend(Token("word", part, line) for part in _PART.findall(hit.group()))
        else:
            found.append(Token(kind or "", hit.group(), line))
    found.append(Token("end", "", line))
    return found


def immediate_of(text: str) -> Immediate:
    """The value of a number token; `0f` and `0d` literals keep their bits (PTX ISA 4.5)."""
    head = text[:2].lower()
    if head == "0f":
        return Immediate(int(text[2:], 16), "f32")
    if head == "0d":
        return Immediate(int(text[2:], 16), "f64")
    digits = text.rstrip("U")
    if head in ("0x", "0b"):
        return Immediate(int(digits, 0), "int")
    if "." in digits or "e" in digits.lower():
        return Immediate(int.from_bytes(struct.pack("<d", float(digits)), "little"), "f64")
    return Immediate(int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10), "int")

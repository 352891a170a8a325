"""What numbers and strings of the source stand for."""

from __future__ import annotations

import math
import re

_MAX_INTEGER = 2**64 - 1
_SHOWN = 40

_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", '"': '"', "'": "'", "?": "?",
}  # fmt: skip


def shorten(text: str) -> str:
    """The text as a message quotes it: a number may have a million digits."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}.."


def integer_value(text: str) -> int | None:
    """The value of an INTEGER token; None when it does not fit in 64 bits."""
    digits = text.replace("_", "")
    if len(digits) > 66:  # `0b` and 64 digits; leading zeros beyond that are not worth a big number
        return None
    value = int(digits, 0)
    return value if value <= _MAX_INTEGER else None


def float_value(text: str) -> float | None:
    """The f64 nearest to a FLOAT token; None when it is beyond the largest."""
    value = float(text.replace("_", ""))
    return None if math.isinf(value) else value


def string_value(token: str) -> tuple[str, list[tuple[int, str]]]:
    """The characters of a STRING token, and its unknown escapes with their offsets in it.

    Escapes are C's: the letters, `\\x` and up to two hexadecimal digits, up to three octal digits.
    """
    if "\\" not in token:
        return token[1:-1], []
    unknown: list[tuple[int, str]] = []

    def resolve(match: re.Match[str]) -> str:
        body = match[0][1:]
        if body[0] == "x" and len(body) > 1:
            return chr(int(body[1:], 16))
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        if body not in _ESCAPES:
            unknown.append((match.start(), match[0]))
        return _ESCAPES.get(body, "")

    return _ESCAPE.sub(resolve, token)[1:-1], unknown

"""Names of memory, for people: what programmers and the compiler call its parts."""

from __future__ import annotations

import re
from math import prod

from prismc.source.record import Value

_MANGLED_LENGTH = re.compile(r"(?<=\D)(\d+)(?=[A-Za-z_])")


class SharedArray(Value):
    """An array in shared memory: `start` bytes from where the kernel's shared variables start.

    `element` is the size of an element in bytes.
    """

    name: str
    start: int
    size: int
    element: int
    shape: tuple[int, ...]


def indexed(offset: int, element: int, shape: tuple[int, ...]) -> str:
    """The element at a byte offset as `[2, 3]`, with the rest in bytes if it is not a whole one."""
    index, rest = divmod(offset, element)
    places = []
    if not 0 <= index < prod(shape):
        places.append(index)
    else:
        for extent in reversed(shape):
            index, place = divmod(index, extent)
            places.append(place)
    text = ", ".join(str(place) for place in reversed(places))
    return f"[{text}]" + (f" + {rest} bytes" if rest else "")


def source_name(symbol: str) -> str:
    """The name a programmer gave: `tile` for `_ZZ5saxpyE4tile` (Itanium mangling of locals).

    A name follows its length; the last one is the innermost. Behind it stands what the compiler
    added.
    """
    name, at = symbol, 0
    while symbol.startswith("_Z") and (found := _MANGLED_LENGTH.search(symbol, at)):
        at = found.end()
        if at + int(found[1]) <= len(symbol):
            name = symbol[at : at + int(found[1])]
            at += len(name)
    return name

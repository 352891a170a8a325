"""Names of memory, for people: what the compiler calls the parts of shared memory."""

from __future__ import annotations

from math import prod

from prismc.source.record import Value


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

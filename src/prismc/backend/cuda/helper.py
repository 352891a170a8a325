"""What a small device function of generated text is."""

from __future__ import annotations

from prismc.source.record import Record


class Helper(Record):
    """The text of a function, and the other helpers that it calls."""

    text: str
    calls: tuple[str, ...] = ()


def function(signature: str, *body: str) -> str:
    """The text of a device function."""
    lines = "".join(f"    {line}\n" for line in body)
    return f"__device__ __forceinline__ {signature} {{\n{lines}}}\n"

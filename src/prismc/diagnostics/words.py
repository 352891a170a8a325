"""How problems count things."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

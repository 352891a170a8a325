"""Conditions over a kernel's parameters that its launch verifies: what `@assume` states."""

from __future__ import annotations

from prismc.hardware.scalars import Scalar
from prismc.source.record import Value


class Formula(Value):
    """A value that a host computes, of type `scalar`.

    `operator` is `parameter` (called `name`; a pointer only inside of `aligned`), `constant`,
    `aligned` (an address, and bytes as a constant), `not`, `negate`, `convert`, or one of two
    operands as the language spells it: `+ - * / % << >> & | ^ == != < <= > >= and or min max`.
    Integers behave as in C.
    """

    operator: str
    scalar: Scalar
    operands: tuple[Formula, ...] = ()
    name: str = ""
    constant: int | float | bool = 0


class Condition(Value):
    """One condition, as the program has it; `formula` is None where no host can compute it."""

    text: str
    formula: Formula | None

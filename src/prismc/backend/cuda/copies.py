"""Assignments that happen together, put in an order that gives the same result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from prismc.backend.cuda.expression import Expression, name
from prismc.ir.types import Type


class Copy(NamedTuple):
    """The variable `target` of type `type` becomes `source`; every source is read before any
    target is written."""

    target: str
    type: Type
    source: Expression


def in_order(copies: Sequence[Copy], save: Callable[[Copy], str]) -> list[Copy]:
    """The copies one after another, and no source read after its variables were overwritten.

    Where they form a circle, `save` keeps one source in a new variable and returns its name.
    """
    pending = list(copies)
    ordered: list[Copy] = []
    while pending:
        free = next((copy for copy in pending if _is_free(copy, pending)), None)
        if free is None:
            first = pending[0]
            pending[0] = first._replace(source=name(save(first)))
            continue
        pending.remove(free)
        ordered.append(free)
    return ordered


def _is_free(copy: Copy, pending: Sequence[Copy]) -> bool:
    """Whether no other pending copy still reads what this one overwrites."""
    return not any(other is not copy and copy.target in other.source.reads for other in pending)

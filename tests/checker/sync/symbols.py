"""Symbols that stand in the places of boxes, and what is known of them in two blocks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from prismc.checker.sync.equations import Numbers
from prismc.checker.sync.forms import BLOCK_WIDE, GRID_WIDE, Atom, Form, Origin, plus, symbol
from prismc.source.record import replace

LOOP = 1

_ORDERS = count()


def atom(
    name: str, origin: Origin | None = None, *, width: int = BLOCK_WIDE, step: int = 0
) -> Atom:
    """A symbol that is never negative; with a `step` it is a counter of the loop."""
    return Atom(
        name=name,
        order=next(_ORDERS),
        width=width,
        loops=(LOOP,) if step else (),
        step=step,
        is_regular=origin is None,
        natural_if=frozenset(),
        origin=origin,
    )


BLOCK = atom("block", Origin("block"))
COUNT = atom("count", Origin("count"), width=GRID_WIDE)
ACROSS = atom("across", width=GRID_WIDE)


def counter(start: Form, step: Form) -> Atom:
    """The counter of `range(start, .., step)`."""
    return atom("tile", Origin("range", (start, step)), step=1)


def divided(left: Form, sign: str, right: Form) -> Form:
    """A quotient or a remainder, which changes in the loops that its dividend changes in."""
    made = atom(f"({sign})", Origin(sign, (left, right)))
    loops = tuple(dict.fromkeys(loop for each in left for one in each for loop in one.loops))
    return symbol(replace(made, loops=loops))


def total(*forms: Form) -> Form:
    found: Form = {}
    for form in forms:
        added = plus(found, form)
        assert added is not None
        found = added
    return found


class Blocks(Numbers):
    """Two different blocks."""

    def is_same(self, atom: Atom) -> bool:
        return atom.width >= GRID_WIDE and not atom.loops

    def differs(self, atom: Atom) -> bool:
        return atom is BLOCK

    def later(self, counter: Atom) -> None:
        return None

    def are_both(self, mine: Mapping[int, int], other: Mapping[int, int]) -> bool:
        return True

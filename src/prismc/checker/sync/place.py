"""Where full barriers stand: the fewest places that put all conflicting accesses in order.

Every required order is an interval of places, from just after the earlier access to just before
the later one. In straight-line code the greedy choice (the last place of the interval that ends
first) stabs all intervals with the fewest points. In a loop the intervals lie on a circle: one of
them is stabbed at each of its places in turn and the rest greedily from there. Loops are planned
from the inside out, so a barrier stands in an inner loop only for what the inner loop itself needs;
an order between a loop and what is around it is made outside (A. Darte and R. Schreiber, "A
linear-time algorithm for optimal barrier placement", PPoPP 2005).
"""

from __future__ import annotations

from collections.abc import Callable

from prismc.checker.sync.circle import Circle
from prismc.checker.sync.conflicts import Conflicts
from prismc.checker.sync.graph import Loop, Region
from prismc.checker.sync.straight import Gaps, Insertion, Planned, Straight

# What plans the body of a loop in some code.
MakesCircle = Callable[[Straight, Loop], Circle]


def place_barriers(region: Region, conflicts: Conflicts, circle: MakesCircle = Circle) -> Planned:
    """Plan a function's body; `circle` makes what plans the body of a loop."""

    def plan_loop(around: Straight, loop: Loop) -> tuple[Planned, ...]:
        return circle(around, loop).options()

    return Straight(region, conflicts, plan_loop).sequence(region.body)


class Asking(Circle):
    """Tells whether the body of a loop needs barriers, wherever they would stand best."""

    def placements(self, chosen: list[Planned]) -> list[Gaps]:
        """No gap, or any."""
        first = self.first_interval(chosen)
        return [{} if first is None else {0: first[1]}]


def asked_barriers(region: Region, conflicts: Conflicts, loop: Loop) -> tuple[Insertion, ...]:
    """The barriers of some code, where those of the body of `loop` show only whether it needs
    any."""

    def circle(around: Straight, node: Loop) -> Circle:
        return (Asking if node is loop else Circle)(around, node)

    return place_barriers(region, conflicts, circle).insertions

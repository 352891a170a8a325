"""Arms of splits between which memory passes: where they stand, and what passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prismc.checker.sync.conflicts import Conflict
from prismc.checker.sync.coverage import first_thread, ranges_of, threads_in
from prismc.checker.sync.forms import Coefficient
from prismc.checker.sync.graph import (
    Arms,
    Choice,
    Commit,
    Loop,
    Node,
    Region,
    Sequence,
    groups_of,
    sequences_of,
)
from prismc.checker.sync.units import accesses_of
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK
from prismc.hardware.primitives import WARP_THREADS

Chain = tuple[tuple[Node, int], ...]


class Item(NamedTuple):
    """A node of the code around a loop's arms, or one of the arms, in the order of the text.
    `chain` are the choices (with the side) and inner loops around it, `loops` all loops."""

    node: Node
    chain: Chain
    loops: tuple[int, ...]


class Pair(NamedTuple):
    """What the arm `later` has to wait for in the arm `earlier` (numbers of items), the accesses of
    either, by number, and the conflicts that ask for it. It `is_wide` if blocks of a cluster wait
    for one another."""

    earlier: int
    later: int
    left: frozenset[int]
    taken: frozenset[int]
    roots: tuple[str, ...]
    is_wide: bool = False
    conflicts: tuple[Conflict, ...] = ()

    def turned(self) -> Pair:
        """What the first arm has to wait for in the second before it comes again."""
        return Pair(self.later, self.earlier, self.taken, self.left, self.roots, self.is_wide)


def unit_of(units: tuple[int, ...]) -> Coefficient:
    """For each thread which of several units it is in: each has a barrier of its own."""
    if len(units) == 1:
        return 0
    found = [0] * max(unit.bit_length() for unit in units)
    for number, unit in enumerate(units):
        for thread in threads_in(unit):
            found[thread] = number
    return tuple(found)


def items_of(
    nodes: Sequence, region: Region, chain: Chain, loops: tuple[int, ...], block: int
) -> Iterator[Item]:
    """The nodes of the code around the arms, and the arms, in the order of the text. Code of whole
    blocks of `block` threads is around arms, too."""
    for node in nodes:
        match node:
            case Arms(regions=regions):
                for arm in regions:
                    yield Item(arm, chain, loops)
            case Region(body=body) if node.units == region.units or node.has_whole(block):
                yield from items_of(body, region, chain, loops, block)
            case Choice(head=head, arms=arms):
                yield Item(head, chain, loops)
                for side, sequence in enumerate(arms):
                    yield from items_of(sequence, region, (*chain, (node, side)), loops, block)
            case Loop(head=head, test=test, body=body):
                inside = (*loops, node.loop)
                yield Item(head, chain, loops)
                yield Item(test, chain, inside)
                yield from items_of(body, region, (*chain, (node, 0)), inside, block)
            case _:
                yield Item(node, chain, loops)


class Code(NamedTuple):
    """A sequence in the code of `region`, with the loops around it; `loop` is the one whose body it
    is."""

    nodes: Sequence
    region: Region
    loops: tuple[int, ...]
    loop: Loop | None = None


def code_in(region: Region, loops: tuple[int, ...] = ()) -> Iterator[Code]:
    """All sequences of a region and of the regions in it, outer before inner."""
    yield from _code_of(region.body, region, loops, None)


def _code_of(
    nodes: Sequence, region: Region, loops: tuple[int, ...], loop: Loop | None
) -> Iterator[Code]:
    yield Code(nodes, region, loops, loop)
    for node in nodes:
        match node:
            case Loop(body=body):
                yield from _code_of(body, region, (*loops, node.loop), node)
            case Region():
                yield from code_in(node, loops)
            case Arms(regions=regions):
                for arm in regions:
                    yield from code_in(arm, loops)
            case _:
                for inner in sequences_of(node):
                    yield from _code_of(inner, region, loops, None)


def arms_of(items: Iterable[Item]) -> dict[int, int]:
    """The number of the arm that makes each access."""
    return {
        access.number: index
        for index, item in enumerate(items)
        if isinstance(item.node, Region)
        for access in accesses_of((item.node,))
    }


def can_pass(first: Item, second: Item) -> bool:
    """Whether two arms are arms of different warps that run equally often."""
    if first.chain != second.chain:
        return False
    if not isinstance(first.node, Region) or not isinstance(second.node, Region):
        return False
    return not warps_of(first.node.threads) & warps_of(second.node.threads)


def warps_of(threads: int) -> int:
    """The set of the warps of some threads."""
    warps, warp = 0, 0
    while threads >> warp * WARP_THREADS:
        if threads >> warp * WARP_THREADS & (1 << WARP_THREADS) - 1:
            warps |= 1 << warp
        warp += 1
    return warps


def pair_of(key: tuple[int, int], conflicts: list[Conflict], *, is_wide: bool = False) -> Pair:
    roots = dict.fromkeys(root.name for one in conflicts for root in one.earlier.roots)
    return Pair(
        earlier=key[0],
        later=key[1],
        left=frozenset(one.earlier.number for one in conflicts),
        taken=frozenset(one.later.number for one in conflicts),
        roots=tuple(roots),
        is_wide=is_wide,
        conflicts=tuple(conflicts),
    )


def innermost(
    arm: Node, numbers: frozenset[int], at: int, *, whole: bool = False
) -> tuple[Region, Node]:
    """The narrowest code that makes all of an arm's accesses with these numbers, and its first or
    last node that makes one; with `whole` code of whole warps."""
    if not isinstance(arm, Region):
        raise TypeError("memory passes between arms")
    touching = [node for node in arm.body if touches(node, numbers)]
    if len(touching) == 1 and not _is_of_products(touching[0]):
        inside = regions_at(touching[0], numbers)
        if len(inside) == 1 and (not whole or are_warps(inside[0].threads)):
            return innermost(inside[0], numbers, at, whole=whole)
    return arm, touching[at]


def regions_at(node: Node, numbers: frozenset[int]) -> list[Region]:
    """The regions that a node is, or holds as arms, and that make some of these accesses."""
    regions = node.regions if isinstance(node, Arms) else (node,)
    return [one for one in regions if isinstance(one, Region) and touches(one, numbers)]


def are_warps(threads: int) -> bool:
    """Whether a set of threads is one of whole warps."""
    return all(
        start % WARP_THREADS == 0 and end % WARP_THREADS == 0 for start, end in ranges_of(threads)
    )


def _is_of_products(node: Node) -> bool:
    """Whether a node is a scope of products, which are waited for behind it."""
    queue = Completion.PRODUCT_GROUP
    return isinstance(node, Region) and any(
        isinstance(last, Commit) and last.queue is queue for last in node.body
    )


def part_of(units: tuple[int, ...], threads: int, block: int) -> int | None:
    """Some threads of units of code, counted in their unit, or in their block where a unit has
    several; None if they are others in each."""
    if 0 < block < units[0].bit_count():
        units = groups_of(units, BLOCK, block)
    parts = {(unit & threads) >> first_thread(unit) for unit in units}
    return parts.pop() if len(parts) == 1 else None


def touches(node: Node, numbers: frozenset[int]) -> bool:
    """Whether a node makes one of these accesses."""
    return any(access.number in numbers for access in accesses_of((node,)))

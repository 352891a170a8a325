"""Pipelines as one step, with the slot in a register, instead of one step for each slot.

Synchronisation is derived from the unrolled loop, in which each slot has a name. Where its steps do
the same at the same places, each with the mbarriers of its slots, one step says it all: the
mbarriers of a ring lie side by side, and the slot of the iteration tells which is meant. A loop is
unrolled while it stays small, since then slots are constants; products of which the last may still
run behind the code (`lag.py`) ask for one step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from prismc.checker.sync.lag import Lag
from prismc.checker.sync.plan import (
    MBARRIER_KINDS,
    Edge,
    Mbarrier,
    Pipeline,
    Position,
    Shape,
    SyncKind,
    SyncOperation,
    Where,
)
from prismc.checker.sync.weight import is_large, loops_in
from prismc.checker.types import typed
from prismc.checker.types.turns import steps_of
from prismc.checker.types.walk import bodies_of, statements_in
from prismc.source.record import Record, replace
from prismc.source.span import Span

# The bits of a ring's phases lie in one register.
MOST_SLOTS = 32

Operations = Sequence[SyncOperation]


class Turning(Record):
    """A pipeline whose steps are alike. `steps` are the numbers of each step's operations in the
    plan, in the order of the text; `rings` the mbarriers that one operation names in turn, by the
    step."""

    loop: typed.For
    steps: tuple[tuple[int, ...], ...]
    rings: tuple[tuple[int, ...], ...]


class Choice(Record):
    """What becomes of the pipelines of one function; `turning` are those to be written as one
    step."""

    pipelines: tuple[Pipeline, ...]
    turning: tuple[Turning, ...]

    @property
    def behind(self) -> frozenset[int]:
        """The ids of the loops whose products run on."""
        return frozenset(one.loop for one in self.pipelines if one.shape is Shape.BEHIND)


def choose_shapes(
    body: typed.Body,
    bodies: Mapping[str, typed.Body],
    operations: Operations,
    mbarriers: Mapping[int, Mbarrier],
    lags: Mapping[int, Lag],
    whole: frozenset[int],
) -> Choice:
    """The shape of each pipeline. `operations` are those of the unrolled function, each with an
    mbarrier of its own for each slot; those for products that may run on, of `lags`, are marked.
    Loops of `whole` cannot end early, as they would as one step."""
    loops = [one for one in loops_in(body) if one.turns is not None and one.turns.slots > 1]
    nested = {
        id(one)
        for outer in loops
        for inner in statements_in(outer.body)
        if isinstance(inner, typed.For) and inner.turns is not None
        for one in (outer, inner)
    }
    pipelines: list[Pipeline] = []
    turning: list[Turning] = []
    for loop in loops:
        assert loop.turns is not None
        found = None if id(loop) in nested else _turning(loop, operations, mbarriers)
        if found is not None and not _agree((*turning, found)):
            found = None
        shape = Shape.MANY if loop.turns.slots > MOST_SLOTS else Shape.UNLIKE
        shape = Shape.NESTED if id(loop) in nested else shape
        if loop.id in whole:
            found, shape = None, Shape.OPEN
        if found is not None:
            shape = Shape.LARGE if is_large(loop, bodies) else Shape.FEW
            if _may_lag(found, operations):
                shape = Shape.BEHIND
        if found is not None and shape.is_rolled:
            turning.append(found)
        made = Pipeline(loop=loop.id, at=loop.span, slots=loop.turns.slots, shape=shape)
        if shape is Shape.BEHIND:
            lag = lags[loop.id]
            made = replace(made, registers=lag.registers, arm=lag.arm)
        pipelines.append(made)
    return Choice(pipelines=tuple(pipelines), turning=tuple(turning))


# --------------------------------------------------------------------------- likeness


def _turning(
    loop: typed.For, operations: Operations, mbarriers: Mapping[int, Mbarrier]
) -> Turning | None:
    """The loop with its operations, step by step; None if its steps are not alike."""
    assert loop.turns is not None
    if loop.turns.slots > MOST_SLOTS:
        return None
    steps: list[tuple[int, ...]] = []
    shown: list[tuple[object, ...]] = []
    for step in steps_of(loop):
        places = positions_in(step)
        inside = [at for at, one in enumerate(operations) if one.position in places]
        steps.append(tuple(inside))
        shown.append(
            tuple(
                (places[operations[at].position], *_alike(operations[at], mbarriers))
                for at in inside
            )
        )
    if any(each != shown[0] for each in shown):
        return None
    rings = tuple(
        dict.fromkeys(
            tuple(operations[at].barrier for at in each)
            for each in zip(*steps, strict=True)
            if operations[each[0]].kind in MBARRIER_KINDS
        )
    )
    rings = tuple(ring for ring in rings if len(set(ring)) > 1)
    return Turning(loop=loop, steps=tuple(steps), rings=rings)


def positions_in(step: tuple[typed.Statement, ...]) -> dict[Position, tuple[Where, int]]:
    """Where operations may stand in a step, counted without the conditions that an iteration
    exists: these are left out where it does for certain."""
    found: dict[Position, tuple[Where, int]] = {}
    _number(step, found, 0)
    return found


def _number(
    statements: Iterable[typed.Statement], found: dict[Position, tuple[Where, int]], first: int
) -> int:
    """Number statements in the order of the text; the next free number."""
    for statement in statements:
        is_guard = isinstance(statement, typed.If) and statement.is_guard
        before, after = (Where.BEFORE, first), (Where.AFTER, first)
        first += not is_guard
        for body in bodies_of(statement):
            first = _number(body, found, first)
        if is_guard:
            last = bodies_of(statement)[0][-1]
            after = found[Position(where=Where.AFTER, anchor=last.id)]
        found[Position(where=Where.BEFORE, anchor=statement.id)] = before
        found[Position(where=Where.AFTER, anchor=statement.id)] = after
    return first


def _alike(operation: SyncOperation, mbarriers: Mapping[int, Mbarrier]) -> tuple[object, ...]:
    """What has to be the same in every step."""
    named: object = operation.barrier
    if operation.kind in MBARRIER_KINDS:
        one = mbarriers[operation.barrier]
        named = (
            one.copies, one.unit, one.arrivals, one.has_credit, one.is_async, one.blocks,
            one.is_remote,
        )  # fmt: skip
    return (
        operation.kind, operation.participants, operation.lanes, operation.count, operation.unit,
        len(operation.registers), operation.is_behind, operation.part, named,
    )  # fmt: skip


def _may_lag(turning: Turning, operations: Operations) -> bool:
    """Whether products run on, and what they give free late is waited for two iterations later at
    the earliest: then no iteration waits for what it is to give free itself."""
    late = [step for step in zip(*turning.steps, strict=True) if operations[step[0]].is_behind]
    freed = [
        tuple(operations[at].barrier for at in step)
        for step in late
        if operations[step[0]].kind is SyncKind.MBARRIER_ARRIVE
    ]
    waited = [
        tuple(operations[at].barrier for at in step)
        for step in zip(*turning.steps, strict=True)
        if operations[step[0]].kind is SyncKind.MBARRIER_WAIT
    ]
    distances = [
        (turned(ring, other) or 0) for ring in freed for other in waited if set(ring) == set(other)
    ]
    return bool(freed) and 1 not in distances


def _agree(turning: Sequence[Turning]) -> bool:
    """Whether rings that share an mbarrier name the same ones, in the same order."""
    rings = [ring for one in turning for ring in one.rings]
    return all(
        len(set(ring)) == len(ring)
        and all(set(ring).isdisjoint(other) or turned(ring, other) is not None for other in rings)
        for ring in rings
    )


def turned(ring: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """By how much one ring is the other one turned; None if it is not."""
    for by in range(len(ring)):
        if (*other[by:], *other[:by]) == ring:
            return by
    return None


def rings_of(turning: Iterable[Turning]) -> tuple[tuple[int, ...], ...]:
    """The mbarriers that lie side by side, each once."""
    found: list[tuple[int, ...]] = []
    for ring in (ring for one in turning for ring in one.rings):
        if all(set(ring).isdisjoint(known) for known in found):
            found.append(ring)
    return tuple(found)


# --------------------------------------------------------------------------- one step


def with_one_step(
    operations: Operations, turning: Iterable[Turning], mbarriers: Mapping[int, Mbarrier]
) -> tuple[SyncOperation, ...]:
    """The operations of a function without those of the later steps of pipelines that are written
    as one; the first step's speak for them, with their reasons."""
    made: dict[int, SyncOperation | None] = {}
    for one in turning:
        for each in zip(*one.steps, strict=True):
            made |= dict.fromkeys(each)
            made[each[0]] = _of_all([operations[at] for at in each], mbarriers)
    spans = [one.loop.span for one in turning]
    for at, operation in enumerate(operations):
        if at not in made:
            other = replace(operation, edges=tuple(_after_any_slot(operation, spans)))
            # A late one that is none of a step's stands behind the loop.
            made[at] = _late(other, mbarriers) if operation.is_behind else other
    kept = (made[at] for at in range(len(operations)))
    return tuple(operation for operation in kept if operation is not None)


def _of_all(each: Sequence[SyncOperation], mbarriers: Mapping[int, Mbarrier]) -> SyncOperation:
    first = each[0]
    turns = first.kind in MBARRIER_KINDS and mbarriers[first.barrier].slots > 1
    edges = {
        (edge.earlier.at, edge.later.at, edge.hazard, edge.around_loop): _of_any_slot(edge)
        for one in reversed(each)
        for edge in reversed(one.edges)
    }
    made = replace(first, edges=tuple(reversed(edges.values())), turns=turns)
    return _late(made, mbarriers) if made.is_behind else made


def _of_any_slot(edge: Edge) -> Edge:
    sides = (
        replace(side, root=any_slot(side.root)) if "[" in side.root else side
        for side in (edge.earlier, edge.later)
    )
    earlier, later = sides
    return replace(edge, earlier=earlier, later=later)


def _after_any_slot(operation: SyncOperation, loops: Sequence[Span]) -> Iterator[Edge]:
    """The edges of an operation outside loops that are one step, each once: what comes out of one,
    and what a late operation behind it orders in it, may be of any slot."""
    found: set[object] = set()
    for edge in operation.edges:
        earlier, later = edge.earlier.at, edge.later.at
        comes = [loop for loop in loops if _is_inside(earlier, loop)]
        if any(operation.is_behind or not _is_inside(later, loop) for loop in comes):
            edge = _of_any_slot(edge)
        roots = (edge.earlier.root, edge.later.root)
        key = (earlier, later, roots, edge.hazard, edge.around_loop)
        if key not in found:
            found.add(key)
            yield edge


def _is_inside(at: Span, loop: Span) -> bool:
    return at.file == loop.file and loop.start <= at.start < loop.end


def any_slot(root: str) -> str:
    """The name of a ring's slots, of all in turn: `S[*]` for `S[2]`."""
    return re.sub(r"\[\d+\]", "[*]", root)


def _late(operation: SyncOperation, mbarriers: Mapping[int, Mbarrier]) -> SyncOperation:
    """The operation of a step whose products run on: a wait that leaves the newest pending, the
    slot before given free; a fence that hands over nothing, since the products have it still."""
    if operation.kind is SyncKind.WAIT_PRODUCTS:
        return replace(operation, count=operation.count + 1, registers=())
    if operation.kind is SyncKind.FENCE_PRODUCTS:
        return replace(operation, registers=())
    slots = mbarriers[operation.barrier].slots
    return replace(operation, slot=(operation.slot - 1) % slots, turns=True)


def scopes_of(turning: Iterable[Turning]) -> frozenset[int]:
    """The ids of the statements of pipelines that are written as one step."""
    return frozenset(
        statement.id for one in turning for statement in statements_in(steps_of(one.loop)[0])
    )

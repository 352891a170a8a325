"""Slots that pipelines fill and empty: nothing is on its way to them at a kernel's end.

A pipeline that fills slots ahead fills iterations only that exist, and each of these is consumed
before its loop ends (`docs/language.md`, "Pipelines"). So where the consumer of a slot touches it,
which waits for the loads, the loads of every iteration have been waited for. What is left behind
the loop are the arrivals of iterations that do not exist, which bring nothing: whoever fills the
slot again has to wait for their phase, but nobody has to at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from prismc.checker.sync.edit import Edits, edited
from prismc.checker.sync.graph import Access, Node, Root, Sequence, Step, Summary
from prismc.checker.sync.split import Loads
from prismc.checker.types import typed
from prismc.checker.types.turns import Turns, steps_of
from prismc.checker.types.walk import statements_in
from prismc.source.record import replace

_Body = tuple[typed.Statement, ...]


def emptied_roots(body: _Body, loads: Mapping[int, Loads], made: Iterable[Access]) -> set[Root]:
    """The memory of a kernel that nothing but such loads comes to later; `loads` are those of each
    scope, `made` all accesses."""
    if not loads:
        return set()
    accesses = tuple(made)
    waited = {
        scope
        for turns, prologue, loop in _pipelines(body)
        for scope in _waited_for(turns, prologue, loop, loads, accesses)
    }
    complete = {
        one
        for one in loads.values()
        if waited.issuperset(one.scopes) and not any(root.is_mirrored for root in one.roots)
    }
    filled = {root for one in complete for root in one.roots}
    others = [
        root
        for access in accesses
        if access.queue is not None and access.queue not in complete
        for root in access.roots
    ]
    return {root for root in filled if not any(root.overlaps(other) for other in others)}


def without_ends(nodes: Sequence, ends: Iterable[Step], emptied: Collection[Root]) -> Sequence:
    """The code of a kernel, whose memory ends at the steps `ends` of it, without the ends of what
    is `emptied`. (No return stands in a pipeline, so those are none of one that runs.)"""
    fewer: dict[Node, Node] = {}
    without: list[Node] = []
    for step in ends:
        left = tuple(event for event in step.events if not _is_end_of(event, emptied))
        if not left:
            without.append(step)
        elif len(left) < len(step.events):
            fewer[step] = replace(step, events=left)
    if not fewer and not without:
        return nodes
    return edited(nodes, Edits(without=without, instead=fewer))


def _is_end_of(event: Access | Summary, emptied: Collection[Root]) -> bool:
    return isinstance(event, Access) and all(root in emptied for root in event.roots)


def _pipelines(body: _Body) -> Iterator[tuple[Turns, _Body, typed.For]]:
    """The pipelines that fill slots ahead: what they fill before their loop, and the loop. (Nothing
    may leave one early, see P0410.)"""
    for statement in statements_in(body):
        if not isinstance(statement, typed.Block) or not statement.body:
            continue
        *before, loop = statement.body
        if not isinstance(loop, typed.For) or loop.turns is None or not loop.turns.has_tail:
            continue
        yield loop.turns, tuple(one for one in before if isinstance(one, typed.Block)), loop


def _waited_for(
    turns: Turns,
    prologue: _Body,
    loop: typed.For,
    loads: Mapping[int, Loads],
    accesses: Iterable[Access],
) -> Iterator[int]:
    """The scopes whose loads the consumer of their slot touches."""
    steps = steps_of(loop)
    touched = [_touched(consume, accesses) for *_, consume in steps]
    ahead = [(slot, produce) for slot, produce in enumerate(prologue)]
    inside = [((at - 1) % turns.slots, produce) for at, (produce, *_) in enumerate(steps)]
    for slot, produce in (*ahead, *inside):
        for scope in statements_in((produce,)):
            filled = loads.get(scope.id)
            if filled is not None and not touched[slot].isdisjoint(filled.roots):
                yield scope.id


def _touched(consume: typed.Statement, accesses: Iterable[Access]) -> set[Root]:
    """What a consumer touches by the names of its slots."""
    views = {
        (view.variable.id,)
        for statement in statements_in((consume,))
        if isinstance(statement, typed.Narrow)
        for view in statement.views
    }
    return {
        root
        for access in accesses
        if any(use.view in views for use in access.views)
        for root in access.roots
    }

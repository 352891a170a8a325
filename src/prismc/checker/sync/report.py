"""Tells what the sync pass found: orders that cannot be made, and races that a narrowing makes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

from prismc.checker.sync.choose import VERBS, earlier_note
from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import two_threads
from prismc.checker.sync.errors import (
    InsideStatement,
    NarrowCode,
    NoOrderBetweenBlocks,
    NoPlace,
    NoPlaceInGrid,
    OverlappingIterations,
    OverlappingPieces,
    UnbalancedLoads,
    UnfinishedCopy,
)
from prismc.checker.sync.graph import ENDED, Access, Graph, ViewUse
from prismc.checker.sync.grid import Clash, Witness
from prismc.checker.sync.loads import Unbalanced
from prismc.checker.sync.meetings import Meeting
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.refine import Barrier
from prismc.checker.sync.split import LoadPhase, Loads
from prismc.checker.sync.tiles import shared_element
from prismc.checker.sync.units import Apart, conflicts_of_units
from prismc.checker.sync.verify import Verdict
from prismc.diagnostics.problem import Problem, Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.source.record import replace

_STAY = "any of the values may stay"
_SEEN = "the old or the new value may be read"
_PLAIN = {"READ": "read", "WRITE": "write", "UPDATE": "update"}


def report_conflicts(verdict: Verdict, sink: Sink) -> None:
    """Conflicts that no barrier settles: inside one statement, or where none can stand."""
    for conflict in verdict.inside:
        sink.report(
            InsideStatement(
                at=conflict.later.at,
                root=_root(conflict.later),
                verb=VERBS[conflict.later.kind.name],
                related=_earlier(conflict),
            )
        )
    for conflict in verdict.conflicts:
        sink.report(
            NoPlace(
                at=conflict.later.at,
                root=_root(conflict.later),
                verb=VERBS[conflict.later.kind.name],
                related=(earlier_note(conflict),),
            )
        )


def report_unfinished(left: Iterable[Conflict], sink: Sink) -> None:
    """Copies that may still be on their way where no wait can stand."""
    for conflict in left:
        sink.report(
            UnfinishedCopy(
                at=conflict.later.at,
                root=_root(conflict.later),
                verb=VERBS[conflict.later.kind.name],
                related=_earlier(conflict),
            )
        )


def report_unbalanced(wrong: Mapping[Loads, Unbalanced], sink: Sink) -> None:
    """Loads that are not waited for by the same threads each time."""
    for loads, found in wrong.items():
        other = found.other
        message = "others come here"
        related = () if other is None else (Related(at=other.span, message=message),)
        roots = " and ".join(f"`{name}`" for name in sorted(root.name for root in loads.roots))
        sink.report(UnbalancedLoads(at=found.node.span, roots=roots, related=related))


def report_units(
    graph: Graph, conflicts: Conflicts, unbalanced: Collection[Loads], sink: Sink
) -> None:
    """Conflicts between units that run the same code on their own; those of `unbalanced` loads have
    been told as what they are."""
    for apart in conflicts_of_units(graph, conflicts):
        if _is_of(apart.first, unbalanced) or _is_of(apart.second, unbalanced):
            continue
        if apart.pieces is not None:
            _report_pieces(apart, apart.pieces, conflicts, sink)
            continue
        verb = VERBS[apart.first.kind.name]
        sink.report(
            NarrowCode(
                at=apart.second.at,
                root=_root(apart.second),
                needs=str(_order_of(apart.around.perspective)),
                code_perspective=str(apart.region.perspective),
                verb=VERBS[apart.second.kind.name],
                related=(
                    Related(at=apart.first.at, message=f"`{_root(apart.first)}` {verb} here"),
                    Related(
                        at=apart.region.span,
                        message=f"the code is {apart.region.perspective} from here on",
                    ),
                ),
            )
        )


def _is_of(access: Access, loads: Collection[Loads]) -> bool:
    """Whether an access is one of these loads, or one to their phase."""
    phases = (root.loads for root in access.roots if isinstance(root, LoadPhase))
    return any(each in loads for each in (access.queue, *phases))


def _order_of(perspective: Perspective) -> Perspective:
    """Whom a barrier at a code perspective brings together: a block, in code of the grid."""
    return BLOCK if perspective.level is Level.GRID else perspective


def report_overlaps(
    graph: Graph,
    conflicts: Conflicts,
    barriers: Iterable[Barrier],
    told: set[int],
    sink: Sink,
) -> None:
    """Stores whose threads certainly meet, in one execution or in different iterations.

    `told` are the views of callees that were reported there, whatever they are given: their calls
    say nothing new. This function's are added.
    """
    overlapping = [
        access
        for access in graph.accesses
        if access.kind is AccessKind.WRITE
        and (access.views or _is_of_map(access))
        and not access.for_engines
        and _overlaps_at_once(access, conflicts)
    ]
    for access in overlapping:
        if not access.views or access.views[-1].view[-1] not in told:
            sink.report(_overlap(access, _own_overlap(access, conflicts)))
    told.update(access.views[-1].view[-1] for access in overlapping if access.views)
    for barrier in barriers:
        for reason in barrier.reasons:
            if _is_own_edge(reason) and not _overlaps_at_once(reason.later, conflicts):
                first, second = two_threads(reason.earlier_threads, reason.later_threads)
                sink.report(
                    OverlappingIterations(
                        at=reason.later.at,
                        root=_root(reason.later),
                        first=first,
                        second=second,
                        related=_pieces_of(reason.later),
                    )
                )


def _is_own_edge(reason: Conflict) -> bool:
    """Whether a store meets itself in another iteration, for certain."""
    return reason.earlier is reason.later and reason.is_exact and reason.hazard == "WAW"


def _overlaps_at_once(access: Access, conflicts: Conflicts) -> bool:
    """Whether a store meets itself in one execution, for certain: that is told, once."""
    own = _own_overlap(access, conflicts)
    return own.is_exact and bool(own.classes)


def _own_overlap(access: Access, conflicts: Conflicts) -> Meeting:
    """For whom one store meets itself."""
    everyone = (access.footprint.threads,)
    crossed = tuple((loop, ENDED) for loop in sorted(access.own_loops))
    return conflicts.meeting(access, access, crossed, everyone)


def _overlap(access: Access, meeting: Meeting) -> OverlappingPieces:
    first, second = two_threads(*meeting.classes[0])
    is_whole = not access.footprint.common
    element = str(meeting.element) if is_whole else f"{meeting.element} of a piece"
    return OverlappingPieces(
        at=access.at,
        root=_root(access),
        first=first,
        second=second,
        element=element if access.footprint.tile is None else _of_box(access, first, second),
        related=_pieces_of(access),
    )


def _of_box(access: Access, first: int, second: int) -> str:
    """The element of a tensor that two threads touch."""
    places, is_whole = shared_element(access.footprint, first, second)
    element = f"[{', '.join(map(str, places))}]"
    return element if is_whole else f"{element} of a tile"


def _is_of_map(access: Access) -> bool:
    return all(root.is_map for root in access.roots)


def _pieces_of(access: Access) -> tuple[Related, ...]:
    """Where the pieces come from that an access goes through."""
    if not access.views:
        return ()
    return (pieces_note(access.views[-1]),)


def pieces_note(view: ViewUse) -> Related:
    """Where a narrowing gives pieces."""
    return Related(at=view.at, message=f"`{view.name}` names each one's piece from here on")


def _report_pieces(apart: Apart, pieces: Meeting, conflicts: Conflicts, sink: Sink) -> None:
    """Pieces of one view that meet where no barrier can stand, if their stores alone do not."""
    for access in (apart.first, apart.second):
        if access.kind is AccessKind.WRITE and _overlaps_at_once(access, conflicts):
            return
    found, root = _overlap(apart.first, pieces), _root(apart.first)
    if apart.second.kind is AccessKind.WRITE:
        note = Related(at=apart.first.at, message=f"`{root}` is written here")
        sink.report(replace(found, at=apart.second.at, related=(note,)))
        return
    note = Related(at=apart.second.at, message=f"`{root}` {VERBS[apart.second.kind.name]} here")
    wanted = _order_of(apart.around.perspective)
    sink.report(
        replace(
            found,
            doing="write and read",
            outcome=_SEEN,
            advice=f"read it into a variable first, in {wanted} code: a barrier can stand there",
            related=(note,),
        )
    )


def report_clashes(found: Iterable[Clash], sink: Sink, *, is_cooperative: bool) -> None:
    """Global memory that different blocks may touch without order."""
    overlapping: set[Access] = set()
    for clash in sorted(found, key=lambda c: c.earlier is not c.later):
        if clash.in_pieces:
            if overlapping.isdisjoint((clash.earlier, clash.later)):
                overlapping.update((clash.earlier, clash.later))
                _report_blocks_overlap(clash, sink)
            continue
        told: Callable[..., Problem] = (
            NoPlaceInGrid if is_cooperative else partial(NoOrderBetweenBlocks, way=_way(clash))
        )
        sink.report(
            told(
                at=clash.later.at,
                root=_root(clash.later),
                verb=_PLAIN[clash.later.kind.name],
                other_verb=_PLAIN[clash.earlier.kind.name],
                example=_example(clash),
                related=(_clash_note(clash),),
            )
        )


def _way(clash: Clash) -> str:
    """What helps, besides two kernels."""
    root = _root(clash.later)
    keep = f"let each block keep to its own part of `{root}`"
    is_map = all(each.roots[0].is_map for each in (clash.earlier, clash.later))
    if not is_map or clash.witness is not None:
        return f"or {keep}"
    return f"{keep}, or state that it does: `assume(disjoint({root}))` in `unsafe`"


def _report_blocks_overlap(clash: Clash, sink: Sink) -> None:
    """Pieces of blocks that certainly overlap, as those of threads may."""
    witness = clash.witness
    assert witness is not None, "only what is certain is told of pieces"
    is_write = clash.earlier.kind is AccessKind.WRITE and clash.later.kind is AccessKind.WRITE
    sink.report(
        OverlappingPieces(
            at=clash.later.at,
            root=_root(clash.later),
            units="blocks",
            first=witness.first,
            second=witness.second,
            element=_place(witness),
            doing="both write" if is_write else "write and read",
            outcome=_STAY if is_write else _SEEN,
            advice="choose an offset that keeps the elements of each block apart",
            related=_pieces_of(clash.later)
            if clash.earlier is clash.later
            else (_clash_note(clash),),
        )
    )


def _clash_note(clash: Clash) -> Related:
    verb = VERBS[clash.earlier.kind.name]
    return Related(at=clash.earlier.at, message=f"`{_root(clash.earlier)}` {verb} here")


def _place(witness: Witness) -> str:
    return ", ".join(map(str, witness.element))


def _example(clash: Clash) -> str:
    witness = clash.witness
    if witness is None:
        return "not shown to stay in the block's own part"
    verb = _PLAIN[clash.later.kind.name]
    element = f"{_root(clash.later)}[{_place(witness)}]"
    return f"block {witness.second} {verb}s {element} of block {witness.first}"


def _earlier(conflict: Conflict) -> tuple[Related, ...]:
    """The earlier access, if it is not the statement itself."""
    return (earlier_note(conflict),) if conflict.earlier.at != conflict.later.at else ()


def _root(access: Access) -> str:
    return ", ".join(root.name for root in access.roots)

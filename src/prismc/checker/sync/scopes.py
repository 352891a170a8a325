"""The end of an asynchronous scope: its operations are committed, and loads are arrived for."""

from __future__ import annotations

from prismc.checker.sync.accesses import Accesses, Here
from prismc.checker.sync.arms import unit_of
from prismc.checker.sync.coverage import BULK_WRITES, NONE, Queue, commit, then
from prismc.checker.sync.footprints import unknown_footprint
from prismc.checker.sync.graph import (
    Access,
    Commit,
    Exit,
    Flow,
    Pending,
    Sequence,
    Step,
    Summary,
    nodes_in,
)
from prismc.checker.sync.plan import AccessKind, Position, Where
from prismc.checker.sync.roots import Path
from prismc.checker.sync.split import LoadPhase, Loads
from prismc.checker.sync.units import accesses_of
from prismc.checker.types import typed
from prismc.hardware.asynchronous import Completion


class Arrivals:
    """Makes the arrivals of those who issue loads, as accesses to the phases of these."""

    def __init__(self, accesses: Accesses) -> None:
        self._accesses = accesses
        self._phases: dict[Loads, Path] = {}

    def arrival(self, loads: Loads, statement: typed.Narrow, nodes: Sequence, here: Here) -> Access:
        """The arrival of those who issue loads, as an access to their phase; the first one is made
        with that of the waits."""
        at = statement.header
        if loads not in self._phases:
            is_wide = any(unit.bit_count() > self._accesses.block > 0 for unit in here.units)
            # A block's next loads may bring bytes to a block that still waits for its last ones.
            is_shared = any(root.is_mirrored for root in loads.roots)
            is_one = is_wide or is_shared or len(here.units) == 1
            phase = LoadPhase(
                name=loads.content,
                span=at,
                base=0 if is_one else unit_of(here.units),
                is_local=is_wide and not is_shared,
                loads=loads,
                unit=self._accesses.threads if is_one else here.units[0].bit_count(),
            )
            self._phases[loads] = path = Path(roots=(phase,))
            self._accesses.add(AccessKind.READ, path, unknown_footprint(here.threads), here, at)
        issuers = 0
        for access in accesses_of(nodes):
            issuers |= access.footprint.threads if access.queue == loads else 0
        path, footprint = self._phases[loads], unknown_footprint(issuers)
        return self._accesses.add(AccessKind.UPDATE, path, footprint, here, at, queue=loads)


def queues_of(nodes: Sequence) -> tuple[Queue, ...]:
    """What the operations of a scope queue up for; a scope without any is one of copies, so that
    their count does not depend on it."""
    found: dict[Queue, None] = {}
    for node in nodes_in(nodes):
        for event in node.events if isinstance(node, Step) else ():
            for pending in _pending(event):
                queue = pending.access.queue
                is_done = queue is None or pending.after.groups(queue).commits
                if queue is not None and not is_done and queue is not BULK_WRITES:
                    found[queue] = None
    return tuple(found) or (Completion.COPY_GROUP,)


def _pending(event: Access | Summary) -> tuple[Pending, ...]:
    if isinstance(event, Access):
        return (Pending(access=event, after=NONE),)
    return tuple(item for _, flow in event.exits for item in flow.pending)


def commit_of(statement: typed.Narrow, queue: Queue, nodes: Sequence) -> Commit:
    """The end of an asynchronous scope. The scope is one node, so that what its copies have to wait
    for stands in front of it. A group of bulk stores is one of what they write, too."""
    order = commit(queue)
    written = (access.queue is BULK_WRITES for access in accesses_of(nodes))
    if queue is Completion.BULK_GROUP and any(written):
        order = then(order, commit(BULK_WRITES))
    flow = Flow(through=order, pending=())
    return Commit(
        before=Position(where=Where.AFTER, anchor=statement.id),
        span=statement.header,
        events=(Summary(entries=(), exits=((Exit.NORMAL, flow),)),),
        queue=queue,
    )

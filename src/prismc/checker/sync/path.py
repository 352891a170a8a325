"""A path through nodes, one after the other, and what is behind on it.

`State` goes through a sequence forwards and keeps the accesses that are behind, each with the order
made since (the dataflow of pending accesses with coverage). Everything larger is built from the
summaries of its parts, so that each node is looked at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from prismc.checker.sync.conflicts import Conflict, Conflicts, is_hazard
from prismc.checker.sync.coverage import NONE, Coverage, both, then
from prismc.checker.sync.flow import NOTHING, Key, crossed, either, merged, ordered, touch
from prismc.checker.sync.graph import PREVIOUS, Access, Entry, Exit, Flow, Pending, Step, Summary
from prismc.checker.sync.passage import Passage
from prismc.checker.sync.plan import AccessKind

# The numbers of an earlier and a later access.
Pair = tuple[int, int]

# So many accesses are looked at one by one.
_FEW = 16


class State:
    """A path through a sequence of nodes, in code whose units are `units`."""

    def __init__(self, conflicts: Conflicts, units: tuple[int, ...]) -> None:
        self._conflicts = conflicts
        self._units = units
        self._pending: dict[int, dict[Key, Pending]] = {}
        self._copied: dict[int, None] = {}  # the memory of copies that are or were behind
        # The order in which keys of `_pending` first came, and the keys of each access.
        self._position: dict[Key, int] = {}
        self._keys: dict[int, list[Key]] = {}
        self._entries: dict[Key, Entry] = {}
        self._exits: dict[Exit, Flow] = {}
        self._through = NONE
        # The orders made so far, and how many of them are part of what each access and all of each
        # memory's know: they are looked at together where the memory is touched again.
        self._passage = Passage()
        self._now = 0  # the number of orders
        self._seen: dict[Key, int] = {}
        self._fresh: dict[int, int] = {}
        self._changed: dict[int, None] = {}  # the memory of accesses that are no reads
        self.is_live = True

    def expect(self, pending: Iterable[Pending]) -> None:
        """Put accesses behind that are no part of the sequence itself."""
        self._add(pending)

    def copy(self) -> State:
        """The same place on the path, to go on from in another way."""
        other = State(self._conflicts, self._units)
        other._pending = {memory: dict(behind) for memory, behind in self._pending.items()}
        other._copied = dict(self._copied)
        other._position = dict(self._position)
        other._keys = {number: list(keys) for number, keys in self._keys.items()}
        other._entries, other._exits = dict(self._entries), dict(self._exits)
        other._through, other.is_live = self._through, self.is_live
        other._passage, other._now = self._passage.copy(), self._now
        other._seen = dict(self._seen)
        other._fresh, other._changed = dict(self._fresh), dict(self._changed)
        return other

    def conflict(self, summary: Summary) -> Conflict | None:
        """The first access of a node that needs an order after something that is behind."""
        return next(self.conflicts(summary), None)

    def conflicts(self, summary: Summary) -> Iterator[Conflict]:
        """All accesses of a node that need an order after something that is behind."""
        if not self.is_live:
            return
        for entry in summary.entries:
            kind = entry.access.kind
            for pending in self._near(entry.access):
                if is_hazard(pending.access.kind, kind):
                    found = self._conflicts.between(pending, entry, self._units)
                    if found is not None:
                        yield found

    def _near(self, access: Access) -> Iterable[Pending]:
        """What is behind and may meet an access, in the order of the path."""
        behind = self._beside(access)
        near = self._conflicts.near(access) if len(behind) > _FEW else None
        if near is None or len(near) >= len(behind):
            return behind.values()
        keys = (key for number in near for key in self._keys.get(number, ()) if key in behind)
        return [behind[key] for key in sorted(keys, key=self._position.__getitem__)]

    def unfinished(
        self, summary: Summary, early: Collection[Pair] = ()
    ) -> Iterator[tuple[Conflict, int]]:
        """All accesses of a node that touch what copies behind may still be filling or reading,
        each with the age of the copies' group. Waits in the node come too late for `early` ones."""
        if not self.is_live:
            return
        for entry in summary.entries if self._copied else ():
            memory = self._conflicts.memory_of(entry.access)
            behind = self._beside(entry.access) if memory in self._copied else {}
            for pending in behind.values():
                if is_hazard(pending.access.kind, entry.access.kind):
                    is_early = (pending.access.number, entry.access.number) in early
                    reached = entry._replace(before=NONE) if is_early else entry
                    found = self._conflicts.unfinished(pending, reached)
                    if found is not None:
                        queue = pending.access.queue
                        assert queue is not None
                        yield found, pending.after.groups(queue).commits - 1

    def barrier(self, order: Coverage) -> None:
        """All threads of each unit wait for one another here, or what else `order` says happens."""
        self._through = then(self._through, order)
        self._passage.add(order)
        self._now += 1

    def _beside(self, access: Access) -> dict[Key, Pending]:
        """What is behind of an access' memory; nothing where all of that only reads, as it does."""
        memory = self._conflicts.memory_of(access)
        only_reads = access.kind is AccessKind.READ and memory not in self._changed
        return {} if only_reads else self._behind(memory)

    def _behind(self, memory: int) -> dict[Key, Pending]:
        """What is behind of some memory, with all orders made since."""
        behind = self._pending.get(memory)
        if behind is None:
            return {}
        if self._fresh.get(memory) != self._now:
            self._fresh[memory] = self._now
            seen = self._seen
            for key, pending in tuple(behind.items()):
                if seen[key] != self._now:
                    self._bring(key, pending, behind)
        return behind

    def _bring(self, key: Key, pending: Pending, behind: dict[Key, Pending]) -> Pending | None:
        """An access with all orders made since; None, and no longer behind, if it is settled."""
        order = self._passage.since(self._seen[key])
        self._seen[key] = self._now
        moved = ordered(pending, order)
        if moved is pending:
            return pending
        if self._conflicts.is_settled(moved):
            del behind[key]
            return None
        behind[key] = moved
        return moved

    def apply(self, summary: Summary) -> None:
        """Go past a node."""
        if not self.is_live or summary is NOTHING:
            return
        self._enter(summary)
        normal: Flow | None = None
        for kind, flow in summary.exits:
            if kind is Exit.NORMAL:
                normal = flow
            else:
                self._leave(kind, flow)
        if normal is None:
            self.is_live = False
            return
        if not normal.through.is_nothing:
            self.barrier(normal.through)
        self._add(normal.pending)

    def cross(self, loop: int) -> None:
        """Take the back edge of a loop: all that is behind lies in the previous iteration."""
        behind = self.behind()
        self._pending, self._copied, self._changed, self._fresh = {}, {}, {}, {}
        self._add(crossed(item, loop, PREVIOUS) for item in behind)

    def behind(self) -> tuple[Pending, ...]:
        """The accesses that are behind here."""
        return tuple(item for memory in self._pending for item in self._behind(memory).values())

    def summary(self) -> Summary:
        """The sequence as one node."""
        exits = dict(self._exits)
        if self.is_live:
            exits[Exit.NORMAL] = Flow(through=self._through, pending=self.behind())
        return Summary(entries=tuple(self._entries.values()), exits=tuple(exits.items()))

    def _enter(self, summary: Summary) -> None:
        through, entries = self._through, self._entries
        is_complete = self._conflicts.is_complete
        if is_complete(through):
            return
        for entry in summary.entries:
            before = then(through, entry.before)
            if is_complete(before):
                continue
            key = (entry.access.number, entry.at)
            known = entries.get(key)
            if known is None:
                entries[key] = entry if before is entry.before else entry._replace(before=before)
            elif known.before is not before:
                shared = both(known.before, before)
                if shared is not known.before:
                    entries[key] = entry._replace(before=shared)

    def _leave(self, kind: Exit, flow: Flow) -> None:
        pending = [ordered(item, flow.through) for item in self.behind()]
        leaving = Flow(through=then(self._through, flow.through), pending=(*pending, *flow.pending))
        known = self._exits.get(kind)
        self._exits[kind] = leaving if known is None else either([known, leaving])

    def _add(self, added: Iterable[Pending]) -> None:
        """Put accesses behind that come just before here. Most of what walks do is this."""
        conflicts, now, seen, position = self._conflicts, self._now, self._seen, self._position
        for pending in added:
            if conflicts.is_settled(pending):
                continue
            access, _, crossings = pending
            memory = conflicts.memory_of(access)
            behind = self._pending.get(memory)
            if behind is None:
                behind = self._pending[memory] = {}
            if access.queue is not None:
                self._copied[memory] = None
            if access.kind is not AccessKind.READ:
                self._changed[memory] = None
            key = (access.number, crossings)
            if key not in position:
                position[key] = len(position)
                self._keys.setdefault(access.number, []).append(key)
                known = None
            else:
                known = behind.get(key)
                if known is not None and seen[key] != now:
                    known = self._bring(key, known, behind)
            if known is not pending:
                behind[key] = pending if known is None else merged(known, pending)
            seen[key] = now


class Copies(State):
    """A path on which only copies that may be pending count as what is behind."""

    def _add(self, added: Iterable[Pending]) -> None:
        super()._add(item for item in added if item.access.queue is not None)


def in_sequence(conflicts: Conflicts, summaries: Iterable[Summary]) -> Summary:
    """Nodes one after the other, with nothing between them."""
    state = State(conflicts, ())
    for summary in summaries:
        state.apply(summary)
    return state.summary()


def step_summary(conflicts: Conflicts, step: Step) -> Summary:
    """A step's events one after the other."""
    known = conflicts.steps.get(step)
    if known is None:
        events = [event if isinstance(event, Summary) else touch(event) for event in step.events]
        known = in_sequence(conflicts, events) if events else NOTHING
        conflicts.steps[step] = known
    return known


def iteration_of(conflicts: Conflicts, test: Summary, body: Summary) -> Summary:
    """One iteration of a loop: its test, then its body."""
    return body if test is NOTHING else in_sequence(conflicts, (test, body))

"""Builds synchronisation graphs by hand, and runs them: a small happens-before machine.

The machine knows nothing of coverage or placement. It runs every thread's accesses in the order of
the program with vector clocks; a barrier joins the clocks of its unit. Two accesses to one element,
one of them a write, without order are a race, whatever the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from prismc.checker.sync.conflicts import Conflicts
from prismc.checker.sync.footprints import Point, footprint_of
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Exit,
    Graph,
    Jump,
    Loop,
    Node,
    Region,
    Root,
    Step,
    ViewUse,
)
from prismc.checker.sync.place import place_barriers
from prismc.checker.sync.plan import AccessKind, Position, Where
from prismc.checker.sync.refine import Barrier, refine
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.source.span import Span

READ, WRITE, UPDATE = AccessKind.READ, AccessKind.WRITE, AccessKind.UPDATE
Index = Callable[[int, Mapping[int, int]], int]


class Builder:
    """Builds one graph of a block of `threads` threads; statement ids double as places."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.everyone = (1 << threads) - 1
        self.accesses: list[Access] = []
        self.roots: dict[str, Root] = {}
        self.index_of: dict[int, Index] = {}
        self.trips: dict[int, int] = {}
        self._ids = 0
        self._loops: list[tuple[int, int | None]] = []

    def new_id(self) -> int:
        self._ids += 1
        return self._ids

    def span(self) -> Span:
        number = self.new_id()
        return Span("graph", number, number + 1)

    def before(self) -> Position:
        return Position(where=Where.BEFORE, anchor=self.new_id())

    def root(self, name: str) -> Root:
        return self.roots.setdefault(name, Root(name=name, span=self.span()))

    def access(
        self,
        kind: AccessKind,
        root: str,
        index: Index,
        *,
        threads: int | None = None,
        views: tuple[ViewUse, ...] = (),
    ) -> Access:
        """`index(thread, iterations)` of `root`, for each of `threads`; iterations by loop id, of
        loops with constant bounds."""
        mask = self.everyone if threads is None else threads
        counted = [(loop, trips) for loop, trips in self._loops if trips is not None]
        points = []
        for counters in product(*(range(trips) for _, trips in counted)):
            at = dict(zip((loop for loop, _ in counted), counters, strict=True))
            offsets = tuple(index(thread, at) for thread in range(self.threads))
            points.append(Point(counters=counters, form={(): offsets}, threads=mask, rows={}))
        footprint = footprint_of(
            tuple(points), tuple(loop for loop, _ in counted), 1, is_certain=True
        )
        access = Access(
            number=len(self.accesses),
            roots=(self.root(root),),
            kind=kind,
            footprint=footprint,
            views=views,
            loops=tuple(loop for loop, _ in self._loops),
            own_loops=(),
            at=self.span(),
        )
        self.accesses.append(access)
        self.index_of[access.number] = index
        return access

    def step(self, *events: Access) -> Step:
        return Step(before=self.before(), span=self.span(), events=events)

    def choice(
        self, body: Callable[[], Sequence[Node]], otherwise: Callable[[], Sequence[Node]]
    ) -> Choice:
        return Choice(
            before=self.before(),
            span=self.span(),
            head=self.step(),
            arms=(tuple(body()), tuple(otherwise())),
        )

    def loop(
        self,
        body: Callable[[], Sequence[Node]],
        *,
        trips: int | None = None,
        test: Callable[[], Step] | None = None,
    ) -> Loop:
        """A loop of `trips` iterations, or of any number."""
        before, number = self.before(), self.new_id()
        self._loops.append((number, trips))
        if trips is not None:
            self.trips[number] = trips
        tested = test() if test is not None else self.step()
        nodes = tuple(body())
        self._loops.pop()
        return Loop(
            before=before,
            span=self.span(),
            loop=number,
            head=self.step(),
            test=tested,
            body=nodes,
            runs=bool(trips),
            trips=trips or 0,
            ends=True,
            end=Position(where=Where.AFTER, anchor=self.new_id()),
        )

    def group(self, size: int, body: Sequence[Node], within: int | None = None) -> Region:
        """Code of the aligned units of `size` threads in `within`."""
        threads = self.everyone if within is None else within
        unit = (1 << size) - 1
        units = tuple(
            unit << start for start in range(0, self.threads, size) if threads >> start & 1
        )
        return self.region(Perspective(Level.THREAD, size), units, body)

    def arms(self, *bodies: tuple[int, Sequence[Node]]) -> Arms:
        """Arms of so many threads each, from thread 0 on."""
        regions, start = [], 0
        for size, body in bodies:
            unit = ((1 << size) - 1) << start
            regions.append(self.region(Perspective(Level.THREAD, size), (unit,), body))
            start += size
        return Arms(before=self.before(), span=self.span(), regions=tuple(regions))

    def region(
        self, perspective: Perspective, units: tuple[int, ...], body: Sequence[Node]
    ) -> Region:
        return Region(
            before=self.before(),
            span=self.span(),
            perspective=perspective,
            units=units,
            body=tuple(body),
        )

    def jump(self, kind: Exit) -> Jump:
        return Jump(before=self.before(), span=self.span(), exit=kind)

    def graph(self, body: Sequence[Node]) -> Graph:
        return Graph(
            symbol="graph",
            everyone=self.everyone,
            top=self.region(BLOCK, (self.everyone,), body),
            accesses=tuple(self.accesses),
        )


def plan(graph: Graph) -> tuple[Barrier, ...]:
    """The barriers of a graph; nothing may be left without order."""
    conflicts = Conflicts(graph.everyone, graph.accesses)
    placed = place_barriers(graph.top, conflicts)
    barriers, verdict = refine(graph, conflicts, placed.insertions, 1)
    assert verdict.conflicts == ()
    assert verdict.inside == ()
    return barriers


# --------------------------------------------------------------------------- the machine

MOST_TRIPS = 3
MOST_RUNS = 600

Places = Mapping[tuple[Node, bool], tuple[int, ...]]


class Decisions:
    """What one execution decides, in order: an arm each time a choice runs, the iterations each
    time an open loop runs. Beyond `chosen` it takes the first possibility."""

    def __init__(self, chosen: list[int]) -> None:
        self._chosen = chosen
        self.made: list[tuple[int, int]] = []

    def decide(self, possibilities: int) -> int:
        place = len(self.made)
        choice = self._chosen[place] if place < len(self._chosen) else 0
        self.made.append((choice, possibilities))
        return choice

    def next(self) -> list[int] | None:
        """The decisions of the execution after this one; None after the last."""
        rest = list(self.made)
        while rest:
            choice, possibilities = rest.pop()
            if choice + 1 < possibilities:
                return [done for done, _ in rest] + [choice + 1]
        return None


class _Leave(Exception):
    def __init__(self, kind: Exit) -> None:
        super().__init__(kind)
        self.kind = kind


class Machine:
    """Runs a graph of `threads` threads with barriers in `places`; `races` is what it found."""

    def __init__(
        self, builder: Builder, graph: Graph, places: Places, decisions: Decisions
    ) -> None:
        self._index_of = builder.index_of
        self._trips = builder.trips
        self._decisions = decisions
        self._threads = builder.threads
        self._places = places
        self._clocks = [[0] * builder.threads for _ in range(builder.threads)]
        self._touched: dict[tuple[str, int], list[tuple[int, int, Access]]] = {}
        self._iterations: dict[int, int] = {}
        self.races: set[tuple[int, int]] = set()
        self._sequence(graph.top.body, graph.everyone)

    def _sequence(self, nodes: Sequence[Node], threads: int) -> None:
        for node in nodes:
            self._barriers((node, False), threads)
            self._node(node, threads)

    def _barriers(self, place: tuple[Node, bool], threads: int) -> None:
        for unit in self._places.get(place, ()):
            if unit & threads:
                members = [t for t in range(self._threads) if unit >> t & 1]
                joined = [max(self._clocks[t][s] for t in members) for s in range(self._threads)]
                for t in members:
                    self._clocks[t] = list(joined)

    def _node(self, node: Node, threads: int) -> None:
        match node:
            case Step(events=events):
                for event in events:
                    assert isinstance(event, Access)
                    self._access(event, threads)
            case Choice(head=head, arms=arms):
                self._node(head, threads)
                self._sequence(arms[self._decisions.decide(2)], threads)
            case Region(units=units, body=body):
                for unit in units:
                    self._sequence(body, unit)
            case Arms(regions=regions):
                for region in regions:
                    self._node(region, threads)
            case Jump(exit=kind):
                raise _Leave(kind)
            case Loop():
                self._loop(node, threads)

    def _loop(self, node: Loop, threads: int) -> None:
        self._node(node.head, threads)
        try:
            counted = self._trips.get(node.loop)
            trips = self._decisions.decide(MOST_TRIPS + 1) if counted is None else counted
            for iteration in range(trips):
                self._iterations[node.loop] = iteration
                self._node(node.test, threads)
                try:
                    self._sequence(node.body, threads)
                    self._barriers((node, True), threads)
                except _Leave as leave:
                    if leave.kind is not Exit.CONTINUE:
                        raise
            self._node(node.test, threads)
        except _Leave as leave:
            if leave.kind is not Exit.BREAK:
                raise

    def _counters(self, access: Access) -> Mapping[int, int]:
        return {loop: self._iterations[loop] for loop in access.footprint.loops}

    def _access(self, access: Access, threads: int) -> None:
        index = self._index_of[access.number]
        mask = access.footprint.threads & threads
        events = []
        for thread in range(self._threads):
            if mask >> thread & 1:
                self._clocks[thread][thread] += 1
                place = (access.roots[0].name, index(thread, self._counters(access)))
                events.append((thread, place))
        for thread, place in events:
            before = self._touched.setdefault(place, [])
            for other, clock, earlier in before:
                kinds = {earlier.kind, access.kind}
                is_race = kinds not in ({READ}, {UPDATE}) and self._clocks[thread][other] < clock
                if is_race and other != thread:
                    self.races.add((earlier.number, access.number))
            before.append((thread, self._clocks[thread][thread], access))


def places_of(barriers: Sequence[Barrier]) -> dict[tuple[Node, bool], tuple[int, ...]]:
    return {barrier.key: barrier.units for barrier in barriers}


def races(builder: Builder, graph: Graph, places: Places) -> set[tuple[int, int]]:
    """All races of all executions, or of the first `MOST_RUNS`."""
    found: set[tuple[int, int]] = set()
    chosen: list[int] | None = []
    for _ in range(MOST_RUNS):
        if chosen is None:
            break
        decisions = Decisions(chosen)
        found |= Machine(builder, graph, places, decisions).races
        chosen = decisions.next()
    return found

"""The protocol of one function (`liveness.py`): what its threads do at the barriers of its plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping

from prismc.checker.sync.between import GridBarrier
from prismc.checker.sync.coverage import ranges_of
from prismc.checker.sync.graph import (
    Arms,
    Choice,
    Commit,
    Exit,
    Graph,
    Jump,
    Loop,
    Node,
    Region,
    Sequence,
    Step,
    Summary,
    Wait,
    nodes_in,
)
from prismc.checker.sync.lag import Lag
from prismc.checker.sync.liveness import (
    Act,
    Behind,
    BlockedPlan,
    Drain,
    Either,
    Gate,
    Item,
    Leave,
    Operation,
    Protocol,
    Repeat,
    Team,
    check_liveness,
)
from prismc.checker.sync.refine import Barrier
from prismc.checker.sync.split import Arrive, Await, Loads, SplitBarrier
from prismc.hardware.asynchronous import Completion
from prismc.source.span import Span

# A place in words: `line 12`.
Words = Callable[[Span], str]
Places = Mapping[tuple[Node, bool], Barrier]


def require_liveness(
    graph: Graph,
    barriers: Iterable[Barrier],
    loads: Mapping[Loads, SplitBarrier],
    lags: Iterable[Lag] = (),
) -> None:
    """See to it that the threads of a function cannot block one another, with products that run on
    in the loops of `lags`. Raises BlockedPlan."""

    def place(span: Span) -> str:
        return f"at {span.start}"

    fault = check_liveness(protocol_of(graph, barriers, loads, place, lags))
    if fault is not None:
        raise BlockedPlan("\n".join((fault.message, *fault.schedule)))


def protocol_of(
    graph: Graph,
    barriers: Iterable[Barrier],
    loads: Mapping[Loads, SplitBarrier],
    words: Words,
    lags: Iterable[Lag] = (),
) -> Protocol:
    """What the threads of a function do, class by class: those that run the same code are a team.

    The threads of one unit have one barrier, at which they may meet in one place only. A call that
    makes threads wait for one another counts as a barrier of these; where some wait for others, the
    others arrive at a gate of the call's. The barriers of `loads` count the arrivals of
    those that issue them; the bytes come by themselves. Of `lags` a step's products are waited for,
    and what they use is given free, in the next step or behind the loop.
    """
    places = {barrier.key: barrier for barrier in barriers}
    masks = _teams(graph, places)
    writer = _Writer(graph.everyone, places, loads, words, tuple(lags))
    teams = tuple(
        Team(
            name=_name(mask),
            threads=mask.bit_count(),
            body=tuple(writer.sequence(graph.top.body, mask, graph.everyone)),
        )
        for mask in masks
    )
    return Protocol(teams=teams, gates=writer.gates)


def _teams(graph: Graph, places: Places) -> list[int]:
    """The sets of threads that nothing tells apart: neither code nor barriers."""
    found = [graph.everyone]
    units = [unit for each in places.values() for unit in each.units]
    nodes = tuple(nodes_in(graph.top.body))
    calls = (order for step in _steps(nodes) for order in _orders(step, graph.everyone))
    units += (threads for order in calls for threads in order)
    for node in nodes:
        if isinstance(node, Arrive | Await):
            units += (*node.barrier.units, node.barrier.arrivers, node.barrier.waiters)
        if isinstance(node, Commit):
            units.append(node.arrivers)
    for unit in dict.fromkeys((*units, *_units_of(graph.top, places, graph.everyone))):
        found = [part for mask in found for part in (mask & unit, mask & ~unit) if part]
    return found


def _units_of(region: Region, places: Places, everyone: int) -> Iterator[int]:
    """The units of code that holds something to wait for."""
    for node in _parts(region.body):
        for inner in node.regions if isinstance(node, Arms) else (node,):
            if isinstance(inner, Region):
                within = tuple(_units_of(inner, places, everyone))
                if within or _waits(inner, places, everyone):
                    yield from (*inner.units, *within)


def _waits(region: Region, places: Places, everyone: int) -> bool:
    """Whether threads wait for one another in code of a region itself."""
    nodes = tuple(_parts(region.body))
    return any(
        (node, False) in places or (node, True) in places or _is_half(node) for node in nodes
    ) or any(_orders(step, everyone) for step in _steps(nodes))


def _is_half(node: Node) -> bool:
    """Whether a node is an arrival or a wait at a split barrier, or for bulk loads."""
    of_loads = isinstance(node, Commit | Wait) and isinstance(node.queue, Loads)
    return of_loads or isinstance(node, Arrive | Await)


def _parts(nodes: Sequence) -> Iterator[Node]:
    """The nodes of one perspective."""
    for node in nodes:
        yield node
        match node:
            case Choice(arms=arms):
                for arm in arms:
                    yield from _parts(arm)
            case Loop(body=body):
                yield from _parts(body)


def _steps(nodes: Iterable[Node]) -> Iterator[Step]:
    for node in nodes:
        for part in (getattr(node, "head", None), getattr(node, "test", None), node):
            if isinstance(part, Step):
                yield part


def _orders(step: Step, everyone: int) -> tuple[tuple[int, int], ...]:
    """Of `everyone` the sets of threads for which a step's calls make others wait, each with these.
    Numbers of arrivals, which stand behind those of threads in orders, are nobody."""
    found: list[tuple[int, int]] = []
    for event in step.events:
        exits = event.exits if isinstance(event, Summary) else ()
        behind: dict[int, int] = {}
        for through in (flow.through for kind, flow in exits if kind is Exit.NORMAL):
            for sources, reach in through.classes:
                waiting = reach & everyone
                behind[waiting] = behind.get(waiting, 0) | sources & everyone
        found += ((sources, waiting) for waiting, sources in behind.items() if sources and waiting)
    return tuple(found)


class _Writer:
    """Writes down what one team does; `gates` are all that it has met."""

    def __init__(
        self,
        everyone: int,
        places: Places,
        loads: Mapping[Loads, SplitBarrier],
        words: Words,
        lags: tuple[Lag, ...],
    ) -> None:
        self._everyone = everyone
        self._places = places
        self._loads = loads
        self._words = words
        self._lags = {lag.loop.loop: lag for lag in lags}
        self._late: dict[Node, Lag] = {
            node: lag for lag in lags for node in (*lag.waits, *lag.arrivals)
        }
        # The conditions that a step exists. As one step the loop ends where it does not.
        self._guards = {
            node
            for lag in lags
            for node in nodes_in(lag.loop.body)
            if isinstance(node, Choice) and not node.arms[1] and _holds(node, lag.arrivals)
        }
        # What gives free what a step's products use, by their commit.
        self._frees: dict[Node, SplitBarrier] = {
            node: arrive.barrier
            for lag in lags
            for scope, arrive in zip(lag.scopes, lag.arrivals, strict=True)
            for node in scope.body
            if isinstance(node, Commit)
        }
        self.gates: dict[Hashable, Gate] = {}

    def sequence(self, nodes: Sequence, team: int, unit: int) -> Iterator[Item]:
        """Nodes in code of one `unit` of threads, of which the team is a part."""
        for node in nodes:
            yield from self._barrier((node, False), node.span, team)
            yield from self._node(node, team, unit)

    def _node(self, node: Node, team: int, unit: int) -> Iterator[Item]:
        match node:
            case Arrive():
                barrier = node.barrier
                yield from self._half(node, barrier, Act.ARRIVE, barrier.arrivers & team)
            case Await():
                barrier = node.barrier
                act = Act.MEET if barrier.meets else Act.WAIT
                yield from self._half(node, barrier, act, barrier.waiters & team)
            case Commit(queue=Loads() as loads, arrivers=arrivers):
                if loads in self._loads:
                    threads = arrivers & team if arrivers else team
                    yield from self._half(node, self._loads[loads], Act.ARRIVE, threads)
            case Wait(queue=Loads() as loads):
                if loads in self._loads:
                    yield from self._half(node, self._loads[loads], Act.WAIT, team)
            case Commit(queue=Completion.PRODUCT_GROUP) | Wait(queue=Completion.PRODUCT_GROUP):
                if self._lags:
                    yield from self._products(node)
            case GridBarrier():
                self.gates.setdefault(
                    "grid", Gate(name="the barrier of the grid", count=unit.bit_count())
                )
                yield Operation(gate="grid", act=Act.MEET, place=self._words(node.span))
            case Step():
                yield from self._step(node, team)
            case Jump(exit=kind):
                is_return = kind is Exit.RETURN
                yield Leave(is_continue=kind is Exit.CONTINUE, is_return=is_return)
            case Choice(head=head, arms=(first, second)):
                yield from self._step(head, team)
                arms = (
                    tuple(self.sequence(first, team, unit)),
                    (Leave(),)
                    if node in self._guards
                    else tuple(self.sequence(second, team, unit)),
                )
                if arms != ((), ()):
                    yield Either(key=(node, unit), arms=arms)
            case Loop():
                yield from self._loop(node, team, unit)
            case Region(units=units, body=body):
                for own in units:
                    if team & own:
                        yield from self.sequence(body, team, own)
            case Arms(regions=regions):
                for region in regions:
                    yield from self._node(region, team, unit)
            case _:
                raise TypeError(f"no such node: {node!r}")

    def _loop(self, node: Loop, team: int, unit: int) -> Iterator[Item]:
        yield from self._step(node.head, team)
        body = (
            *self._step(node.test, team),
            *self.sequence(node.body, team, unit),
            *self._barrier((node, True), node.span, team),
        )
        if body:
            yield Repeat(key=(node, unit), body=body, runs=node.runs)
        yield from self._step(node.test, team)
        if node.loop in self._lags:
            yield from self._drain(self._lags[node.loop])

    def _drain(self, lag: Lag) -> Iterator[Item]:
        """What stands behind a loop for the products that ran on."""
        place = self._words(lag.loop.span)
        yield Operation(gate=None, act=Act.COMPLETE, place=place)
        for unit in lag.arrivals[0].barrier.units:
            yield Drain(loop=(lag.loop.loop, unit), place=place, is_dropped=lag.is_last)

    def _products(self, node: Commit | Wait) -> Iterator[Operation]:
        place = self._words(node.span)
        if isinstance(node, Wait):
            groups = node.groups + (node in self._late)
            yield Operation(gate=None, act=Act.COMPLETE, place=place, groups=groups)
            return
        frees = self._frees.get(node)
        units = () if frees is None else frees.units
        uses = tuple((frees, unit) for unit in units)
        yield Operation(gate=None, act=Act.BEGIN, place=place, uses=uses)

    def _step(self, step: Step, team: int) -> Iterator[Item]:
        orders = _orders(step, self._everyone)
        for sources, waiting in orders:
            if sources == waiting and sources & team:
                yield self._meeting(sources, step.span)
        given = [each for each in orders if each[0] != each[1]]
        for act, side in ((Act.ARRIVE, 0), (Act.WAIT, 1)):
            for order in given:
                if order[side] & team:
                    yield self._given(order, act, step.span)

    def _given(self, order: tuple[int, int], act: Act, span: Span) -> Operation:
        """One side of what a call makes some threads wait for."""
        name, count = f"the call's order behind {_name(order[0])}", order[0].bit_count()
        self.gates.setdefault(order, Gate(name=name, count=count, is_given=True))
        return Operation(gate=order, act=act, place=self._words(span))

    def _barrier(self, place: tuple[Node, bool], span: Span, team: int) -> Iterator[Item]:
        barrier = self._places.get(place)
        for unit in barrier.units if barrier is not None else ():
            if unit & team:
                yield self._meeting(unit, span)

    def _half(self, node: Node, barrier: SplitBarrier, act: Act, threads: int) -> Iterator[Item]:
        """One side of a split barrier, by `threads`. Its arrivals may come from several places."""
        lag = self._late.get(node)
        for unit in barrier.units:
            is_far = barrier.is_wide and act is Act.ARRIVE and threads
            if is_far or unit & threads:
                arrivers = barrier.arriving if barrier.is_wide else unit & barrier.arriving
                what = "barrier" if barrier.is_named else "mbarrier"
                name = f"the {what} of {barrier.phase.name} for {_name(arrivers)}"
                gate = Gate(name=name, count=arrivers.bit_count(), has_credit=barrier.has_credit)
                # A cluster's halves are at the same barrier as it has as a whole elsewhere.
                key = unit if barrier.is_cluster else (barrier, unit)
                self.gates.setdefault(key, gate)
                made = Operation(gate=key, act=act, place=self._words(node.span))
                yield made if lag is None else Behind(loop=(lag.loop.loop, unit), operation=made)

    def _meeting(self, unit: int, span: Span) -> Operation:
        gate = Gate(name=f"the barrier of {_name(unit)}", count=unit.bit_count())
        self.gates.setdefault(unit, gate)
        return Operation(gate=unit, act=Act.MEET, place=self._words(span))


def _holds(node: Node, inner: Collection[Node]) -> bool:
    return any(one in inner for one in nodes_in((node,)))


def _name(threads: int) -> str:
    """`threads 0..31 and 64..95`."""
    parts = (f"{start}..{end - 1}" for start, end in ranges_of(threads))
    return "threads " + " and ".join(parts)

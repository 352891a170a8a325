"""Builds the synchronisation graph of one function from its typed tree.

A sequence holds all statements of code at one perspective: the bodies of narrowings and plain
scopes are part of it, since the code perspective stays; a `group` or an arm starts a region.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_

from prismc.checker.memory.facts import MemoryFacts
from prismc.checker.sync.accesses import Accesses, Here
from prismc.checker.sync.arms import unit_of
from prismc.checker.sync.asked import Guard, Prover, World
from prismc.checker.sync.copies import with_joined_copies
from prismc.checker.sync.coverage import (
    BULK_WRITES,
    NONE,
    Coverage,
    Queue,
    barrier,
    commit,
    first_thread,
    then,
)
from prismc.checker.sync.cycles import cycles_of
from prismc.checker.sync.definitions import Definitions
from prismc.checker.sync.evaluate import Bodies, Evaluator
from prismc.checker.sync.events import Events
from prismc.checker.sync.footprints import unknown_footprint
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Commit,
    Exit,
    Finish,
    Flow,
    Graph,
    Jump,
    Leave,
    Loop,
    Node,
    Pending,
    Reach,
    Region,
    Root,
    Sequence,
    Step,
    Summary,
    groups_of,
    nodes_in,
)
from prismc.checker.sync.loads import loads_of, with_arrival
from prismc.checker.sync.plan import AccessKind, Position, Where
from prismc.checker.sync.registers import leaves_open, shown_registers
from prismc.checker.sync.roots import Path, Pointers
from prismc.checker.sync.split import LoadPhase, Loads
from prismc.checker.sync.summaries import FunctionSummary
from prismc.checker.sync.units import accesses_of
from prismc.checker.types import typed
from prismc.checker.types.turns import steps_of
from prismc.checker.types.walk import statements_in
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.hardware.primitives import MOST_THREADS
from prismc.source.record import Record, replace
from prismc.source.span import Span


class Built(Record):
    """A function's graph, and what its summary needs besides."""

    graph: Graph
    accesses: Accesses
    block_threads: int
    cut: frozenset[int]


def build_graph(
    body: typed.Body,
    bodies: Bodies,
    memory: MemoryFacts,
    callees: Mapping[str, FunctionSummary],
    *,
    most: int,
    cut: frozenset[int] = frozenset(),
    has_scopes: bool = False,
    prover: Prover | None = None,
) -> Built:
    """The graph of one function; its callees are known by their summaries. With `has_scopes` each
    narrowing is one node. In a kernel that is launched cooperatively code of blocks is. No function
    of the program has more than `most` threads. The loops of pipelines with ids `cut` may end
    behind each of their steps.
    `prover` will be asked about accesses that may meet."""
    threads, block_threads = instance_threads(body.instance)
    definitions = Definitions(body.instance, body.statements)
    evaluator = Evaluator(definitions, bodies, threads, block_threads)
    evaluator.cycles = cycles_of(body.statements, evaluator)
    returned = {symbol: callee.returned for symbol, callee in callees.items()}
    shown = shown_registers(body, callees)
    pointers = Pointers(body, definitions, memory, returned, threads, block_threads, shown)
    trips = {
        statement.id: found[2]
        for statement in statements_in(body.statements)
        if isinstance(statement, typed.For) and (found := evaluator.trips(statement))
    }
    disjoint = frozenset(
        statement.variable
        for statement in statements_in(body.statements)
        if isinstance(statement, typed.AssumeDisjoint)
    )
    world: World | None = None
    if prover is not None:
        world = World(
            prover=prover,
            definitions=definitions,
            bodies=bodies,
            threads=threads,
            block_threads=block_threads,
        )
    accesses = Accesses(pointers, evaluator, trips, threads, block_threads, disjoint, world)
    builder = _Builder(
        body.instance,
        accesses,
        Events(accesses, callees),
        trips,
        has_scopes=has_scopes,
        leaves_open=leaves_open(body, callees),
        loads=loads_of(body, pointers, callees),
        cut=cut,
    )
    everyone = (1 << threads) - 1
    guards = tuple(
        Guard(condition=condition, holds=True, loops=(), is_assumed=True)
        for condition in body.instance.assumptions
    )
    top = Region(
        before=Position(where=Where.BEFORE, anchor=-1),
        span=body.instance.span,
        perspective=body.instance.bound.code,
        units=(everyone,),
        body=builder.whole(body.statements, Here(units=(everyone,), guards=guards)),
    )
    graph = Graph(
        symbol=body.instance.symbol,
        everyone=everyone,
        block=block_threads,
        stride=1 if threads == most else max(most, MOST_THREADS),
        top=top,
        accesses=tuple(accesses.made),
        between_blocks=tuple(
            access for access in accesses.made[: builder.before_finish] if not access.for_engines
        ),
    )
    return Built(graph=graph, accesses=accesses, block_threads=block_threads, cut=cut)


def instance_threads(instance: typed.Instance) -> tuple[int, int]:
    """Threads of one instance of the function's top perspective, and of a block.

    An instance of a kernel is a block, or a cluster where it is launched in clusters. Where no
    kernel fixes the block's size, it is what the bound promises; 0 for a function of threads, which
    says nothing of its block.
    """
    bound = instance.bound
    if bound.code.level is Level.THREAD:
        return bound.code.size, instance.threads or 0
    block = instance.threads or max(1, bound.thread)
    blocks = instance.launch.cluster if instance.launch is not None else max(1, bound.block)
    return blocks * block, block


class _Builder:
    def __init__(
        self,
        instance: typed.Instance,
        accesses: Accesses,
        events: Events,
        trips: Mapping[int, int],
        *,
        has_scopes: bool,
        leaves_open: bool,
        loads: Mapping[int, Loads],
        cut: frozenset[int],
    ) -> None:
        self._cut = cut
        self._phases: dict[Loads, Path] = {}
        self._leaves_open = leaves_open
        self._loads = loads
        self._perspective = instance.bound.code
        self._is_cooperative = instance.launch is not None and instance.launch.cooperative
        self._has_scopes = has_scopes
        self._is_kernel = instance.is_kernel
        self._accesses = accesses
        self._events = events
        self._trips = trips
        # How many accesses are made before `finish`, None without it.
        self.before_finish: int | None = None

    def whole(self, statements: tuple[typed.Statement, ...], here: Here) -> Sequence:
        """The nodes of a function's body, its end among them."""
        nodes = self.sequence(statements, here)
        if not statements or isinstance(statements[-1], typed.Return):
            return nodes
        last = statements[-1]
        at = Position(where=Where.AFTER, anchor=last.id)
        span = Span(last.span.file, last.span.end - 1, last.span.end)
        return (*nodes, *self._end(at, span, here))

    def _end(self, at: Position, span: Span, here: Here) -> Iterator[Step]:
        """Where the function's memory ends: nothing may be on its way to it, or from it."""
        if self._leaves_open:
            yield from self._closing(at, span, here)
        if self._is_kernel and here.threads.bit_count() > self._accesses.block:
            yield Leave(before=at, span=span, events=())

    def _closing(self, at: Position, span: Span, here: Here) -> Iterator[Step]:
        pointers, nobody = self._accesses.pointers, unknown_footprint(0)
        roots = pointers.own_registers()
        if self._is_kernel:
            roots = (*roots, *pointers.own_shared())
        else:  # nobody else can wait at the function's mbarriers
            filled = (root for loads in self._loads.values() for root in loads.roots)
            roots = (*roots, *dict.fromkeys(filled))
        paths = (Path(roots=(root,)) for root in roots)
        events = tuple(
            self._accesses.add(AccessKind.WRITE, path, nobody, here, span, reach=Reach.END)
            for path in paths
        )
        if events:
            yield Step(before=at, span=span, events=events)

    def sequence(self, statements: Iterable[typed.Statement], here: Here) -> Sequence:
        """The nodes of statements at one code perspective; what touches nothing has none."""
        return tuple(node for statement in statements for node in self._nodes(statement, here))

    def _nodes(self, statement: typed.Statement, here: Here) -> Iterator[Node]:
        match statement:
            case typed.Block(body=body):
                yield from self.sequence(body, here)
            case typed.Narrow():
                yield from self._narrow(statement, here)
            case typed.If():
                yield from self._choice(statement, here)
            case typed.While():
                yield from self._while(statement, here)
            case typed.For():
                yield from self._for(statement, here)
            case typed.Group():
                yield from self._group(statement, here)
            case typed.Finish():
                yield from self._finish(statement, here)
            case typed.Split():
                yield from self._split(statement, here)
            case typed.Break() | typed.Continue():
                is_break = isinstance(statement, typed.Break)
                yield self._jump(statement, Exit.BREAK if is_break else Exit.CONTINUE)
            case typed.Return():
                yield from self._step(statement, here)
                yield from self._end(_before(statement), statement.span, here)
                yield self._jump(statement, Exit.RETURN)
            case _:
                yield from self._step(statement, here)

    def _step(self, statement: typed.Statement, here: Here) -> Iterator[Step]:
        events = tuple(self._events.of_statement(statement, here))
        if events:
            yield self._part(statement, events)

    def _part(self, statement: typed.Statement, events: Iterable[Access | Summary] = ()) -> Step:
        return Step(before=_before(statement), span=statement.span, events=tuple(events))

    def _jump(self, statement: typed.Statement, exit_: Exit) -> Jump:
        return Jump(before=_before(statement), span=statement.span, exit=exit_)

    def _narrow(self, statement: typed.Narrow, here: Here) -> Iterator[Node]:
        yield from self._step(statement, here)
        for view in statement.views:
            self._accesses.view(view, here.loops)
        if statement.is_async:
            loads = self._loads.get(statement.id)
            nodes = self.sequence(
                statement.body, replace(here, region=statement.id, loads=loads or here.loads)
            )
            nodes = with_joined_copies(nodes, self._accesses.made)
            for queue in _queues(nodes):
                commit = _commit(statement, queue, nodes)
                if isinstance(queue, Loads):
                    arrival = self._arrival(queue, statement, nodes, here)
                    nodes = with_arrival(nodes, replace(commit, events=(arrival, *commit.events)))
                else:
                    nodes = (*nodes, commit)
            yield self._scope(statement, here, nodes)
        elif self._has_scopes:
            yield self._scope(statement, here, self.sequence(statement.body, here))
        else:
            yield from self.sequence(statement.body, here)

    def _arrival(
        self, loads: Loads, statement: typed.Narrow, nodes: Sequence, here: Here
    ) -> Access:
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

    def _scope(self, statement: typed.Narrow, here: Here, nodes: Sequence) -> Region:
        """A scope as one node: what is needed before anything in it stands in front of it."""
        return Region(
            before=_before(statement),
            span=statement.header,
            perspective=self._perspective,
            units=here.units,
            body=nodes,
        )

    def _choice(self, statement: typed.If, here: Here) -> Iterator[Node]:
        head = self._part(statement, self._events.of_statement(statement, here))
        arms = tuple(
            self.sequence(body, self._guarded(here, statement.condition, holds=holds))
            for body, holds in ((statement.body, True), (statement.otherwise, False))
        )
        if head.events or arms[0] or arms[1]:
            yield Choice(
                before=_before(statement),
                span=statement.span,
                head=head,
                arms=(arms[0], arms[1]),
            )

    def _guarded(self, here: Here, condition: typed.Expression, *, holds: bool) -> Here:
        guard = Guard(condition=condition, holds=holds, loops=here.loops)
        return replace(here, guards=(*here.guards, guard))

    def _while(self, statement: typed.While, here: Here) -> Iterator[Node]:
        inside = here.inside(statement.id)
        condition = statement.condition
        test = self._part(statement, self._events.of_statement(statement, inside))
        forever = isinstance(condition, typed.Constant) and bool(condition.value)
        body = self.sequence(statement.body, self._guarded(inside, condition, holds=True))
        head = self._part(statement)
        yield from self._loop(statement, head, test, body, runs=forever, ends=not forever)

    def _for(self, statement: typed.For, here: Here) -> Iterator[Node]:
        inside = here.inside(statement.id)
        head = self._part(statement, self._events.of_statement(statement, here))
        is_cut = statement.id in self._cut
        body = self._steps(statement, inside) if is_cut else self.sequence(statement.body, inside)
        runs = self._trips.get(statement.id, 0) > 0
        yield from self._loop(statement, head, self._part(statement), body, runs=runs, ends=True)

    def _steps(self, statement: typed.For, here: Here) -> Sequence:
        """The steps of a pipeline, each of which may be the last one that runs."""
        nodes: Sequence = ()
        for step in steps_of(statement):
            if nodes:
                before = _before(step[0])
                leave = Jump(before=before, span=statement.span, exit=Exit.BREAK)
                head = Step(before=before, span=statement.span, events=())
                nodes = (
                    *nodes,
                    Choice(before=before, span=statement.span, head=head, arms=((leave,), ())),
                )
            nodes = (*nodes, *self.sequence(step, here))
        return nodes

    def _loop(
        self,
        statement: typed.For | typed.While,
        head: Step,
        test: Step,
        body: Sequence,
        *,
        runs: bool,
        ends: bool,
    ) -> Iterator[Node]:
        if not (head.events or test.events or body):
            return
        last = statement.body[-1] if statement.body else None
        yield Loop(
            before=_before(statement),
            span=statement.span,
            loop=statement.id,
            head=head,
            test=test,
            body=body,
            runs=runs,
            ends=ends,
            end=None if last is None else Position(where=Where.AFTER, anchor=last.id),
        )

    def _finish(self, statement: typed.Finish, here: Here) -> Iterator[Node]:
        """Thread 0 arrives for its block: what other blocks do in the body, it stands for. Then the
        block waits for the answer. Of a cluster the first block stands for the last one."""
        made, block = self._accesses.made, self._accesses.block
        self.before_finish = first = len(made)
        blocks = groups_of(here.units, BLOCK, block)
        body = self.sequence(statement.body, replace(here, units=blocks[:1]))
        kinds: dict[Root, AccessKind] = {}
        for access in made[first:]:
            for root in access.roots:
                is_read = access.kind is AccessKind.READ and kinds.get(root) is not AccessKind.WRITE
                if root.is_global:
                    kinds[root] = AccessKind.READ if is_read else AccessKind.WRITE
        firsts = reduce(or_, (unit & -unit for unit in blocks))
        arrival = [
            replace(
                self._accesses.add(
                    kind,
                    Path(roots=(root,), is_known=False),
                    unknown_footprint(firsts),
                    here,
                    statement.header,
                ),
                reach=Reach.BLOCK,
            )
            for root, kind in kinds.items()
        ]
        made[len(made) - len(arrival) :] = arrival
        before = _before(statement)
        waits = Summary(entries=(), exits=((Exit.NORMAL, Flow(_last_block(blocks), ())),))
        yield Finish(before=before, span=statement.header, events=(*arrival, waits))
        if len(blocks) == 1:
            yield from body
            return
        yield Region(
            before=before,
            span=statement.header,
            perspective=BLOCK,
            units=blocks[:1],
            body=body,
        )

    def _group(self, statement: typed.Group, here: Here) -> Iterator[Node]:
        units = groups_of(here.units, statement.to, self._accesses.block)
        if units == here.units and not self._leaves_grid(statement.to):
            yield from self.sequence(statement.body, here)
            return
        yield from self._region(statement, statement.to, units, statement.body, here)

    def _leaves_grid(self, to: Perspective) -> bool:
        """Whether code gets narrower than the grid where that matters."""
        at_grid = self._perspective.level is Level.GRID
        return self._is_cooperative and at_grid and to.level is not Level.GRID

    def _region(
        self,
        statement: typed.Group | typed.Arm,
        to: Perspective,
        units: tuple[int, ...],
        body: tuple[typed.Statement, ...],
        here: Here,
    ) -> Iterator[Region]:
        outer, self._perspective = self._perspective, to
        nodes = self.sequence(body, replace(here, units=units, region=statement.id))
        self._perspective = outer
        if nodes:
            yield Region(
                before=Position(where=Where.BEFORE, anchor=statement.id),
                span=statement.header,
                perspective=to,
                units=units,
                body=nodes,
            )

    def _split(self, statement: typed.Split, here: Here) -> Iterator[Node]:
        at_grid = self._perspective.level is Level.GRID
        if at_grid and any(arm.to.level is not Level.THREAD for arm in statement.arms):
            yield from self._block_arms(statement, here)
            return
        regions: list[Region] = []
        for arm in statement.arms:
            units = _arms(here.units, arm, self._accesses.block)
            regions += self._region(arm, arm.to, units, arm.body, here)
        if regions:
            yield Arms(before=_before(statement), span=statement.span, regions=tuple(regions))

    def _block_arms(self, statement: typed.Split, here: Here) -> Iterator[Node]:
        """Arms of the grid's first blocks: each block runs one of them or none."""
        nodes: Sequence = ()
        for arm in reversed(statement.arms):
            body = self._first_blocks(arm, here)
            if body or nodes:
                choice = Choice(
                    before=_before(statement),
                    span=arm.span,
                    head=self._part(statement),
                    arms=(body, nodes),
                )
                nodes = (choice,)
        if nodes and self._leaves_grid(statement.arms[0].to):
            nodes = (
                Region(
                    before=_before(statement),
                    span=statement.header,
                    perspective=statement.arms[0].to,
                    units=here.units,
                    body=nodes,
                ),
            )
        yield from nodes

    def _first_blocks(self, arm: typed.Arm, here: Here) -> Sequence:
        """An arm of blocks of the grid, where blocks are in clusters a part of the first one's."""
        units = _arms(here.units, arm, self._accesses.block)
        if units == here.units:
            return self.sequence(arm.body, here)
        return tuple(self._region(arm, arm.to, units, arm.body, here))


def _queues(nodes: Sequence) -> tuple[Queue, ...]:
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


def _commit(statement: typed.Narrow, queue: Queue, nodes: Sequence) -> Commit:
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


def _last_block(blocks: tuple[int, ...]) -> Coverage:
    """The order that arrivals for `finish` make: in each block for all of its threads, and of the
    threads that arrive for the last block's, whichever that is."""
    if len(blocks) == 1:
        return barrier(blocks)
    everyone = reduce(or_, blocks)
    firsts = tuple((unit & -unit, everyone) for unit in blocks)
    others = tuple((unit & unit - 1, unit) for unit in blocks)
    return Coverage((*firsts, *others))


def _before(statement: typed.Statement) -> Position:
    return Position(where=Where.BEFORE, anchor=statement.id)


def _arms(units: tuple[int, ...], arm: typed.Arm, block: int) -> tuple[int, ...]:
    """The part of each unit that runs an arm."""
    one = 1 if arm.to.level is Level.THREAD else block
    part = ((1 << arm.to.size * one) - 1) << arm.offset * one
    return tuple(part << first_thread(unit) & unit for unit in units)

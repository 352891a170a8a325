"""The nodes of a function's statements.

A sequence holds all statements of code at one perspective: the bodies of narrowings and plain
scopes are part of it, since the code perspective stays; a `group` or an arm starts a region.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_

from prismc.checker.sync.accesses import Accesses, Here
from prismc.checker.sync.asked import Guard
from prismc.checker.sync.copies import with_joined_copies
from prismc.checker.sync.coverage import Coverage, barrier, first_thread
from prismc.checker.sync.emptied import emptied_roots, without_ends
from prismc.checker.sync.events import Events
from prismc.checker.sync.finishing import arrivals_for
from prismc.checker.sync.footprints import unknown_footprint
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Exit,
    Finish,
    Flow,
    Jump,
    Leave,
    Loop,
    Node,
    Reach,
    Region,
    Root,
    Sequence,
    Step,
    Summary,
    groups_of,
)
from prismc.checker.sync.loads import with_arrival
from prismc.checker.sync.plan import AccessKind, Position, Where
from prismc.checker.sync.roots import Path
from prismc.checker.sync.scopes import Arrivals, commit_of, queues_of
from prismc.checker.sync.split import Loads
from prismc.checker.types import typed
from prismc.checker.types.turns import steps_of
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.source.record import replace
from prismc.source.span import Span


class NodeBuilder:
    """Makes the nodes of one function; `cut` and `has_scopes` are as for `build_graph`."""

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
        self._leaves_open = leaves_open
        self._loads = loads
        self._perspective = instance.bound.code
        self._is_cooperative = instance.launch is not None and instance.launch.cooperative
        self._has_scopes = has_scopes
        self._is_kernel = instance.is_kernel
        self._accesses = accesses
        self._arrivals = Arrivals(accesses)
        self._events = events
        self._trips = trips
        self._ends: list[Step] = []
        # How many accesses are made before `finish`, None without it.
        self.before_finish: int | None = None

    def whole(self, statements: tuple[typed.Statement, ...], here: Here) -> Sequence:
        """The nodes of a function's body, its end among them."""
        nodes = self.sequence(statements, here)
        if statements and not isinstance(statements[-1], typed.Return):
            last = statements[-1]
            at = Position(where=Where.AFTER, anchor=last.id)
            span = Span(last.span.file, last.span.end - 1, last.span.end)
            nodes = (*nodes, *self._end(at, span, here))
        if not self._is_kernel:
            return nodes
        emptied = emptied_roots(statements, self._loads, self._accesses.made)
        return without_ends(nodes, self._ends, emptied)

    def _end(self, at: Position, span: Span, here: Here) -> Iterator[Step]:
        """Where the function's memory ends: nothing may be on its way to it, or from it."""
        if self._leaves_open:
            for step in self._closing(at, span, here):
                self._ends.append(step)
                yield step
        if self._is_kernel and here.threads.bit_count() > self._accesses.block:
            yield Leave(before=at, span=span, events=())

    def _closing(self, at: Position, span: Span, here: Here) -> Iterator[Step]:
        pointers, made = self._accesses.pointers, self._accesses.made
        ended: dict[Root, AccessKind] = dict.fromkeys(pointers.own_registers(), AccessKind.WRITE)
        if self._is_kernel:
            read = (one.roots for one in made if one.queue is Completion.BULK_GROUP)
            of_calls = (root for several in read for root in several if root.parameter < 0)
            ended |= dict.fromkeys((*pointers.own_shared(), *of_calls), AccessKind.WRITE)
        else:  # nobody else can wait at the function's mbarriers; what stores read callers wait for
            filled = (root for loads in self._loads.values() for root in loads.roots)
            ended = {**dict.fromkeys(filled, AccessKind.READ), **ended}
        nobody = unknown_footprint(0)
        events = tuple(
            self._accesses.add(kind, Path(roots=(root,)), nobody, here, span, reach=Reach.END)
            for root, kind in ended.items()
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
            for queue in queues_of(nodes):
                commit = commit_of(statement, queue, nodes)
                if isinstance(queue, Loads):
                    arrival = self._arrivals.arrival(queue, statement, nodes, here)
                    nodes = with_arrival(nodes, replace(commit, events=(arrival, *commit.events)))
                else:
                    nodes = (*nodes, commit)
            yield self._scope(statement, here, nodes)
        elif self._has_scopes:
            yield self._scope(statement, here, self.sequence(statement.body, here))
        else:
            yield from self.sequence(statement.body, here)

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
        trips = self._trips.get(statement.id, 0)
        test = self._part(statement)
        yield from self._loop(statement, head, test, body, runs=trips > 0, ends=True, trips=trips)

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
        trips: int = 0,
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
            trips=trips,
            end=None if last is None else Position(where=Where.AFTER, anchor=last.id),
        )

    def _finish(self, statement: typed.Finish, here: Here) -> Iterator[Node]:
        """Thread 0 arrives for its block: what other blocks do in the body, it stands for. Then the
        block waits for the answer. Of a cluster the first block stands for the last one."""
        made, block = self._accesses.made, self._accesses.block
        self.before_finish = first = len(made)
        blocks = groups_of(here.units, BLOCK, block)
        body = self.sequence(statement.body, replace(here, units=blocks[:1]))
        firsts = reduce(or_, (unit & -unit for unit in blocks))
        arrival = arrivals_for(self._accesses, made[first:], firsts, here, statement.header)
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

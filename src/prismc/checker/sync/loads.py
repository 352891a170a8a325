"""Bulk loads: copies that an mbarrier counts, byte by byte (PTX ISA, "cp.async.bulk").

All scopes that fill the same memory complete at one mbarrier, a phase for each time that one of
them runs: who issues the loads arrives and says how many bytes come, and whoever
touches the memory waits for the phase. On every path there is one wait for each phase: a wait too
many would wait for ever, one too few would leave the parity behind. As with split barriers the
phase counts as memory, which arrivals update and waits read: nobody may arrive for a phase before
all have waited for the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto

from prismc.checker.sync.arms import part_of
from prismc.checker.sync.coverage import Queue
from prismc.checker.sync.edit import Edits, edited
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Commit,
    Exit,
    Graph,
    Jump,
    Loop,
    Node,
    Region,
    Root,
    Sequence,
    Wait,
    follow,
    groups_of,
    nodes_in,
    sequences_of,
)
from prismc.checker.sync.roots import Pointers
from prismc.checker.sync.split import Loads, Phase, SplitBarrier
from prismc.checker.sync.summaries import FunctionSummary
from prismc.checker.sync.units import accesses_of
from prismc.checker.types import typed
from prismc.checker.types.walk import calls_in, statements_in
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK
from prismc.source.record import replace
from prismc.source.span import Span


def loads_of(
    body: typed.Body, pointers: Pointers, callees: Mapping[str, FunctionSummary]
) -> dict[int, Loads]:
    """What the bulk loads of each scope complete at, by the scope's id."""
    pipelines = _pipelines_of(body)
    apart: dict[Span | None, list[typed.Narrow]] = {}
    for statement in body.all_statements:
        if not isinstance(statement, typed.Narrow) or not statement.is_async:
            continue
        if any(_counts_bytes(call, callees) for call in calls_in(statement.body)):
            apart.setdefault(pipelines.get(statement.id), []).append(statement)
    found: dict[int, Loads] = {}
    for scopes in apart.values():
        found |= _joined(scopes, pointers)
    return found


def _pipelines_of(body: typed.Body) -> dict[int, Span]:
    """The pipeline around each statement, by where it is written. What it fills is read in it: its
    loads need no barrier together with another's, which waits at places of its own."""
    regions = (
        one
        for one in body.all_statements
        if isinstance(one, typed.Narrow) and one.keyword == "pipeline"
    )
    return {
        statement.id: region.header
        for region in regions
        for statement in statements_in(region.body)
    }


def _joined(scopes: Iterable[typed.Narrow], pointers: Pointers) -> dict[int, Loads]:
    """Scopes that fill the same memory complete together, whichever of them runs."""
    groups: list[tuple[set[Root], list[int]]] = []
    for scope in scopes:
        roots = {root for view in scope.views for root in pointers.path(view.source).roots}
        roots = {root for root in roots if not root.is_private}
        joined = [group for group in groups if not group[0].isdisjoint(roots)]
        groups = [group for group in groups if group not in joined]
        before = [one for group in joined for one in group[1]]
        groups.append((roots.union(*(group[0] for group in joined)), [*before, scope.id]))
    found: dict[int, Loads] = {}
    for roots, ids in groups:
        named = tuple(sorted(roots, key=lambda root: (root.name, root.low, root.parameter)))
        found |= dict.fromkeys(ids, Loads(scopes=tuple(ids), roots=named))
    return found


def _counts_bytes(call: typed.Call, callees: Mapping[str, FunctionSummary]) -> bool:
    effects, summary = call.callee.effects, callees.get(call.callee.symbol)
    if effects is not None and effects.completes is Completion.MBARRIER:
        return True
    exits = () if summary is None else summary.summary.exits
    pending = (item.access for _, flow in exits for item in flow.pending)
    return any(access.queue is Completion.MBARRIER for access in pending)


def with_arrival(nodes: Sequence, commit: Commit) -> Sequence:
    """The nodes of a scope with the arrival that completes its loads: in the narrowest code that
    issues all of them, behind the last."""
    touching = [index for index, node in enumerate(nodes) if _issues(node, commit)]
    if len(touching) == 1:
        index = touching[0]
        inside = _inside(nodes[index], commit)
        if inside is not None:
            return (*nodes[:index], inside, *nodes[index + 1 :])
    if not touching:
        return (*nodes, commit)
    at = touching[-1]
    place = commit.before._replace(anchor=nodes[at].before.anchor)
    return (*nodes[: at + 1], replace(commit, before=place), *nodes[at + 1 :])


def _inside(node: Node, commit: Commit) -> Node | None:
    """A node that issues all loads with the arrival in it; None if it has to stand behind."""
    match node:
        case Region(body=body):
            return replace(node, body=with_arrival(body, commit))
        case Arms(regions=regions):
            inside = [region for region in regions if _issues(region, commit)]
            if len(inside) != 1:
                return None
            arm = replace(inside[0], body=with_arrival(inside[0].body, commit))
            return replace(node, regions=tuple(arm if one is inside[0] else one for one in regions))
        case _:
            return None


def _issues(node: Node, commit: Commit) -> bool:
    return any(access.queue == commit.queue for access in accesses_of((node,)))


def with_equal_arrivals(graph: Graph) -> Graph:
    """The code with as many arrivals for the same loads each time, for an mbarrier counts them.

    Those who issue the loads arrive, if they are the same in all scopes that fill the same memory;
    else all threads of the code do, which is that of the scopes themselves where the narrower code
    that issues their loads differs.
    """
    arriving: dict[Loads, list[tuple[Region, Commit]]] = {}
    for region, node in regions_of(graph.top):
        if isinstance(node, Commit) and isinstance(node.queue, Loads):
            arriving.setdefault(node.queue, []).append((region, node))
    elected: dict[Node, Node] = {}
    uneven: set[Queue] = set()
    for loads, found in arriving.items():
        threads, *others = {_issuers(region, commit, graph.block) for region, commit in found}
        if threads and not others:
            elected |= {
                commit: replace(commit, arrivers=threads)
                for region, commit in found
                if threads != region.threads
            }
        elif len({region.threads for region, _ in found}) > 1:
            uneven.add(loads)
    after: dict[Node, Sequence] = {}
    without: set[Node] = set()
    for child, commit in _inner_arrivals(graph.top) if uneven else ():
        if commit.queue in uneven:
            place = commit.before._replace(anchor=child.before.anchor)
            after[child] = (*after.get(child, ()), replace(commit, before=place))
            without.add(commit)
    edits = Edits(after=after, without=without, instead=elected)
    if not without and not elected:
        return graph
    return replace(graph, top=replace(graph.top, body=edited(graph.top.body, edits)))


def _issuers(region: Region, commit: Commit, block: int) -> int:
    """The threads that may issue what an arrival in code of `region` is for; 0 if they are not the
    same of each unit."""
    issuers = 0
    for event in commit.events:
        if isinstance(event, Access):
            issuers |= event.footprint.threads & region.threads
    return issuers if part_of(region.units, issuers, block) is not None else 0


def _inner_arrivals(top: Region) -> Iterator[tuple[Node, Commit]]:
    """The arrivals that stand in narrower code than their scope, with the scope's node around."""
    for scope in nodes_in(top.body):
        for child in scope.body if isinstance(scope, Region) else ():
            for node in nodes_in((child,)):
                if isinstance(node, Commit) and node is not child and node.span == scope.span:
                    yield child, node


# --------------------------------------------------------------------------- phases


class State(Enum):
    """Where a path is: nothing to wait for, or a phase that nobody has waited for."""

    IDLE = auto()
    OPEN = auto()


class Unbalanced(Exception):
    """A path on which waits and phases do not alternate; `node` is where that shows, and `other`
    stands in code of other threads, which see other phases."""

    def __init__(self, node: Node, other: Node | None = None) -> None:
        super().__init__()
        self.node = node
        self.other = other


def load_barriers(
    graph: Graph, *, has_callers: bool
) -> tuple[dict[Loads, SplitBarrier], dict[Loads, Unbalanced]]:
    """The barrier of all loads that are waited for by the code they are issued in; of others where
    waits and phases do not alternate."""
    made: dict[Loads, SplitBarrier] = {}
    wrong: dict[Loads, Unbalanced] = {}
    commits = [node for node in nodes_in(graph.top.body) if isinstance(node, Commit)]
    for loads in dict.fromkeys(node.queue for node in commits if isinstance(node.queue, Loads)):
        try:
            made[loads] = _barrier(graph, loads, has_callers=has_callers)
        except Unbalanced as found:
            wrong[loads] = found
    return made, wrong


def starts_of(*, has_callers: bool) -> tuple[State, ...]:
    """The states in which code may start. A function is called again in the state in which it ends,
    and that is with all waited for."""
    return (State.IDLE,) if has_callers else (State.IDLE, State.OPEN)


def is_balanced(top: Region, loads: Loads, *, has_callers: bool) -> bool:
    """Whether on every path there is one wait for each phase of some loads."""
    try:
        _needs_credit(top, loads, has_callers=has_callers)
    except Unbalanced:
        return False
    return True


def _needs_credit(top: Region, loads: Loads, *, has_callers: bool) -> bool:
    """Whether the first wait comes before the first phase. Raises Unbalanced."""
    wrong: list[Unbalanced] = []
    for start in starts_of(has_callers=has_callers):
        try:
            _Path(loads).along(top.body, start)
        except Unbalanced as found:
            wrong.append(found)
        else:
            return start is State.OPEN
    raise wrong[-1]


class _Path:
    """Follows the phases of loads through code; a jump has to agree with where it goes."""

    def __init__(self, loads: Loads) -> None:
        self._loads = loads
        # Of each loop around: the state at its start, and the states in which it is left.
        self._loops: list[tuple[State, list[State]]] = []

    def along(self, nodes: Sequence, state: State | None) -> State | None:
        """The state behind nodes; None if no path goes on. Raises Unbalanced."""
        return follow(nodes, state, self._past)

    def _past(self, node: Node, state: State) -> State | None:
        match node:
            case Commit(queue=queue) | Wait(queue=queue) if queue == self._loads:
                opens = isinstance(node, Commit)
                if opens is (state is State.OPEN):
                    raise Unbalanced(node)
                return State.OPEN if opens else State.IDLE
            case Jump():
                self._leave(node, state)
                return None
            case Region(body=body):
                return self.along(body, state)
            case Arms(regions=regions):
                for arm in regions:
                    state = self.along(arm.body, state) or state
                return state
            case Choice(arms=arms):
                return _same(node, [self.along(arm, state) for arm in arms])
            case Loop(body=body):
                self._loops.append((state, []))
                end = self.along(body, state)
                _, left = self._loops.pop()
                return _same(node, [state, end, *left])
            case _:
                return state

    def _leave(self, node: Jump, state: State) -> None:
        if not self._loops or node.exit is Exit.RETURN:
            return
        start, left = self._loops[-1]
        if node.exit is Exit.BREAK:
            left.append(state)
        else:
            _same(node, [start, state])


def _same(node: Node, ends: Iterable[State | None]) -> State | None:
    """The one state of all paths that go on. Raises Unbalanced."""
    live = {end for end in ends if end is not None}
    if len(live) > 1:
        raise Unbalanced(node)
    return live.pop() if live else None


def _barrier(graph: Graph, loads: Loads, *, has_callers: bool) -> SplitBarrier:
    """The barrier of loads that all threads of some code wait for. Raises Unbalanced where the
    waits stand in code of different threads, each of which would see some of the phases only, or
    where others arrive."""
    waiting = [(node, code) for code, node in regions_of(graph.top) if _waits_for(node, loads)]
    region = waiting[0][1] if waiting else graph.top
    for node, code in waiting:
        if code.units != region.units:
            raise Unbalanced(node, waiting[0][0])
    issued = [access for access in accesses_of(graph.top.body) if access.queue == loads]
    arriving = [
        (node, arrivers_of(node, code))
        for code, node in regions_of(graph.top)
        if isinstance(node, Commit) and node.queue == loads
    ]
    other, first = arriving[0]
    for node, threads in arriving:
        if threads != first:
            raise Unbalanced(node, other)
    blocks = groups_of(region.units, BLOCK, graph.block)
    return SplitBarrier(
        phase=Phase(name=loads.content, span=region.span),
        units=blocks if region.has_whole(graph.block) else region.units,
        arrivers=first,
        waiters=region.threads,
        bits=(),
        has_credit=_needs_credit(graph.top, loads, has_callers=has_callers),
        of_copies=False,
        before_copies=False,
        loads=(loads,),
        is_wide=any(root.is_mirrored for access in issued for root in access.roots),
    )


def _waits_for(node: Node, loads: Loads) -> bool:
    return isinstance(node, Wait) and node.queue == loads


def arrivers_of(commit: Commit, region: Region) -> int:
    """The threads that arrive for loads in code of `region`, also where a condition leaves the
    loads out."""
    return commit.arrivers or region.threads


def regions_of(region: Region) -> Iterator[tuple[Region, Node]]:
    """Every node with the code that it belongs to."""
    waiting = list(region.body)
    for node in waiting:
        yield region, node
        match node:
            case Region():
                yield from regions_of(node)
            case Arms(regions=regions):
                for arm in regions:
                    yield from regions_of(arm)
            case _:
                waiting += [inner for sequence in sequences_of(node) for inner in sequence]

"""Bulk loads: copies that an mbarrier counts, byte by byte (PTX ISA, "cp.async.bulk").

All scopes that fill the same memory complete at one mbarrier, a phase for each time that one of
them runs: the thread that issues the loads arrives and says how many bytes come, and whoever
touches the memory waits for the phase. On every path there is one wait for each phase: a wait too
many would wait for ever, one too few would leave the parity behind. As with split barriers the
phase counts as memory, which arrivals update and waits read: nobody may arrive for a phase before
all have waited for the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto

from prismc.checker.sync.coverage import Queue
from prismc.checker.sync.edit import Edits, edited
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


def loads_of(
    body: typed.Body, pointers: Pointers, callees: Mapping[str, FunctionSummary]
) -> dict[int, Loads]:
    """What the bulk loads of each scope complete at, by the scope's id."""
    groups: list[tuple[set[Root], list[int]]] = []
    for statement in statements_in(body.statements):
        if not isinstance(statement, typed.Narrow) or not statement.is_async:
            continue
        if not any(_counts_bytes(call, callees) for call in calls_in(statement.body)):
            continue
        roots = {root for view in statement.views for root in pointers.path(view.source).roots}
        roots = {root for root in roots if not root.is_private}
        joined = [group for group in groups if not group[0].isdisjoint(roots)]
        groups = [group for group in groups if group not in joined]
        scopes = [scope for group in joined for scope in group[1]]
        groups.append((roots.union(*(group[0] for group in joined)), [*scopes, statement.id]))
    found: dict[int, Loads] = {}
    for roots, scopes in groups:
        named = tuple(sorted(roots, key=lambda root: (root.name, root.low, root.parameter)))
        found |= dict.fromkeys(scopes, Loads(scopes=tuple(scopes), roots=named))
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
    place = replace(commit.before, anchor=nodes[at].before.anchor)
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
    """The code with all arrivals for the same loads in code of the same threads, for an mbarrier
    counts as many each time. Where scopes differ, each of them ends at its own level."""
    arriving: dict[Queue, set[int]] = {}
    for region, node in regions_of(graph.top):
        if isinstance(node, Commit) and isinstance(node.queue, Loads):
            arriving.setdefault(node.queue, set()).add(region.threads)
    uneven = {queue for queue, threads in arriving.items() if len(threads) > 1}
    after: dict[Node, Sequence] = {}
    without: set[Node] = set()
    for child, commit in _inner_arrivals(graph.top) if uneven else ():
        if commit.queue in uneven:
            place = replace(commit.before, anchor=child.before.anchor)
            after[child] = (*after.get(child, ()), replace(commit, before=place))
            without.add(commit)
    body = edited(graph.top.body, Edits(after=after, without=without))
    return replace(graph, top=replace(graph.top, body=body)) if without else graph


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
    """A path on which waits and phases do not alternate; `node` is where that shows."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node


def load_barriers(graph: Graph) -> tuple[dict[Loads, SplitBarrier], tuple[Node, ...]]:
    """The barrier of all loads that are waited for by the code they are issued in, and nodes where
    waits and phases do not alternate."""
    made: dict[Loads, SplitBarrier] = {}
    wrong: list[Node] = []
    commits = [node for node in nodes_in(graph.top.body) if isinstance(node, Commit)]
    for loads in dict.fromkeys(node.queue for node in commits if isinstance(node.queue, Loads)):
        try:
            made[loads] = _barrier(graph, loads, has_credit=_needs_credit(graph, loads))
        except Unbalanced as found:
            wrong.append(found.node)
    return made, tuple(wrong)


def _needs_credit(graph: Graph, loads: Loads) -> bool:
    """Whether the first wait comes before the first phase. Raises Unbalanced."""
    try:
        _Path(loads).along(graph.top.body, State.IDLE)
    except Unbalanced:
        _Path(loads).along(graph.top.body, State.OPEN)
        return True
    return False


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


def _barrier(graph: Graph, loads: Loads, *, has_credit: bool) -> SplitBarrier:
    """The barrier of loads that all threads of some code wait for. Raises Unbalanced where the
    waits stand in code of different threads, each of which would see some of the phases only."""
    around = [region for region, node in regions_of(graph.top) if _waits_for(node, loads)]
    region = around[0] if around else graph.top
    for other in around:
        if other.units != region.units:
            raise Unbalanced(other)
    issued = [access for access in accesses_of(graph.top.body) if access.queue == loads]
    arriving = [region.threads for region, node in regions_of(graph.top) if _ends(node, loads)]
    for other, node in regions_of(graph.top):
        if _ends(node, loads) and other.threads != arriving[0]:
            raise Unbalanced(node)
    blocks = groups_of(region.units, BLOCK, graph.block)
    return SplitBarrier(
        phase=Phase(name=loads.content, span=region.span),
        units=blocks if region.has_whole(graph.block) else region.units,
        arrivers=arriving[0],
        waiters=region.threads,
        bits=(),
        has_credit=has_credit,
        of_copies=False,
        before_copies=False,
        loads=(loads,),
        is_wide=any(root.is_mirrored for access in issued for root in access.roots),
    )


def _waits_for(node: Node, loads: Loads) -> bool:
    return isinstance(node, Wait) and node.queue == loads


def _ends(node: Node, loads: Loads) -> bool:
    """Whether a node is the arrival of loads. All threads of its code arrive, also those that a
    condition around the loads leaves out."""
    return isinstance(node, Commit) and node.queue == loads


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

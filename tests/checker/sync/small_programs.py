"""All small programs over two arrays, and the least that each needs, found without the compiler.

A scope reads or writes one array, each thread at its own element or at its neighbour's. Two scopes
need an order if they share an array, one writes, and the elements are not the same: then different
threads meet. Barriers stand in gaps. Every pair of scopes that a run goes through names the gaps
between them; a placement is right if it has one in each such set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

from checker.sync.graphs import READ, WRITE, Builder, Index, plan
from prismc.checker.sync.graph import Graph, Loop, Step
from prismc.checker.sync.plan import AccessKind

THREADS = 4
MOST_TRIPS = 3


class Scope(NamedTuple):
    kind: AccessKind
    array: int
    shift: int

    def needs_order(self, other: Scope) -> bool:
        is_read = self.kind is READ and other.kind is READ
        return self.array == other.array and not is_read and self.shift != other.shift


class Small(NamedTuple):
    """Scopes one after the other, those of [start, end) in a loop; no loop where start is end."""

    scopes: tuple[Scope, ...]
    start: int
    end: int


SCOPES = tuple(Scope(*parts) for parts in product((READ, WRITE), (0, 1), (0, 1)))


def small_programs(most: int) -> Iterator[Small]:
    """All programs of up to `most` scopes, one of those that differ in names only: the first scope
    touches array 0, at each thread's own element."""
    for count in range(1, most + 1):
        for scopes in product(SCOPES, repeat=count):
            if (scopes[0].array, scopes[0].shift) == (0, 0):
                yield Small(scopes, 0, 0)
                for start, end in combinations(range(count + 1), 2):
                    yield Small(scopes, start, end)


# A gap is (number of the scope behind it, where): in front of a scope, in front of the loop that
# starts with it, or at the end of the loop's body.
FRONT, LOOP, END = range(3)
Gap = tuple[int, int]


def _trace(program: Small, trips: int) -> Iterator[Gap | Scope]:
    """The gaps and scopes of one run."""
    scopes, start, end = program
    for number in range(start):
        yield from ((number, FRONT), scopes[number])
    if start < end:
        yield start, LOOP
        for _ in range(trips):
            for number in range(start, end):
                yield from ((number, FRONT), scopes[number])
            yield end, END
    for number in range(end, len(scopes)):
        yield from ((number, FRONT), scopes[number])


def _needs(program: Small) -> set[frozenset[Gap]]:
    """For every two scopes of a run that need an order, the gaps between them."""
    found: set[frozenset[Gap]] = set()
    for trips in range(MOST_TRIPS + 1 if program.start < program.end else 1):
        passed: list[tuple[Scope, set[Gap]]] = []
        for item in _trace(program, trips):
            if not isinstance(item, Scope):
                for _, gaps in passed:
                    gaps.add(item)
                continue
            found.update(frozenset(gaps) for scope, gaps in passed if scope.needs_order(item))
            passed.append((item, set()))
    return {need for need in found if not any(other < need for other in found)}


def is_inside(program: Small, gap: Gap) -> bool:
    """Whether a barrier in the gap runs in every iteration."""
    number, where = gap
    return where == END or (where == FRONT and program.start <= number < program.end)


def least(program: Small) -> tuple[int, int]:
    """The fewest barriers: inside the loop first, since they run again and again, then in all."""
    needs = _needs(program)
    gaps = sorted(set().union(*needs))
    best = (len(gaps) + 1, len(gaps) + 1)
    for count in range(len(gaps) + 1):
        for chosen in combinations(gaps, count):
            cost = sum(is_inside(program, gap) for gap in chosen), count
            if cost < best and all(not need.isdisjoint(chosen) for need in needs):
                best = cost
    return best


def planned(program: Small) -> tuple[int, int]:
    """The same for the compiler's plan."""
    graph = graph_of(program)
    inside = {node for loop in graph.top.body if isinstance(loop, Loop) for node in loop.body}
    keys = [barrier.key for barrier in plan(graph)]
    return sum(is_end or node in inside for node, is_end in keys), len(keys)


def graph_of(program: Small) -> Graph:
    builder = Builder(THREADS)
    scopes, start, end = program

    def steps(first: int, last: int) -> list[Step]:
        return [_step(builder, scope) for scope in scopes[first:last]]

    if start == end:
        return builder.graph(steps(0, len(scopes)))
    before = steps(0, start)
    loop = builder.loop(lambda: steps(start, end))
    return builder.graph([*before, loop, *steps(end, len(scopes))])


def _step(builder: Builder, scope: Scope) -> Step:
    index = _index(scope.shift)
    return builder.step(builder.access(scope.kind, f"a{scope.array}", index))


@cache
def _index(shift: int) -> Index:
    def index(thread: int, _: Mapping[int, int]) -> int:
        return (thread + shift) % THREADS

    return index

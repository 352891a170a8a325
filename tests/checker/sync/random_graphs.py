"""Random programs for the placement: few threads, few arrays, every kind of node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from checker.sync.graphs import READ, WRITE, Builder, Index
from prismc.checker.sync.graph import Access, Exit, Graph, Node, Step


class Generator:
    """Draws one graph of `scopes` statements. Stores go to distinct elements in one execution.

    With `moving`, the elements change from iteration to iteration of counted loops.
    """

    def __init__(
        self, seed: int, *, threads: int = 4, arrays: int = 2, moving: bool = False
    ) -> None:
        self.random = Random(seed)
        self.builder = Builder(threads)
        self.arrays = [f"a{number}" for number in range(arrays)]
        self._moves = ("stays", "stays", "rotates", "fresh", "buffers") if moving else ("stays",)

    def straight(self, scopes: int) -> Graph:
        return self.builder.graph([self._statement() for _ in range(scopes)])

    def one_loop(self, scopes: int) -> Graph:
        """Some statements, then a loop of some, then the rest."""
        before = self.random.randrange(scopes)
        inside = self.random.randint(1, scopes - before)
        nodes: list[Node] = [self._statement() for _ in range(before)]
        trips = self.random.choice((None, None, 2, 3))
        nodes.append(
            self.builder.loop(lambda: [self._statement() for _ in range(inside)], trips=trips)
        )
        nodes += [self._statement() for _ in range(scopes - before - inside)]
        return self.builder.graph(nodes)

    def any(self, scopes: int) -> Graph:
        """Loops, choices, groups, arms and jumps, nested."""
        return self.builder.graph(self._sequence(scopes, depth=0, in_loop=False))

    def _sequence(self, scopes: int, *, depth: int, in_loop: bool) -> list[Node]:
        nodes: list[Node] = []
        while scopes > 0:
            part = self.random.randint(1, scopes)
            nodes.append(self._node(part, depth=depth, in_loop=in_loop))
            scopes -= part
        return nodes

    def _node(self, scopes: int, *, depth: int, in_loop: bool) -> Node:
        kind = self.random.choice(("loop", "choice", "group", "arms", "plain", "plain", "jump"))
        builder = self.builder
        if depth >= 2 or kind == "plain":
            return self._statement()
        if kind == "jump":
            return self._jump() if in_loop else self._statement()
        if kind == "loop":
            trips = self.random.choice((None, 2, 3))
            test = self._reading if trips is None and self.random.random() < 0.3 else None
            return builder.loop(
                lambda: self._sequence(scopes, depth=depth + 1, in_loop=True),
                trips=trips,
                test=test,
            )
        if kind == "choice":
            rest = scopes // 2
            return builder.choice(
                lambda: self._sequence(scopes - rest, depth=depth + 1, in_loop=in_loop),
                lambda: self._sequence(rest, depth=depth + 1, in_loop=in_loop) if rest else [],
            )
        if kind == "group":
            return builder.group(2, [self._in_group() for _ in range(scopes)])
        first = [self._statement(threads=0b0011) for _ in range(scopes)]
        return builder.arms((2, first), (2, [self._statement(threads=0b1100, arm=True)]))

    def _jump(self) -> Node:
        kind = self.random.choice((Exit.BREAK, Exit.CONTINUE))
        return self.builder.choice(lambda: [self.builder.jump(kind)], list)

    def _statement(self, *, threads: int | None = None, arm: bool = False) -> Step:
        """One or two accesses; the second arm of a split reads an array of its own."""
        if arm:
            return self.builder.step(self.builder.access(READ, "own", _own, threads=threads))
        array = self.random.choice(self.arrays)
        if self.random.random() < 0.5:
            return self.builder.step(self._store(array, threads))
        others = self.random.sample(self.arrays, self.random.randint(1, len(self.arrays)))
        return self.builder.step(*(self._load(other, threads) for other in others))

    def _reading(self) -> Step:
        return self.builder.step(self._load(self.random.choice(self.arrays), None))

    def _store(self, array: str, threads: int | None) -> Access:
        shift = self.random.choice((0, 0, 0, 1))
        mask = threads or self.random.choice((None, None, 1, 0b0011))
        index = self._moved(lambda thread: (thread + shift) % self.builder.threads)
        return self.builder.access(WRITE, array, index, threads=mask)

    def _load(self, array: str, threads: int | None) -> Access:
        count = self.builder.threads
        how = self.random.choice(("own", "next", "reversed", "first"))

        def place(thread: int) -> int:
            return {"own": thread, "next": (thread + 1) % count, "first": 0}.get(
                how, count - 1 - thread
            )

        return self.builder.access(READ, array, self._moved(place), threads=threads)

    def _moved(self, place: Callable[[int], int]) -> Index:
        """The same element in every iteration, or one that moves with a counted loop: rotating, to
        fresh memory, or between two buffers."""
        count = self.builder.threads
        how = self.random.choice(self._moves)

        def index(thread: int, counters: Mapping[int, int]) -> int:
            step = sum(counters.values())
            if how == "rotates":
                return (place(thread) + step) % count
            if how == "fresh":
                return place(thread) + count * step
            return place(thread) + (count * (step % 2) if how == "buffers" else 0)

        return index

    def _in_group(self) -> Step:
        """A statement of pairs of threads: it stays among the elements of its pair."""
        array = self.random.choice(self.arrays)
        swaps = self.random.random() < 0.5

        def index(thread: int, _: Mapping[int, int]) -> int:
            return thread ^ 1 if swaps else thread

        kind = self.random.choice((READ, WRITE))
        return self.builder.step(self.builder.access(kind, array, index))


def _own(thread: int, _: Mapping[int, int]) -> int:
    return thread


__all__ = ["Generator", "Index"]

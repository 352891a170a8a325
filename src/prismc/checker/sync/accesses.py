"""Makes accesses: resolves pointers, evaluates indices for all threads, applies conditions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from types import MappingProxyType

from prismc.checker.sync.asked import Asked, Guard, World
from prismc.checker.sync.boxes import Corner, stated_apart
from prismc.checker.sync.coverage import Queue, threads_in
from prismc.checker.sync.evaluate import Counters, Evaluator
from prismc.checker.sync.footprints import (
    Footprint,
    Point,
    footprint_of,
    shape_of,
    unknown_footprint,
    without_conditions,
)
from prismc.checker.sync.forms import (
    Form,
    constant,
    known,
    plus,
    scaled,
)
from prismc.checker.sync.graph import Access, Reach, ViewUse
from prismc.checker.sync.inside import Inside, inside_of
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.roots import BLOCK_STRIDE, Path, Pointers
from prismc.checker.types import typed
from prismc.hardware.asynchronous import Agent, Completion
from prismc.hardware.groups import Level
from prismc.source.record import Record, replace
from prismc.source.span import Span

# Elements that one access is evaluated for, over all threads and iterations.
MOST_ELEMENTS = 1 << 14


class Here(Record):
    """Where an access stands: who runs the code, under which conditions, in which loops.

    `region` is the innermost group, arm or asynchronous scope, 0 for a function's own code; `loads`
    is what bulk loads of the scope complete at.
    """

    units: tuple[int, ...]
    region: int = 0
    loads: Queue | None = None
    loops: tuple[int, ...] = ()
    own_loops: tuple[int, ...] = ()
    guards: tuple[Guard, ...] = ()

    @property
    def threads(self) -> int:
        """All that run the code."""
        threads = 0
        for unit in self.units:
            threads |= unit
        return threads

    def inside(self, loop: int) -> Here:
        """The same in the body of a loop."""
        is_own = all(unit & (unit - 1) == 0 for unit in self.units)
        own_loops = (*self.own_loops, loop) if is_own else self.own_loops
        return replace(self, loops=(*self.loops, loop), own_loops=own_loops)


class Accesses:
    """All accesses of one function, numbered in the order they are made."""

    def __init__(
        self,
        pointers: Pointers,
        evaluator: Evaluator,
        loops: Mapping[int, int],
        threads: int,
        block: int,
        disjoint: frozenset[typed.Variable],
        world: World | None = None,
    ) -> None:
        """`block` are the threads of a block; `loops` tells how often loops with constant bounds
        run, by id; `disjoint` have pieces that never meet, by what the author says;
        `world` is there if a prover is."""
        self._world = world
        self._disjoint = disjoint
        self.threads = threads
        self.block = block
        self.pointers = pointers
        self.evaluator = evaluator
        self.made: list[Access] = []
        # Accesses to any element that nothing tells apart, one for all of a region.
        self._anywhere: dict[object, Access] = {}
        # What conditions leave, which many accesses have in common.
        self._inside: dict[object, Inside] = {}
        # Equal footprints are one object: unrolled code has many, which are compared once.
        self._footprints: dict[object, Footprint] = {}
        self.view_uses: dict[typed.Variable, ViewUse] = {}
        self._trips = loops

    def view(self, view: typed.View, loops: tuple[int, ...]) -> None:
        """Note a narrowing before anything goes through it. What is claimed is one piece, which one
        arm may hand on to another."""
        perspective = view.variable.perspective
        is_claimed = view.variable.kind is typed.VariableKind.CLAIM
        size = perspective.size * (1 if perspective.level is Level.THREAD else self.block)
        is_in_block = perspective.level is Level.THREAD
        is_divided = is_in_block or (perspective.level is Level.BLOCK and size < self.threads)
        self.view_uses[view.variable] = ViewUse(
            view=(view.variable.id,),
            name=view.variable.name,
            at=view.variable.span,
            is_disjoint=view.variable in self._disjoint,
            is_claim=view.variable.kind is typed.VariableKind.CLAIM,
            size=size if is_divided and not is_claimed else 0,
            loops=loops,
            is_async=view.is_async,
        )

    def access(
        self,
        kind: AccessKind,
        pointer: typed.Expression,
        index: typed.Expression | Corner | None,
        here: Here,
        *,
        lanes: int,
        at: Span,
        queue: Queue | None = None,
        agent: Agent = Agent.GENERIC,
        block: typed.Expression | None = None,
    ) -> Access:
        """One access to `lanes` elements from `index` on, or to a box; to any element without one.
        `block` is the block of the cluster whose memory it is, if that is not the thread's own."""
        path = self.pointers.path(pointer)
        if block is not None and not self._is_own(block, here):
            return self._far(kind, path, index, here, block, lanes=lanes, at=at)
        apart = stated_apart(pointer, self._disjoint, here.loops)
        if index is not None and path.is_known:
            footprint = self._footprint(path, index, here, lanes)
            asked = self._asked(path, index, here, lanes)
            return self.add(
                kind, path, footprint, here, at, apart, queue=queue, agent=agent, asked=asked
            )
        by = (queue, agent)
        key = (kind, path.roots, path.views, by, here.region, here.loops, here.threads)
        if here.region == 0 or key not in self._anywhere:
            footprint = unknown_footprint(here.threads)
            self._anywhere[key] = self.add(
                kind, path, footprint, here, at, apart, queue=queue, agent=agent
            )
        return self._anywhere[key]

    def _is_own(self, block: typed.Expression, here: Here) -> bool:
        """Whether a block of the cluster is each thread's own, whatever the counters of loops."""
        rank = self.evaluator.form(block, {}, here.loops)
        number = None if rank is None or not self.threads > self.block > 0 else known(rank)
        if number is None:
            return False
        inside = inside_of(here.guards, here.threads, {}, self.evaluator)
        return all(
            (number if isinstance(number, int) else number[thread]) == thread // self.block
            for thread in threads_in(inside.threads)
        )

    def _far(
        self,
        kind: AccessKind,
        path: Path,
        index: typed.Expression | Corner | None,
        here: Here,
        block: typed.Expression,
        *,
        lanes: int,
        at: Span,
    ) -> Access:
        """An access to another block's memory: its elements are those of that block's array."""
        footprint = unknown_footprint(here.threads)
        if index is not None and path.is_known and self.threads > self.block > 0:
            footprint = self._evaluated(path, index, here, lanes, {}, block)
        views = replace(path, views=())  # pieces are those of its own block
        return self.add(kind, views, footprint, here, at, reach=Reach.CLUSTER)

    def anything(self, kind: AccessKind, here: Here, at: Span) -> Access:
        """An access to any memory that the function can name."""
        path = Path(roots=self.pointers.everything(), is_known=False)
        return self.add(kind, path, unknown_footprint(here.threads), here, at)

    def add(
        self,
        kind: AccessKind,
        path: Path,
        footprint: Footprint,
        here: Here,
        at: Span,
        inside: tuple[ViewUse, ...] = (),
        *,
        queue: Queue | None = None,
        agent: Agent = Agent.GENERIC,
        asked: Asked | None = None,
        reach: Reach = Reach.OWN,
        for_engines: bool = False,
    ) -> Access:
        """One access with all that is known of it; `inside` are narrowings of a callee."""
        access = Access(
            number=len(self.made),
            roots=path.roots or self.pointers.everything(),
            kind=kind,
            footprint=footprint,
            views=(*(self.view_uses[view.variable] for view in path.views), *inside),
            loops=here.loops,
            own_loops=here.own_loops,
            at=at,
            queue=here.loads if queue is Completion.MBARRIER and here.loads else queue,
            agent=agent,
            asked=asked,
            reach=reach,
            for_engines=for_engines,
        )
        self.made.append(access)
        return access

    def _asked(
        self, path: Path, index: typed.Expression | Corner, here: Here, lanes: int
    ) -> Asked | None:
        """The access in the program's own expressions, for a prover."""
        if isinstance(index, Corner) or self._world is None:
            return None
        if any(root.base != 0 for root in path.roots):
            return None
        views = ((view, self.view_uses[view.variable].loops) for view in path.views)
        return Asked(
            world=self._world,
            index=index,
            views=tuple(views),
            guards=here.guards,
            loops=here.loops,
            lanes=lanes,
            threads=here.threads,
        )

    # ----------------------------------------------------------------------- footprints

    def counters(
        self,
        expressions: Iterable[typed.Expression],
        here: Here,
        threads: int,
        cycles: Mapping[int, int] = MappingProxyType({}),
    ) -> tuple[tuple[int, ...], Iterator[dict[int, int]]]:
        """The loops around that the expressions depend on, and all values of their counters; of
        those in `cycles` so many.

        The outermost ones are left out where that would be too much to evaluate; their counters
        are symbols then.
        """
        depends = frozenset().union(*map(self.evaluator.counted_loops, expressions))
        counts = {**self._trips, **cycles}
        loops = [loop for loop in here.loops if loop in depends and loop in counts]
        while loops and threads * _volume(counts[loop] for loop in loops) > MOST_ELEMENTS:
            loops.pop(0)
        ranges = [range(counts[loop]) for loop in loops]
        values = (dict(zip(loops, at, strict=True)) for at in product(*ranges))
        return tuple(loops), values

    def indices(
        self, path: Path, index: Form | None, counters: Counters, loops: tuple[int, ...]
    ) -> Form | None:
        """An index into the pointer as one into the root."""
        for view in reversed(path.views):
            around = self.view_uses[view.variable].loops
            if view.function is not None:
                index = self.evaluator.applied(view.function, index, counters, around)
            elif view.offset is not None and index is not None:
                offset = self.evaluator.form(view.offset, counters, around)
                index = None if offset is None else plus(index, offset)
        bases = {root.base for root in path.roots}
        if index is None or len(bases) > 1:
            return None
        base = bases.pop() if bases else 0
        return plus(index, constant(base)) if base != 0 else index

    def _footprint(
        self, path: Path, index: typed.Expression | Corner, here: Here, lanes: int
    ) -> Footprint:
        """With remainders of counters that do not end, if that makes all the difference."""
        plain = self._evaluated(path, index, here, lanes, {})
        cycles = {loop: n for loop, n in self.evaluator.cycles.items() if loop in here.loops}
        if not cycles or not _depends_on(plain, cycles):
            return plain
        turning = self._evaluated(path, index, here, lanes, cycles)
        return plain if _depends_on(turning, cycles) else turning

    def _evaluated(
        self,
        path: Path,
        index: typed.Expression | Corner,
        here: Here,
        lanes: int,
        cycles: Mapping[int, int],
        block: typed.Expression | None = None,
    ) -> Footprint:
        threads = here.threads
        parts = [
            *(index.places if isinstance(index, Corner) else (index,)),
            *([] if block is None else [block]),
            *(guard.condition for guard in here.guards),
            *_offsets(path),
        ]
        loops, values = self.counters(parts, here, threads.bit_count() * lanes, cycles)
        points: list[Point] = []
        is_certain = True
        for counters in values:
            key = (here.guards, threads, *counters.items())
            inside = self._inside.get(key)
            if inside is None:
                inside = self._inside[key] = inside_of(
                    here.guards, threads, counters, self.evaluator
                )
            is_certain = is_certain and inside.is_certain
            if not inside.threads:
                continue
            evaluate = partial(self.evaluator.form, counters=counters, loops=here.loops)
            form = index.form(evaluate) if isinstance(index, Corner) else evaluate(index)
            form = self.indices(path, form, counters, here.loops)
            if block is not None and form is not None:
                form = self._moved(form, self.evaluator.form(block, counters, here.loops))
            if form is None:
                return unknown_footprint(threads)
            points.append(
                Point(
                    counters=tuple(counters[loop] for loop in loops),
                    form=form,
                    threads=inside.threads,
                    rows=inside.rows,
                    said=self._said(form, inside, here, counters),
                )
            )
        if not points:
            return Footprint(threads=0)
        tile = index.tile if isinstance(index, Corner) else None
        made = footprint_of(
            tuple(points), loops, lanes, is_certain=is_certain, cycles=cycles, tile=tile
        )
        if not (made.common or made.varying):
            made = replace(made, plain=self._one(without_conditions(made)))
        return self._one(made)

    def _one(self, footprint: Footprint) -> Footprint:
        """The one object for a footprint."""
        return self._footprints.setdefault(shape_of(footprint), footprint)

    def _moved(self, form: Form, rank: Form | None) -> Form | None:
        """An index into the own block's array as one into that of block `rank`."""
        if rank is None:
            return None
        own = tuple(-(thread // self.block) for thread in range(self.threads))
        away = plus(rank, constant(own))
        return None if away is None else plus(form, scaled(away, BLOCK_STRIDE))

    def _said(self, form: Form, inside: Inside, here: Here, counters: Counters) -> tuple[Form, ...]:
        """What is at least 0 at an access, if its index has products, which may count rows: by the
        conditions and the ends of the loops around it."""
        if all(len(monomial) < 2 for monomial in form):
            return ()
        ends = (self.evaluator.below_end(loop, counters) for loop in here.loops)
        return (*inside.said, *(end for end in ends if end is not None))


def _depends_on(footprint: Footprint, loops: Collection[int]) -> bool:
    """Whether a footprint is unknown, or has symbols that change with these loops in a way that is
    not known."""
    atoms = (atom for each in (*footprint.common, *footprint.varying) for atom in each)
    return bool(footprint.threads and not footprint.points) or any(
        not atom.step and any(loop in loops for loop in atom.loops) for atom in atoms
    )


def _volume(trips: Iterable[int]) -> int:
    total = 1
    for count in trips:
        total *= count
    return total


def _offsets(path: Path) -> Iterator[typed.Expression]:
    for view in path.views:
        if view.offset is not None:
            yield view.offset
        if view.function is not None:
            yield view.function.body

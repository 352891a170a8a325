"""Functions as their callers see them, so that a call is analysed without the callee's body.

A summary tells what a call touches before and after its own barriers, and the order that it makes
on every path. Accesses are in terms of the callee's threads and parameters; a call puts its own
units and arguments in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as List

from prismc.checker.sync.accesses import Accesses, Here
from prismc.checker.sync.coverage import FENCE, NONE, PROXY, Coverage, both, first_thread, then
from prismc.checker.sync.evaluate import Counters
from prismc.checker.sync.footprints import Footprint, Point, footprint_of, unknown_footprint
from prismc.checker.sync.forms import ROW, Atom, Coefficient, Form, constant, plus, symbol, times
from prismc.checker.sync.graph import (
    Access,
    Entry,
    Exit,
    Flow,
    Pending,
    Reach,
    Root,
    Summary,
    ViewUse,
)
from prismc.checker.sync.roots import Path, Returned
from prismc.checker.sync.split import LoadPhase, Phase
from prismc.checker.types import typed
from prismc.source.record import Record, replace


class FunctionSummary(Record):
    """A function of `threads` threads. `symbols` are the parameters' positions by the symbols that
    stand for them. With `has_engines` some of the program's functions use asynchronous engines."""

    symbol: str
    threads: int
    summary: Summary
    symbols: Mapping[Atom, int]
    returned: tuple[Returned, ...]
    has_engines: bool = False

    @property
    def registers(self) -> frozenset[int]:
        """The positions of the array parameters that the summary speaks of."""
        found = [entry.access for entry in self.summary.entries]
        found += [item.access for _, flow in self.summary.exits for item in flow.pending]
        roots = (root for access in found for root in access.roots if root.is_private)
        return frozenset(root.parameter for root in roots if root.parameter >= 0)


class Lifter:
    """Puts one call's units and arguments into its callee's summary."""

    def __init__(
        self, callee: FunctionSummary, call: typed.Call, here: Here, accesses: Accesses
    ) -> None:
        self._callee = callee
        self._call = call
        self._here = here
        self._accesses = accesses
        self._starts = _starts(here.units, callee.threads)
        self._lifted: dict[tuple[int, bool], Access] = {}

    def summary(self) -> Summary:
        """The call as one node of the caller's graph."""
        flows = [flow for kind, flow in self._callee.summary.exits]
        through = flows[0].through
        for flow in flows[1:]:
            through = both(through, flow.through)
        entries = tuple(
            Entry(access=self._access(entry.access), before=self._order(entry.before))
            for entry in self._callee.summary.entries
        )
        pending = tuple(
            Pending(access=self._access(item.access), after=self._order(item.after))
            for flow in flows
            for item in flow.pending
        )
        if self._callee.has_engines:
            pending = (*pending, *self._for_engines(flows))
        flow = Flow(through=self._order(through), pending=pending)
        return Summary(entries=entries, exits=((Exit.NORMAL, flow),))

    def _for_engines(self, flows: List[Flow]) -> Iterator[Pending]:
        """Ordinary accesses before a barrier of the callee's, as engines see them: with the order
        since its fence, or none."""
        for item in (item for flow in flows for item in flow.pending):
            access = item.access
            order = item.after
            if access.queue is not None:
                order = order.completed(access.queue) or NONE
            fenced = order.completed(PROXY)
            behind = NONE if fenced is None else fenced
            if _is_ordinary(access) and behind.classes != order.classes:
                after = behind if fenced is None else then(FENCE, behind)
                lifted = self._access(access, for_engines=True)
                yield Pending(access=lifted, after=self._order(after))

    def _order(self, order: Coverage) -> Coverage:
        """The order as this call's units make it. Each has the same split barriers in all calls."""
        return order if self._starts == [0] else order.at(self._starts)

    def _access(self, access: Access, *, for_engines: bool = False) -> Access:
        key = access.number, for_engines
        if key not in self._lifted:
            path = self._path(access.roots)
            footprint = self._footprint(access.footprint, path)
            if access.reach is Reach.CLUSTER:
                footprint = unknown_footprint(footprint.threads)
            self._lifted[key] = self._accesses.add(
                access.kind,
                path,
                footprint,
                self._here,
                self._call.span,
                self._views(access),
                queue=None if for_engines else access.queue,
                agent=access.agent,
                reach=access.reach,
                for_engines=for_engines,
            )
        return self._lifted[key]

    def _views(self, access: Access) -> tuple[ViewUse, ...]:
        """The callee's own narrowings whose pieces stay apart in one call."""
        return tuple(
            replace(use, view=(self._call.id, *use.view), loops=self._here.loops, is_disjoint=False)
            for use in access.views
            if use.keeps_pieces(use.loops)
        )

    def _path(self, roots: tuple[Root, ...]) -> Path:
        """The caller's memory behind the callee's roots."""
        paths = [self._path_of(root) for root in roots]
        if len(paths) == 1:
            return paths[0]
        found = tuple(dict.fromkeys(root for path in paths for root in path.roots))
        is_known = all(path.is_known and not path.views for path in paths)
        return Path(roots=found, is_known=is_known)

    def _path_of(self, root: Root) -> Path:
        pointers = self._accesses.pointers
        if isinstance(root, LoadPhase):
            return Path(roots=(pointers.phase_of_call(root),))
        if root.parameter < 0:
            return Path(roots=(pointers.of_call(root, self._call),))
        return pointers.path(self._call.arguments[root.parameter])

    # ----------------------------------------------------------------------- footprints

    def _footprint(self, footprint: Footprint, path: Path) -> Footprint:
        threads = self._mask(footprint.threads)
        if not footprint.points or not path.is_known:
            return unknown_footprint(threads)
        atoms = {atom for point in footprint.points for form in point.form for atom in form}
        parameters = self._callee.symbols
        arguments = [self._call.arguments[parameters[atom]] for atom in atoms if atom in parameters]
        work = sum(point.threads.bit_count() for point in footprint.points) * len(self._starts)
        loops, values = self._accesses.counters(arguments, self._here, work * footprint.lanes)
        points: list[Point] = []
        for counters in values:
            for point in footprint.points:
                form = self._form(point.form, path, counters)
                if form is None:
                    return unknown_footprint(threads)
                at = tuple(counters[loop] for loop in loops)
                points.append(
                    Point(counters=at, form=form, threads=self._mask(point.threads), rows={})
                )
        if not points:
            return Footprint(threads=0)
        return footprint_of(
            tuple(points),
            loops,
            footprint.lanes,
            is_certain=footprint.is_certain,
            tile=footprint.tile,
        )

    def _form(self, form: Form, path: Path, counters: Counters) -> Form | None:
        """A callee's index as one into the caller's root."""
        total: Form = {}
        for monomial, coefficient in form.items():
            term: Form = constant(self._spread(coefficient))
            for atom in monomial:
                value = self._value(atom, counters)
                product = None if value is None else times(term, value)
                if product is None:
                    return None
                term = product
            added = plus(total, term)
            if added is None:
                return None
            total = added
        return self._accesses.indices(path, total, counters, self._here.loops)

    def _value(self, atom: Atom, counters: Counters) -> Form | None:
        """What a callee's symbol is in the caller; of those of its body nothing is known here."""
        evaluator = self._accesses.evaluator
        if atom is ROW:
            return symbol(ROW)
        if atom not in self._callee.symbols:
            return evaluator.symbols.inner(atom)
        argument = self._call.arguments[self._callee.symbols[atom]]
        return evaluator.form(argument, counters, self._here.loops)

    def _mask(self, threads: int) -> int:
        mask = 0
        for start in self._starts:
            mask |= threads << start
        return mask

    def _spread(self, coefficient: Coefficient) -> Coefficient:
        """The callee's thread-by-thread values for all of the caller's threads. Units are aligned,
        so a thread's place in its unit is its number modulo the unit's size."""
        if isinstance(coefficient, int):
            return coefficient
        size = self._callee.threads
        return tuple(coefficient[thread % size] for thread in range(self._accesses.threads))


def _is_ordinary(access: Access) -> bool:
    """Whether a thread makes it itself, to memory that engines may come to."""
    is_memory = any(not root.is_private and not isinstance(root, Phase) for root in access.roots)
    return is_memory and not access.agent.is_async_proxy


def _starts(units: tuple[int, ...], size: int) -> list[int]:
    """The first threads of all instances of a callee of `size` threads."""
    starts: list[int] = []
    for unit in units:
        first = first_thread(unit)
        starts += range(first, unit.bit_length(), size)
    return starts

"""From which loads the values in registers come, so that it can be told which were for nothing.

A launch is run once more with an `OriginRecorder`, which follows the values of some loads lane by
lane until something depends on them. A third run, in which `UsedOnly` hides the loads that were for
nothing, gives the findings: launches are deterministic, so the executions of a load have numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from prismc.emulator.events import Watch
from prismc.emulator.flow import results_of, sources_of
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Function, Instruction, Negated, Operand, Register
from prismc.emulator.scopes import Qualifiers
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.speculation import Slice, is_pure, may_discard, slice_of
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.code import Step
from prismc.emulator.state.frames import Frame
from prismc.emulator.state.run import Run

# Bytes of origins that are kept; a launch that needs more is judged as if all loads were used.
_MOST_BYTES = 256 << 20


class TooManyOrigins(Exception):
    """The launch is too long for its origins to be kept."""


class OriginRecorder:
    """Follows the values of some loads.

    An *origin* is the number of an execution of a load, or of an instruction that joined values of
    several origins. A register has one for each lane, -1 where it depends on no load; `_parents`
    holds those of the sources of each origin, `_used` the lanes (bool `[lanes]`) in which something
    depends on it.
    """

    def __init__(self, loads: frozenset[Instruction]) -> None:
        self._loads = loads
        self._executions: dict[Instruction, list[int]] = {load: [] for load in loads}
        self._parents: list[tuple[Lanes, ...]] = []
        self._used: list[Lanes] = []
        self._origins: dict[Frame, dict[int, Lanes]] = {}
        self._batches: dict[Frame, Batch] = {}
        self._slices: dict[str, Slice] = {}
        self._bytes = 0

    def watch(self, site: Instruction, watch: Watch | None) -> Watch | None:
        """All accesses are seen as they are."""
        return watch

    def before(self, function: Function, site: Instruction) -> Step | None:
        """What is to be noted before an instruction is executed, if anything."""
        known = self._slices.get(function.name)
        if known is None:
            known = self._slices[function.name] = slice_of(function, self._loads)
        sources = tuple(r for r in sources_of(site) if r in known.registers)
        targets = tuple(r for r in results_of(site) if r in known.registers)
        if not sources and not targets:
            return None
        if is_pure(site):
            guards = sources[-1:] if site.guard and site.guard.register in sources[-1:] else ()
            deciding = known.deciding.get(site, frozenset())
            return self._noting(site, guards, _values(site, known.registers), targets, deciding)
        return self._noting(site, sources, None, targets, frozenset())

    def _noting(
        self,
        site: Instruction,
        marked: tuple[int, ...],
        values: tuple[int, ...] | None,
        targets: tuple[int, ...],
        deciding: frozenset[int],
    ) -> Step:
        """Registers that are made use of, those whose values go into the result, and the result's;
        without values it is a load's, or depends on none."""
        guard, is_load = site.guard, site in self._loads
        discards = values is not None and may_discard(site)

        def step(run: Run) -> None:
            origins = self._of(run)
            for register in marked:
                self._mark(run, origins.get(register))
            some: Run | None = run
            if guard is not None:
                holds = run.regs[guard.register]
                some = run.only(~holds if guard.negated else holds)
            if some is None:
                if is_load:
                    self._executions[site].append(-1)
                return
            new: Lanes | int = -1
            if is_load:
                new = self._new(some, ())
                self._executions[site].append(new)
            elif discards:
                new = self._join(some, _chosen(some, site, origins, deciding))
            elif values:
                new = self._join(some, [origins.get(register) for register in values])
            for register in targets:
                if isinstance(new, int) and new < 0 and register not in origins:
                    continue
                old = origins.get(register, np.full(1, -1, np.int32))
                origins[register] = np.where(some.mask_array(), new, old).astype(np.int32)

        return step

    def _of(self, run: Run) -> dict[int, Lanes]:
        """The origins of a frame's registers."""
        found = self._origins.get(run.frame)
        if found is None:
            found = self._origins[run.frame] = {}
            self._batches[run.frame] = run.batch
        return found

    def _new(self, run: Run, parents: tuple[Lanes, ...]) -> int:
        lanes = run.batch.geometry.count
        self._bytes += lanes + sum(parent.nbytes for parent in parents)
        if self._bytes > _MOST_BYTES:
            raise TooManyOrigins
        self._parents.append(parents)
        self._used.append(np.zeros(lanes, np.bool_))
        return len(self._parents) - 1

    def _join(self, run: Run, found: Iterable[Lanes | None]) -> Lanes | int:
        """The origin of what depends on several: theirs, if there is one."""
        origins = [origin for origin in found if origin is not None and (origin >= 0).any()]
        if len(origins) > 1:
            return self._new(run, tuple(origins))
        return origins[0] if origins else -1

    def _mark(self, run: Run, origin: Lanes | None) -> None:
        """Something depends on values of the executing lanes."""
        if origin is not None:
            self._mark_lanes(origin, run.mask_array())

    def _mark_lanes(self, origin: Lanes, mask: Lanes) -> None:
        for number in np.unique(np.broadcast_to(origin, mask.shape)[mask]).tolist():
            if number >= 0:
                self._used[number] |= mask & (origin == number)

    def _mark_held(self) -> None:
        """What threads hold that have not come to their end, because they wait for good or the
        launch was stopped, might have been used."""
        for frame, origins in self._origins.items():
            alive = self._batches[frame].alive
            for origin in origins.values():
                self._mark_lanes(origin, alive)

    def used(self) -> dict[Instruction, list[Lanes | None]]:
        """For each load and each of its executions the lanes (bool `[lanes]`) whose values are made
        use of; None where the load's guard held nowhere."""
        self._mark_held()
        for number in range(len(self._parents) - 1, -1, -1):
            used = self._used[number]
            if used.any():
                for origin in self._parents[number]:
                    self._mark_lanes(origin, used)
        return {
            load: [None if number < 0 else self._used[number] for number in numbers]
            for load, numbers in self._executions.items()
        }


def _values(site: Instruction, registers: frozenset[int]) -> tuple[int, ...]:
    """The registers of some that a pure instruction computes its result from."""
    found = sources_of(site)
    found = found[:-1] if site.guard is not None else found
    return tuple(register for register in found if register in registers)


def _chosen(
    run: Run, site: Instruction, origins: dict[int, Lanes], deciding: frozenset[int]
) -> list[Lanes | None]:
    """The origins of those sources that decide the result of what may discard some."""
    first, second, *rest = site.operands[1:]
    one, other = _origin(first, origins), _origin(second, origins)
    if site.form.name == "selp":
        holds = _predicate(run, rest[0])
        chosen = [np.where(holds, one, -1), np.where(holds, -1, other)]
        return [*chosen, _origin(rest[0], origins)]
    # A side that decides alone makes the other one unneeded, best a side without origins.
    left, right = (_decides(run, operand, site, deciding) for operand in (first, second))
    by_right = right & (~left | (other < 0))
    by_left = left & ~by_right
    return [np.where(by_right, -1, one), np.where(by_left, -1, other)]


def _origin(operand: Operand | None, origins: dict[int, Lanes]) -> Lanes:
    register = operand.register if isinstance(operand, Negated) else operand
    number = register.number if isinstance(register, Register) else -1
    return origins.get(number, np.full(1, -1, np.int32))


def _decides(
    run: Run, operand: Operand | None, site: Instruction, deciding: frozenset[int]
) -> Lanes:
    """Where one side of a conjunction or disjunction makes the result by itself."""
    register = operand.register if isinstance(operand, Negated) else operand
    if not isinstance(register, Register) or register.number not in deciding:
        return np.zeros(1, np.bool_)
    found: Lanes = _predicate(run, operand) == (site.form.name == "or")
    return found


def _predicate(run: Run, operand: Operand | None) -> Lanes:
    """The values of a predicate that is an operand."""
    if isinstance(operand, Negated):
        negated: Lanes = ~run.regs[operand.register.number]
        return negated
    assert isinstance(operand, Register)
    return run.regs[operand.number]


class UsedOnly:
    """Hides the executions of loads that were for nothing from those who watch memory."""

    def __init__(self, used: dict[Instruction, list[Lanes | None]]) -> None:
        self._used = used
        self._next = dict.fromkeys(used, 0)

    def watch(self, site: Instruction, watch: Watch | None) -> Watch | None:
        """Who is to be told of a load."""
        return watch if watch is None or site not in self._used else _Sifted(watch, self)

    def before(self, function: Function, site: Instruction) -> Step | None:
        """Counts the executions of a load."""
        if site not in self._used:
            return None

        def step(run: Run) -> None:
            self._next[site] += 1

        return step

    def lanes(self, site: Instruction) -> Lanes | None:
        """The lanes (bool `[lanes]`) that make use of a load's present execution."""
        return self._used[site][self._next[site] - 1]


class _Sifted(Watch):
    """Tells of the loads that are made use of."""

    def __init__(self, watch: Watch, uses: UsedOnly) -> None:
        self._watch = watch
        self._uses = uses

    def read(
        self, run: Run, site: Instruction, place: Place, size: int, qualifiers: Qualifiers
    ) -> None:
        used = self._uses.lanes(site)
        if used is None:
            return
        everyone = np.arange(run.count) if place.chosen is None else place.chosen
        kept = np.flatnonzero(used[run.lane_numbers()[everyone]])
        if len(kept) == len(everyone):
            self._watch.read(run, site, place, size, qualifiers)
        elif len(kept):
            offsets = place.offsets if len(place.offsets) == 1 else place.offsets[kept]
            part = Place(place.region, offsets, everyone[kept])
            self._watch.read(run, site, part, size, qualifiers)

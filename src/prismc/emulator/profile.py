"""Where a kernel's work goes: instructions by class, memory transactions, bank conflicts, by line.

Global memory moves in sectors of 32 bytes; an access of a warp costs as many as it touches. Shared
memory has 32 banks of 4 bytes; a warp's access takes as many passes as the busiest bank has
different words (accesses of 8 and 16 bytes go by half and quarter warps).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prismc.emulator.checks.clocks import Clocks
from prismc.emulator.checks.engines import EngineWatch
from prismc.emulator.checks.signals import Signals
from prismc.emulator.events import Async
from prismc.emulator.flow import flow_of
from prismc.emulator.geometry import WARP
from prismc.emulator.launch import Launch
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Function, Instruction, Location, Module
from prismc.emulator.scopes import Qualifiers
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.run import Run
from prismc.source.record import Record

_SECTOR = 32
_BANKS = 32
_WORD = 4

# The class of an instruction by its name; what is not here computes.
_CLASSES = {
    "global memory": ("ld.global", "st.global", "ld.generic", "st.generic"),
    "shared memory": ("ld.shared", "st.shared", "ldmatrix", "stmatrix"),
    "local memory": ("ld.local", "st.local"),
    "parameters": ("ld.param", "st.param", "ld.const"),
    "atomics": ("atom", "red"),
    "copies": ("cp",),
    "barriers": ("bar", "barrier", "mbarrier", "membar", "fence"),
    "warp": ("shfl", "vote", "match", "redux", "elect", "activemask"),
    "matrix": ("mma", "wgmma", "wmma", "movmatrix"),
    "control": ("bra", "brx", "call", "ret", "exit", "trap"),
    "moves": ("mov", "cvta", "cvt", "mapa", "selp"),
}
_CLASS_OF = {name: group for group, names in _CLASSES.items() for name in names}
CLASSES = (*_CLASSES, "floating point", "integer")


def class_of(instruction: Instruction) -> str:
    """The class of an instruction."""
    form = instruction.form
    if form.name in ("ld", "st", "ldu"):
        spaces = [m.partition("::")[0] for m in form.modifiers]
        named = [s for s in spaces if s in ("global", "shared", "local", "param", "const")]
        return _CLASS_OF[f"{form.name[:2]}.{(named or ['generic'])[0]}"]
    if form.name in _CLASS_OF:
        return _CLASS_OF[form.name]
    is_float = any(name[0] == "f" or name.startswith("bf") for name in form.types)
    return "floating point" if is_float else "integer"


class Traffic(NamedTuple):
    """Memory accesses of an instruction, summed over warps; the least is what perfect ones need."""

    sectors: int = 0
    least_sectors: int = 0
    passes: int = 0
    least_passes: int = 0

    def plus(self, other: Traffic) -> Traffic:
        return Traffic(*(a + b for a, b in zip(self, other, strict=True)))


class LineProfile(Record):
    """What one source line costs; `instructions` are thread instructions by class."""

    file: str
    line: int
    instructions: dict[str, int]
    traffic: Traffic

    @property
    def total(self) -> int:
        return sum(self.instructions.values())


class WaitProfile(Record):
    """Waits at one source line by warps that wait at the same places: how often, for how many
    steps in all (see `waits`), and of the warp that waits longest. Numbers are summed over blocks.
    """

    kind: str
    file: str
    line: int
    warps: tuple[int, ...]
    times: int
    steps: int
    most_steps: int


class Profile(Record):
    """What a launch cost, by line, the most expensive line first; waits, the longest first."""

    lines: tuple[LineProfile, ...]
    waits: tuple[WaitProfile, ...] = ()

    def totals(self) -> tuple[dict[str, int], Traffic]:
        """Thread instructions by class, and all traffic."""
        counts: dict[str, int] = {}
        traffic = Traffic()
        for line in self.lines:
            traffic = traffic.plus(line.traffic)
            for name, count in line.instructions.items():
                counts[name] = counts.get(name, 0) + count
        return counts, traffic


class Profiler(EngineWatch):
    """Counts memory traffic beside whatever else is watched."""

    def __init__(
        self,
        launch: Launch,
        clocks: Clocks,
        signals: Signals,
        *,
        races: bool,
        uninitialised: bool,
    ) -> None:
        super().__init__(launch, clocks, signals, races=races, uninitialised=uninitialised)
        self.traffic: dict[Instruction, Traffic] = {}

    def read(
        self, run: Run, site: Instruction, place: Place, size: int, qualifiers: Qualifiers
    ) -> None:
        self._count(run, site, place, size)
        super().read(run, site, place, size, qualifiers)

    def write(
        self,
        run: Run,
        site: Instruction,
        place: Place,
        size: int,
        qualifiers: Qualifiers,
        values: list[Lanes],
        width: int,
    ) -> None:
        self._count(run, site, place, size)
        super().write(run, site, place, size, qualifiers, values, width)

    def begin_read(self, run: Run, operation: Async, place: Place, size: int) -> None:
        if not operation.in_async_proxy:
            self._count(run, operation.site, place, size)
        super().begin_read(run, operation, place, size)

    def atomic(
        self, run: Run, site: Instruction, place: Place, size: int, qualifiers: Qualifiers
    ) -> None:
        self._count(run, site, place, size)
        super().atomic(run, site, place, size, qualifiers)

    def _count(self, run: Run, site: Instruction, place: Place, size: int) -> None:
        lanes = run.lane_numbers() if place.chosen is None else run.lane_numbers()[place.chosen]
        offsets = np.broadcast_to(place.offsets, lanes.shape)
        if place.region.space == "global":
            found = _sectors(lanes, offsets, size)
        elif place.region.space == "shared":
            found = _passes(lanes, offsets, size)
        else:
            return
        self.traffic[site] = self.traffic.get(site, Traffic()).plus(found)


def _sectors(lanes: Lanes, offsets: Lanes, size: int) -> Traffic:
    """Sectors that the warps touch."""
    warps = lanes // WARP
    spread = max(1, size // _SECTOR)
    keys = warps * (1 << 40) + offsets // _SECTOR
    if spread > 1:
        keys = (keys[:, None] + np.arange(spread)).reshape(-1)
    elements = np.unique(warps * (1 << 40) + offsets) >> 40  # lanes may share one
    least = -(-(np.bincount(elements - elements[0]) * size) // _SECTOR)
    return Traffic(sectors=len(np.unique(keys)), least_sectors=int(least.sum()))


def _passes(lanes: Lanes, offsets: Lanes, size: int) -> Traffic:
    """Passes over the banks that the warps take."""
    parts = max(1, size // _WORD)
    group = lanes // WARP * parts + lanes % WARP // (WARP // min(parts, 4))
    words = (offsets[:, None] // _WORD + np.arange(parts)).reshape(-1)
    groups = np.repeat(group, parts)
    pairs = np.unique(groups * (1 << 40) + words)
    owner, word = pairs >> 40, pairs & ((1 << 40) - 1)
    first = int(owner.min())
    bank = (owner - first) * _BANKS + word % _BANKS
    counts = np.bincount(bank, minlength=(int(owner.max()) - first + 1) * _BANKS)
    busiest = counts.reshape(-1, _BANKS).max(axis=1)
    return Traffic(passes=int(busiest.sum()), least_passes=int(np.count_nonzero(busiest)))


def profile_of(launch: Launch) -> Profile:
    """What a launch that was profiled cost."""
    profiler = launch.watch
    traffic = profiler.traffic if isinstance(profiler, Profiler) else {}
    lines: dict[tuple[str, int], LineProfile] = {}
    for name, counts in (launch.counts or {}).items():
        function = launch.module.functions[name]
        for block, count in zip(flow_of(function).blocks, counts.tolist(), strict=True):
            for index in range(block.first, block.last):
                _add(lines, launch.module, function, index, count, traffic)
    ordered = sorted(lines.values(), key=lambda line: (-line.total, line.file, line.line))
    return Profile(lines=tuple(ordered), waits=_waits(launch))


def _waits(launch: Launch) -> tuple[WaitProfile, ...]:
    """The waits by kind, line, and class of warps: those that wait at the same instructions."""
    at = {} if launch.waits is None else launch.waits.at
    if not at:
        return ()
    there = np.array([waited.times > 0 for waited in at.values()])
    _, classes = np.unique(there, axis=1, return_inverse=True)
    sums: dict[tuple[str, str, int, int], list[Lanes]] = {}
    for site, waited in at.items():
        for number in np.unique(classes[waited.times > 0]).tolist():
            key = (waited.kind, *_outermost(launch.module, site), number)
            both = sums.setdefault(key, [waited.times * 0, waited.steps * 0])
            both[0] = both[0] + waited.times
            both[1] = both[1] + waited.steps
    found = []
    for (kind, file, line, number), (times, steps) in sums.items():
        warps = np.flatnonzero(classes == number)
        found.append(
            WaitProfile(
                kind=kind,
                file=file,
                line=line,
                warps=tuple(warps.tolist()),
                times=int(times[warps].sum()),
                steps=int(steps[warps].sum()),
                most_steps=int(steps[warps].max()),
            )
        )
    return tuple(sorted(found, key=lambda w: (-w.steps, -w.times, w.file, w.line, w.warps)))


def _add(
    lines: dict[tuple[str, int], LineProfile],
    module: Module,
    function: Function,
    index: int,
    count: int,
    traffic: dict[Instruction, Traffic],
) -> None:
    instruction = (function.body or ())[index]
    key = _line(module, instruction)
    known = lines.get(key)
    counts = dict(known.instructions) if known is not None else {}
    name = class_of(instruction)
    counts[name] = counts.get(name, 0) + count
    before = known.traffic if known is not None else Traffic()
    lines[key] = LineProfile(
        file=key[0],
        line=key[1],
        instructions=counts,
        traffic=before.plus(traffic.get(instruction, Traffic())),
    )


def _line(module: Module, instruction: Instruction) -> tuple[str, int]:
    """The source line of an instruction: the one it was written on; the PTX line without one."""
    return _line_of(module, instruction, instruction.location)


def _outermost(module: Module, instruction: Instruction) -> tuple[str, int]:
    """The line of the kernel itself that an instruction was inlined into: waits are in helpers."""
    location = instruction.location
    while location is not None and location.inlined_at is not None:
        location = location.inlined_at
    return _line_of(module, instruction, location)


def _line_of(
    module: Module, instruction: Instruction, location: Location | None
) -> tuple[str, int]:
    if location is None:
        return module.name, instruction.line
    return module.files.get(location.file, ""), location.line

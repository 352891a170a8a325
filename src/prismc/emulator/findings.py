"""What the machine found wrong with a program: facts first, words from `report`.

One finding stands for all its repetitions: the same kind at the same instructions and array.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from prismc.emulator.geometry import Geometry, Shape
from prismc.emulator.layout import Layout
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.run import Run
from prismc.source.record import Record


class Kind(Enum):
    """The class of a fault."""

    RACE = "data race"
    ORDER = "missing order"
    LIFETIME = "memory in use by an asynchronous operation"
    UNINIT = "uninitialised memory"
    BOUNDS = "out of bounds"
    ALIGN = "misaligned access"
    OVERFLOW = "index overflow"
    PERSPECTIVE = "collective by the wrong lanes"
    EXIT = "barrier after threads have exited"
    COUNT = "wrong count"
    PHASE = "wrong phase"
    DEADLOCK = "deadlock"
    TRAP = "abnormal end"
    CALL = "call or branch to nowhere"


class ThreadId(NamedTuple):
    """A thread: block coordinates, thread coordinates."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]


class Finding(Record):
    """One fault. `site` and `other` are the instructions involved; `other_role` says what the
    second one did. `array` and `element` name the memory, where there is any; `threads` are the
    first few involved, `other_thread` the one at the other side; `times` counts repetitions.
    """

    kind: Kind
    message: str
    help: str
    site: Instruction | None
    threads: tuple[ThreadId, ...] = ()
    array: str = ""
    element: str = ""
    other: Instruction | None = None
    other_role: str = ""
    other_thread: ThreadId | None = None
    times: int = 1


_SHOWN_THREADS = 4
_Key = tuple[Kind, object, object, str]


class Collector:
    """Collects findings of one launch; `faults` has a method for each kind of fault."""

    def __init__(self, layout: Layout, off: frozenset[Kind]) -> None:
        self.layout = layout
        self.off = off
        self._found: dict[_Key, Finding] = {}
        self._times: dict[_Key, int] = {}

    def all(self) -> tuple[Finding, ...]:
        """All findings in the order they were first seen, with their counts."""
        return tuple(
            Finding(**{**{f: getattr(found, f) for f in found.__fields__},
                       "times": self._times[key]})
            for key, found in self._found.items()
        )  # fmt: skip

    def is_new(
        self, kind: Kind, site: Instruction | None, other: Instruction | None = None,
        array: str = "", times: int = 1,
    ) -> bool:  # fmt: skip
        """Whether a fault must still be described; a known one is only counted."""
        key = _key(kind, site, other, array)
        self._times[key] = self._times.get(key, 0) + times
        return kind not in self.off and key not in self._found

    def add(self, finding: Finding) -> None:
        """Adds a finding that `is_new`."""
        key = _key(finding.kind, finding.site, finding.other, finding.array)
        self._found[key] = finding

    def plain(
        self, kind: Kind, run: Run | None, site: Instruction, message: str, help: str
    ) -> None:
        """A fault that needs no more facts; `run` is None where no thread is at fault."""
        if self.is_new(kind, site, times=1 if run is None else run.count):
            threads = () if run is None else self.threads(run, None)
            self.add(Finding(kind=kind, message=message, help=help, site=site, threads=threads))

    def threads(
        self, run: Run, packed: Lanes | None, *, are_lanes: bool = False
    ) -> tuple[ThreadId, ...]:
        """The first few threads of a run: those at packed positions, or of given lanes."""
        geometry = run.batch.geometry
        lanes = run.lane_numbers()
        if packed is not None:
            lanes = packed if are_lanes else lanes[packed[:_SHOWN_THREADS]]
        return tuple(thread_id(geometry, int(lane)) for lane in lanes[:_SHOWN_THREADS])


def thread_id(geometry: Geometry, lane: int) -> ThreadId:
    """The thread of a lane of a batch."""
    return thread_of(geometry.shape, int(geometry.block[lane]), int(geometry.thread[lane]))


def thread_of(shape: Shape, block: int, thread: int) -> ThreadId:
    """The thread of linear indexes."""
    return ThreadId(_coordinates(block, shape.grid), _coordinates(thread, shape.block))


def _coordinates(linear: int, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = extent
    return linear % x, linear // x % y, linear // (x * y)


def _key(kind: Kind, site: Instruction | None, other: Instruction | None, array: str) -> _Key:
    return kind, place_key(site), place_key(other), array


def place_key(site: Instruction | None) -> object:
    """Equal for instructions that one place of the source made, as copies of an unrolled loop."""
    if site is None or site.location is None:
        return None if site is None else site.line
    return site.form.name, site.location

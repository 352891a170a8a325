"""What the machine found wrong with a program: facts first, words from `report`.

One finding stands for all its repetitions: the same kind at the same instructions and array.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prismc.emulator.geometry import WARP, Geometry, Shape
from prismc.emulator.memory import Place, Region
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.source.record import Record

if TYPE_CHECKING:
    from prismc.emulator.batch import Batch
    from prismc.emulator.lanes import Run
    from prismc.emulator.machine import Machine


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


class Findings:
    """Collects findings of one launch. Each method reports one kind of fault."""

    def __init__(self, machine: Machine, off: frozenset[Kind]) -> None:
        self.machine = machine
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

    # Memory

    def out_of_bounds(
        self,
        run: Run,
        site: Instruction,
        lanes: Lanes | None,
        addresses: Lanes,
        *,
        size: int,
        space: str,
        writes: bool,
    ) -> None:
        """Accesses that lead outside of every array."""
        address = int(addresses[0])
        region = self.machine.memory.nearest(address) if space == "global" else None
        array = region.name if region is not None else space
        if not self.is_new(Kind.BOUNDS, site, None, array, len(addresses)):
            return
        self.add(
            Finding(
                kind=Kind.BOUNDS,
                message=self._bounds_message(region, address, size, space, writes),
                help="guard the access with the array's length, or correct the index",
                site=site,
                threads=self.threads(run, lanes),
                array=array,
                element=self._element(region, address),
            )
        )

    def _bounds_message(
        self, region: Region | None, address: int, size: int, space: str, writes: bool
    ) -> str:
        doing = "writes" if writes else "reads"
        if space == "shared":
            end = self.machine.shared_end
            return f"{doing} {size} bytes at shared address {address}; shared memory ends at {end}"
        if space == "local":
            return f"{doing} {size} bytes outside of the thread's local memory"
        if region is None:
            what = "the null pointer" if address < 1 << 16 else f"address {address:#x}"
            return f"{doing} {size} bytes through {what}, where no array is"
        at = address - region.base
        where = f"{-at} bytes before" if at < 0 else f"{at - region.size} bytes behind the end of"
        if at == region.size:
            where = "right behind the end of"
        if 0 <= at < region.size:
            where = "across the end of"
        return f"{doing} {size} bytes {where} `{region.name}` ({region.size} bytes)"

    def _element(self, region: Region | None, address: int) -> str:
        if region is None:
            return f"address {address:#x}"
        return self.machine.element(region, address - region.base)

    def misaligned(
        self, run: Run, site: Instruction, place: Place, bad: Lanes, align: int
    ) -> None:
        """Accesses whose address is no multiple of their size (PTX ISA 6.4.1.1)."""
        wrong = np.flatnonzero(bad)
        if not self.is_new(Kind.ALIGN, site, None, place.region.name, len(wrong)):
            return
        offset = int(place.offsets[wrong[0]])
        self.add(
            Finding(
                kind=Kind.ALIGN,
                message=f"an access of {align} bytes at an address that is no multiple of {align}",
                help=f"use an index whose byte offset is a multiple of {align}, or a narrower type",
                site=site,
                threads=self.threads(run, _chosen(place, wrong)),
                array=place.region.name,
                element=self.machine.element(place.region, offset),
            )
        )

    def read_only(self, run: Run, site: Instruction, place: Place) -> None:
        """Stores into constant memory or parameters."""
        if self.is_new(Kind.BOUNDS, site, None, place.region.name):
            self.add(
                Finding(
                    kind=Kind.BOUNDS,
                    message=f"writes to `{place.region.name}`, which is read-only",
                    help="write to a buffer instead",
                    site=site,
                    threads=self.threads(run, place.chosen),
                    array=place.region.name,
                )
            )

    # Control

    def trapped(self, run: Run, site: Instruction) -> None:
        """A `trap`."""
        self.plain(Kind.TRAP, run, site, "the kernel executes `trap`",
                    "see which condition of the program led here")  # fmt: skip

    def assertion(self, run: Run, site: Instruction, text: str) -> None:
        """A device `assert` that failed."""
        self.plain(Kind.TRAP, run, site, text, "the asserted condition does not hold")

    def branch_beyond_table(self, run: Run, site: Instruction, lanes: Lanes) -> None:
        """A `brx.idx` with an index past its table."""
        self.plain(Kind.CALL, run, site, "the index of a branch table is past its end",
                    "keep the index below the number of targets")  # fmt: skip

    def call_of_nothing(self, run: Run, site: Instruction) -> None:
        """A call through an address that is no function's."""
        self.plain(Kind.CALL, run, site, "calls an address where no function is",
                    "store a device function's address before the call")  # fmt: skip

    def plain(
        self, kind: Kind, run: Run | None, site: Instruction, message: str, help: str
    ) -> None:
        """A fault that needs no more facts; `run` is None where no thread is at fault."""
        if self.is_new(kind, site, times=1 if run is None else run.count):
            threads = () if run is None else self.threads(run, None)
            self.add(Finding(kind=kind, message=message, help=help, site=site, threads=threads))

    def transaction_bytes(
        self,
        run: Run | None,
        site: Instruction,
        expected: Instruction | None,
        phase: int,
        missing: int,
    ) -> None:
        """A phase in which more bytes were delivered than promised."""
        if not self.is_new(Kind.COUNT, site, expected):
            return
        self.add(
            Finding(
                kind=Kind.COUNT,
                message=f"phase {phase} of an mbarrier: {missing} bytes pending; more were "
                "delivered than promised",
                help="promise exactly the bytes that the copies of the phase deliver",
                site=site,
                threads=() if run is None else self.threads(run, None),
                other=expected,
                other_role="bytes are promised here",
            )
        )

    # Collectives and barriers

    def absent_lanes(
        self,
        run: Run,
        site: Instruction | None,
        absent: Lanes,
        reported: Lanes,
        *,
        forced: bool,
    ) -> None:
        """A warp collective whose mask names lanes that never come."""
        if site is None or not self.is_new(Kind.PERSPECTIVE, site):
            return
        warp, lane = (int(index) for index in np.argwhere(reported)[0])
        bits = int(absent[warp, lane])
        missing = [k for k in range(WARP) if bits >> k & 1]
        why = "wait elsewhere" if forced else "have exited or do not exist"
        first = ", ".join(map(str, missing[:6])) + (", ..." if len(missing) > 6 else "")
        self.add(
            Finding(
                kind=Kind.PERSPECTIVE,
                message=f"`{site.opcode}` needs {len(missing)} lanes that {why} (lanes {first})",
                help="call it where all the lanes it names are, or name only those that are there",
                site=site,
                threads=self.threads(run, np.array([warp * WARP + lane]), are_lanes=True),
            )
        )

    def partial_warpgroup(
        self, batch: Batch, site: Instruction, lane: int, there: int, wanted: int
    ) -> None:
        """A warpgroup instruction that some warps of the warpgroup do not execute."""
        if not self.is_new(Kind.PERSPECTIVE, site):
            return
        self.add(
            Finding(
                kind=Kind.PERSPECTIVE,
                message=f"`{site.form.name}` is executed by {there} of {wanted} warps of a "
                "warpgroup",
                help="let all four warps of an aligned warpgroup execute it together",
                site=site,
                threads=(thread_id(batch.geometry, lane),),
            )
        )

    def accumulators_in_flight(self, run: Run, site: Instruction, product: Instruction) -> None:
        """Registers of an asynchronous product are used before anybody has waited for it."""
        if not self.is_new(Kind.LIFETIME, site, product, times=run.count):
            return
        self.add(
            Finding(
                kind=Kind.LIFETIME,
                message=f"uses registers that an asynchronous `{product.form.name}` still changes",
                help="wait for the product's group (`wgmma.wait_group`) first",
                site=site,
                threads=self.threads(run, None),
                other=product,
                other_role="the product is issued here",
            )
        )

    def foreign_lanes(self, run: Run, site: Instruction, masks: Lanes) -> None:
        """Lanes that are not in the mask they name, or whose partners name another mask."""
        active = run.mask_array().reshape(-1, WARP)
        own = (masks >> np.arange(WARP, dtype=np.uint32)) & np.uint32(1)
        outside = active & (own == 0)
        if not outside.any() or not self.is_new(Kind.PERSPECTIVE, site):
            return
        warp, lane = (int(index) for index in np.argwhere(outside)[0])
        mask = int(masks[warp, lane])
        self.add(
            Finding(
                kind=Kind.PERSPECTIVE,
                message=f"lane {lane} executes `{site.opcode}` with mask {mask:#010x}, "
                "which does not name it",
                help="derive the mask from the lane's own group",
                site=site,
                threads=self.threads(run, np.flatnonzero(outside.reshape(-1)), are_lanes=True),
            )
        )

    def mask_by_chance(self, run: Run, site: Instruction, apart: Lanes) -> None:
        """An `activemask` that leaves out lanes which only happen to be elsewhere."""
        if not self.is_new(Kind.PERSPECTIVE, site):
            return
        lane = int(np.flatnonzero(apart)[0])
        lanes = np.flatnonzero(apart[lane - lane % WARP :][:WARP])
        self.add(
            Finding(
                kind=Kind.PERSPECTIVE,
                message=f"`{site.opcode}` leaves out {len(lanes)} lanes of its warp (from lane "
                f"{int(lanes[0])} on) that only happen to be elsewhere at this moment",
                help="name the lanes that must take part, before they part ways; where any group "
                "of lanes will do, this is no fault",
                site=site,
                threads=self.threads(run, None),
            )
        )

    def check_barrier(self, run: Run, site: Instruction, number: int, count: int) -> None:
        """Ids above 15 and counts that are no multiple of 32 or exceed the block."""
        threads = run.batch.geometry.width
        if number < 16 and count % WARP == 0 and count <= threads:
            return
        message = f"barrier {number} with {count} threads"
        if number > 15:
            message += ": ids go from 0 to 15"
        elif count % WARP:
            message += f": the count is no multiple of {WARP}"
        else:
            message += f": the block has only {threads}"
        self.plain(Kind.COUNT, run, site, message, "correct the barrier's id and thread count")

    def barrier_counts_differ(
        self, run: Run, site: Instruction, number: int, known: int, count: int
    ) -> None:
        """Two thread counts in one generation of a barrier."""
        message = f"barrier {number}: {_count(count)} here, {_count(known)} elsewhere in one turn"
        help = "give all arrivals at one barrier the same count"
        self.plain(Kind.COUNT, run, site, message, help)

    def barrier_sites_differ(
        self, run: Run, site: Instruction, first: Instruction, number: int
    ) -> None:
        """Threads of one block wait for each other at different barrier instructions."""
        if not self.is_new(Kind.PERSPECTIVE, site, first):
            return
        self.add(
            Finding(
                kind=Kind.PERSPECTIVE,
                message=f"threads of one block meet at two different barriers (id {number})",
                help="move the barrier out of the divergent branch",
                site=site,
                threads=self.threads(run, None),
                other=first,
                other_role="other threads wait here",
            )
        )

    def arrived_twice(self, run: Run, site: Instruction, again: Lanes) -> None:
        """A warp arrives at a barrier again before the generation is complete."""
        self.plain(Kind.COUNT, run, site, "a warp arrives twice in one generation of a barrier",
                    "let the warp wait (sync) before it arrives again")  # fmt: skip

    def barrier_overrun(
        self,
        batch: Batch,
        site: Instruction,
        number: int,
        over: Lanes,
        counted: Lanes,
        wanted: Lanes,
    ) -> None:
        """More threads arrived than the barrier expected."""
        block = int(np.flatnonzero(over)[0])
        if self.is_new(Kind.COUNT, site):
            self.add(
                Finding(
                    kind=Kind.COUNT,
                    message=f"barrier {number}: {int(counted[block])} threads arrived, "
                    f"{int(wanted[block])} were expected",
                    help="give the barrier the number of threads that really arrive",
                    site=site,
                    threads=(thread_id(batch.geometry, block * batch.geometry.width),),
                )
            )

    def barrier_after_exit(
        self, batch: Batch, site: Instruction, number: int, short: Lanes, present: Lanes
    ) -> None:
        """A block barrier opens although some threads of the block have exited before it."""
        block = int(np.flatnonzero(short)[0])
        if not self.is_new(Kind.EXIT, site):
            return
        total = batch.geometry.shape.block.volume
        self.add(
            Finding(
                kind=Kind.EXIT,
                message=f"barrier {number}: {int(present[block])} of {total} threads present, "
                "the others have exited",
                help="keep all threads of the block until the last barrier and guard only the "
                "memory accesses",
                site=site,
                threads=(thread_id(batch.geometry, block * batch.geometry.width),),
            )
        )

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


def _chosen(place: Place, positions: Lanes) -> Lanes:
    chosen: Lanes = positions if place.chosen is None else place.chosen[positions]
    return chosen


def _count(count: int) -> str:
    return f"{count} threads" if count else "all threads"


def _key(
    kind: Kind, site: Instruction | None, other: Instruction | None, array: str
) -> _Key:
    return kind, place_key(site), place_key(other), array


def place_key(site: Instruction | None) -> object:
    """Equal for instructions that one place of the source made, as copies of an unrolled loop."""
    if site is None or site.location is None:
        return None if site is None else site.line
    return site.form.name, site.location

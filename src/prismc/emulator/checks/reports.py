"""Findings about memory order, in words."""

from __future__ import annotations

import numpy as np

from prismc.emulator.checks.clocks import ENGINES
from prismc.emulator.checks.readers import Access, Earlier
from prismc.emulator.checks.signals import Handover, Signals
from prismc.emulator.findings import Finding, Kind, ThreadId, place_key, thread_id, thread_of
from prismc.emulator.geometry import WARP
from prismc.emulator.launch import Launch
from prismc.emulator.memory import Place, Region
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.run import Run
from prismc.emulator.units.mbarriers import MBarriers
from prismc.source.record import Record


class _Pair(Record):
    """Two unordered accesses: their instructions, threads in the grid, the earlier one's stamp, and
    where they meet."""

    site: Instruction
    other: Instruction
    doing: str
    role: str
    own: int
    thread: int
    stamp: int
    region: int
    array: str
    element: str


class RaceReports:
    """Turns unordered accesses into findings; numbers instructions for the shadows."""

    def __init__(self, launch: Launch, signals: Signals) -> None:
        self.launch = launch
        self.signals = signals
        self._sites: list[Instruction] = []
        self._numbers: dict[int, int] = {}
        self._blamed: set[object] = set()

    def number(self, site: Instruction) -> int:
        """A small number for an instruction."""
        known = self._numbers.get(id(site))
        if known is None:
            known = self._numbers[id(site)] = len(self._sites)
            self._sites.append(site)
        return known

    def race(
        self,
        run: Run,
        region: Region,
        access: Access,
        granule: int,
        earlier: Earlier,
        unordered: Lanes,
        doing: str,
        role: str,
    ) -> None:
        """Accesses that nothing orders with earlier ones; `granule` is in bytes."""
        site = self._sites[access.site]
        for number in np.unique(earlier.sites[unordered]):
            other = self._sites[int(number)]
            same = unordered[earlier.sites[unordered] == number]
            at = int(same[0])
            position = int(earlier.positions[at])
            offset = int(access.granules[position]) * granule
            pair = _Pair(
                site=site,
                other=other,
                doing=doing,
                role=role,
                own=int(access.threads[position]),
                thread=int(earlier.threads[at]),
                stamp=int(earlier.stamps[at]),
                region=region.number,
                array=self.launch.layout.array_name(region, offset),
                element=self.launch.layout.element(region, offset),
            )
            self._report(run, pair, len(same))

    def _report(self, run: Run, pair: _Pair, times: int) -> None:
        findings = self.launch.findings
        kind, message, help = self._words(pair, run.batch.geometry.width + ENGINES)
        if not findings.is_new(kind, pair.site, pair.other, pair.array, times):
            return
        threads = self.signals.clocks.of(run.batch).lanes_of(np.array([pair.own, pair.thread]))
        for lane, site, doing in zip(
            threads.tolist(), (pair.site, pair.other), (pair.doing, pair.role), strict=True
        ):
            self._blame_wait(run, lane, site, reads=doing.startswith("reads"))
        findings.add(
            Finding(
                kind=kind,
                message=message,
                help=help,
                site=pair.site,
                threads=(self._thread(pair.own, run),),
                array=pair.array,
                element=pair.element,
                other=pair.other,
                other_role=f"the other thread {pair.role} here",
                other_thread=self._thread(pair.thread, run),
            )
        )

    def _blame_wait(self, run: Run, lane: int, access: Instruction, *, reads: bool) -> None:
        """Reports a lane's wait by parity that should have held an access back, if there is one."""
        wait = None if lane < 0 else run.batch.unit(MBarriers).stale_wait(lane, reads=reads)
        # One access is enough to show what a wait does not hold back.
        if wait is not None and place_key(wait.site) not in self._blamed:
            self._blamed.add(place_key(wait.site))
            thread = thread_id(run.batch.geometry, lane)
            self.launch.findings.stale_wait(wait, thread, access)

    def _words(self, pair: _Pair, width: int) -> tuple[Kind, str, str]:
        """The kind, message and help: a hand-over that lacks a side is a missing order."""
        message = f"{pair.doing} another thread {pair.role}"
        handover = self.signals.passed(pair.own, pair.thread, pair.region, width, pair.stamp)
        if handover is None or handover.is_complete:
            help = _help(pair, width) if handover is None else _late(handover)
            return Kind.RACE, f"{message}, with nothing that orders the two", help
        side = "reading" if handover.released else "writing"
        place, fence = (
            (handover.reader, "acquire it, or put a fence behind it,")
            if handover.released
            else (handover.writer, "release it, or put a fence before it,")
        )
        return (
            Kind.ORDER,
            f"{message}; the value that passed between them has no order on the {side} side",
            f"`{place.opcode}` (PTX line {place.line}) hands over: {fence} "
            "at a scope that includes both threads",
        )

    def _thread(self, number: int, run: Run) -> ThreadId:
        shape = run.batch.geometry.shape
        return thread_of(shape, *divmod(number, shape.width + ENGINES))

    def are_engines(self, sites: Lanes) -> Lanes:
        """Which instructions access memory by the asynchronous proxy, though a thread has waited
        for them: accesses by one proxy need no fence between (PTX ISA, "Causality order")."""
        found: Lanes = np.array(
            [self._sites[int(site)].opcode.startswith("cp.async.bulk") for site in sites], np.bool_
        )
        return found

    def unfenced(
        self,
        run: Run,
        region: Region,
        access: Access,
        granule: int,
        earlier: Earlier,
        found: Lanes,
        role: str,
    ) -> None:
        """The copy engine meets ordinary accesses without a proxy fence."""
        site, at = self._sites[access.site], int(found[0])
        other = self._sites[int(earlier.sites[at])]
        position = int(earlier.positions[at])
        offset = int(access.granules[position]) * granule
        array = self.launch.layout.array_name(region, offset)
        findings = self.launch.findings
        if not findings.is_new(Kind.ORDER, site, other, array, len(found)):
            return
        findings.add(
            Finding(
                kind=Kind.ORDER,
                message=f"the copy engine comes to memory that a thread {role} in the generic "
                "proxy, with no proxy fence between",
                help=f"let each thread that {role} execute `fence.proxy.async` after it and before "
                "it synchronises",
                site=site,
                threads=(self._thread(int(access.threads[position]), run),),
                array=array,
                element=self.launch.layout.element(region, offset),
                other=other,
                other_role=f"the thread {role} here",
                other_thread=self._thread(int(earlier.threads[at]), run),
            )
        )

    def in_flight(
        self,
        run: Run,
        region: Region,
        offset: int,
        number: int,
        other: Instruction,
        lane: int,
        doing: str,
        role: str,
        times: int,
    ) -> None:
        """An access to memory of an asynchronous operation nobody has waited for."""
        site, array = self._sites[number], self.launch.layout.array_name(region, offset)
        findings = self.launch.findings
        if not findings.is_new(Kind.LIFETIME, site, other, array, times):
            return
        self._blame_wait(run, lane, site, reads=doing.startswith("reads"))
        findings.add(
            Finding(
                kind=Kind.LIFETIME,
                message=f"{doing} an asynchronous operation still {role}",
                help="wait for the operation first, in the thread that issued it or through its "
                "mbarrier, then synchronise",
                site=site,
                threads=findings.threads(run, np.array([lane]), are_lanes=True),
                array=array,
                element=self.launch.layout.element(region, offset),
                other=other,
                other_role="the operation is issued here",
            )
        )

    def outlived(self, run: Run, region: Region, offset: int, number: int, times: int) -> None:
        """Another block's access to shared memory that may come after its block has exited."""
        site, array = self._sites[number], self.launch.layout.array_name(region, offset)
        findings = self.launch.findings
        if not findings.is_new(Kind.LIFETIME, site, None, array, times):
            return
        findings.add(
            Finding(
                kind=Kind.LIFETIME,
                message="accesses shared memory of another block, which may have exited by then",
                help="let all blocks wait at a cluster barrier before the first one exits",
                site=site,
                threads=findings.threads(run, None),
                array=array,
                element=self.launch.layout.element(region, offset),
            )
        )

    def outlives(
        self,
        run: Run,
        region: Region,
        offset: int,
        site: Instruction,
        lane: int,
        role: str,
        times: int,
    ) -> None:
        """An asynchronous operation on shared memory whose block has exited."""
        array = self.launch.layout.array_name(region, offset)
        findings = self.launch.findings
        if not findings.is_new(Kind.LIFETIME, site, None, array, times):
            return
        findings.add(
            Finding(
                kind=Kind.LIFETIME,
                message=f"still {role} shared memory when all threads of its block have exited",
                help="wait for the operation before the block's last thread exits",
                site=site,
                threads=findings.threads(run, np.array([lane]), are_lanes=True),
                array=array,
                element=self.launch.layout.element(region, offset),
            )
        )

    def uninitialised(self, run: Run, site: Instruction, place: Place, positions: Lanes) -> None:
        """Loads of bytes that nothing has stored to."""
        region = place.region
        offset = int(place.offsets[positions[0]])
        array = self.launch.layout.array_name(region, offset)
        findings = self.launch.findings
        if not findings.is_new(Kind.UNINIT, site, None, array, len(positions)):
            return
        chosen = positions if place.chosen is None else place.chosen[positions]
        lane = int(run.spread(run.lane_numbers())[chosen[0]])
        self._blame_wait(run, lane, site, reads=True)
        findings.add(
            Finding(
                kind=Kind.UNINIT,
                message="reads bytes that nothing has written",
                help="store to the element before it is read, or guard the read",
                site=site,
                threads=findings.threads(run, chosen if len(place.offsets) > 1 else None),
                array=array,
                element=self.launch.layout.element(region, offset),
            )
        )


def _late(handover: Handover) -> str:
    """Help where a value has passed between the blocks, but not to this thread in time."""
    taker = handover.reader
    return (
        f"the thread that takes the other block's value (`{taker.opcode}`, PTX line {taker.line}) "
        "must acquire it, or execute a fence behind it, before the barrier that lets this one go on"
    )


def _help(pair: _Pair, width: int) -> str:
    if pair.own // width != pair.thread // width:
        return "order the blocks with a release and an acquire at gpu scope, or use two kernels"
    if pair.own // WARP == pair.thread // WARP:
        return "put a warp barrier (`__syncwarp`) between the two"
    return "put a block barrier (`__syncthreads`) between the two"

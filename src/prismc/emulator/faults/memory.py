"""Faults of single accesses: out of bounds, misaligned, into read-only memory."""

from __future__ import annotations

import numpy as np

from prismc.emulator.findings import Collector, Finding, Kind
from prismc.emulator.memory import Place, Region
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.run import Run


class MemoryFaults(Collector):
    """Reports faults of single accesses."""

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
        region = self.layout.memory.nearest(address) if space == "global" else None
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
            end = self.layout.shared_end
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
        return self.layout.element(region, address - region.base)

    def misaligned(self, run: Run, site: Instruction, place: Place, bad: Lanes, align: int) -> None:
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
                element=self.layout.element(place.region, offset),
            )
        )

    def block_has_exited(self, run: Run, site: Instruction, place: Place, wrong: Lanes) -> None:
        """Accesses to the shared memory of a block of the cluster whose threads have all exited."""
        if not self.is_new(Kind.LIFETIME, site, None, "", len(wrong)):
            return
        self.add(
            Finding(
                kind=Kind.LIFETIME,
                message="accesses the shared memory of another block that may have exited",
                help="let all blocks wait at a cluster barrier before the first one exits",
                site=site,
                threads=self.threads(run, _chosen(place, wrong)),
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


def _chosen(place: Place, positions: Lanes) -> Lanes:
    chosen: Lanes = positions if place.chosen is None else place.chosen[positions]
    return chosen

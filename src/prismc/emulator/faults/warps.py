"""Faults of collectives: the wrong lanes, warps or masks."""

from __future__ import annotations

import numpy as np

from prismc.emulator.findings import Collector, Finding, Kind, thread_id
from prismc.emulator.geometry import WARP
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.run import Run


class WarpFaults(Collector):
    """Reports faults of collectives."""

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

    def product_without_fence(self, run: Run, site: Instruction) -> None:
        """A product of a warpgroup whose registers no `wgmma.fence` has handed over."""
        self.plain(
            Kind.ORDER, run, site,
            "no `wgmma.fence` since the product's registers were changed",
            "execute `wgmma.fence` between the last use of the registers and the product",
        )  # fmt: skip

    def accumulators_in_flight(self, run: Run, site: Instruction, product: Instruction) -> None:
        """Accumulators of an asynchronous product are used before anybody has waited for it."""
        message = f"uses registers that an asynchronous `{product.form.name}` still changes"
        self._registers_in_flight(run, site, product, message)

    def operands_in_flight(self, run: Run, site: Instruction, product: Instruction) -> None:
        """Registers with a fragment of A are changed before anybody has waited for the product."""
        message = f"changes registers that an asynchronous `{product.form.name}` still reads"
        self._registers_in_flight(run, site, product, message)

    def _registers_in_flight(
        self, run: Run, site: Instruction, product: Instruction, message: str
    ) -> None:
        if not self.is_new(Kind.LIFETIME, site, product, times=run.count):
            return
        self.add(
            Finding(
                kind=Kind.LIFETIME,
                message=message,
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

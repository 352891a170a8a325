"""`wgmma` instructions (PTX ISA 9.7.15): fences, groups, and the products themselves."""

from __future__ import annotations

import numpy as np

from prismc.emulator.decode import Decoded, Decoder, Source
from prismc.emulator.findings import Kind
from prismc.emulator.geometry import WARP
from prismc.emulator.memory import SHARED_START
from prismc.emulator.ptx.tree import Immediate, Instruction, Operand, Vector
from prismc.emulator.semantics.registry import Lanes, Refused, bits_of
from prismc.emulator.semantics.wgmma import ROWS, Product, addresses, bind, decode_descriptor
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.emulator.units.meetings import whole_warp
from prismc.emulator.units.warpgroups import GROUP_WARPS, Pending, WarpgroupProducts


def open_wgmma(decoder: Decoder, site: Instruction) -> Decoded:
    """One of the `wgmma` instructions."""
    return Decoded(step=_step(decoder, site), members=whole_warp)


def _step(decoder: Decoder, site: Instruction) -> Step:
    form = site.form
    if form.has("fence"):
        return lambda run: run.batch.unit(WarpgroupProducts).fence(run)
    if form.has("commit_group"):
        return lambda run: run.batch.unit(WarpgroupProducts).commit(run)
    if form.has("wait_group"):
        newest = _flag(decoder, site, site.operands[0])
        return lambda run: run.batch.unit(WarpgroupProducts).wait(run, newest)
    return _Multiply(decoder, site).step


def _flag(decoder: Decoder, site: Instruction, operand: Operand | None) -> int:
    if not isinstance(operand, Immediate):
        decoder.refuse(site, "expected a number")
    return operand.value


class _Multiply:
    """`wgmma.mma_async`, decoded."""

    def __init__(self, decoder: Decoder, site: Instruction) -> None:
        self.decoder, self.site = decoder, site
        self.launch = decoder.launch
        try:
            self.product: Product = bind(site.form)
        except Refused as refusal:
            decoder.refuse(site, str(refusal))
        d, a, b, *rest = site.operands
        self.registers = tuple(r for r in decoder.destinations(d, site) if r is not None)
        self.left: tuple[Source, ...] = ()
        self.left_at: Source | None = None
        if isinstance(a, Vector):
            self.left = tuple(decoder.source(item, "b32", site) for item in a.items)
        else:
            self.left_at = decoder.source(a, "b64", site)
        self.right_at = decoder.source(b, "b64", site)
        self.scale = decoder.source(rest.pop(0), "pred", site) if rest else None
        flags = [_flag(decoder, site, item) for item in rest]
        signs = flags[:2] if len(flags) >= 2 else [1, 1]
        self.negations = (signs[0] == -1, signs[1] == -1)
        majors = flags[2:]
        self.left_transposed = bool(majors and self.left_at is not None and majors[0])
        self.right_transposed = bool(majors and majors[-1])
        self._check_registers()

    def _check_registers(self) -> None:
        wanted = self.product.columns // 2 // (2 if self.product.result == "f16" else 1)
        if len(self.registers) != wanted:
            self.decoder.refuse(self.site, f"D has {len(self.registers)} registers, not {wanted}")
        if self.left and len(self.left) != 4:
            self.decoder.refuse(self.site, "A in registers has four of them")

    @property
    def step(self) -> Step:
        return self._issue

    def _issue(self, run: Run) -> None:
        """Issues the product for each warpgroup with executing warps."""
        warps = np.unique(run.lane_numbers() // WARP)
        for group in np.unique(warps // GROUP_WARPS):
            own = warps[warps // GROUP_WARPS == group]
            item = self._pending(run, own)
            if item is not None:
                run.batch.unit(WarpgroupProducts).issue(run, item)

    def _pending(self, run: Run, warps: Lanes) -> Pending | None:
        product = self.product
        lane = int(warps[0]) * WARP
        right_at = self._matrix(run, lane, self.right_at, product.columns, product.second_type,
                                transposed=self.right_transposed)  # fmt: skip
        left_at = left = None
        if self.left_at is not None:
            left_at = self._matrix(run, lane, self.left_at, ROWS, product.first_type,
                                   transposed=self.left_transposed)  # fmt: skip
            if left_at is None:
                return None
        else:
            left = self._left(run, warps)
        if right_at is None:
            return None
        scale = True
        if self.scale is not None:
            value = self._at(run, self.scale, lane)
            scale = bool(value)
        return Pending(
            product=product,
            frame=run.frame,
            registers=self.registers,
            operands=frozenset(source.slot for source in self.left),
            warps=warps,
            left=left,
            left_at=left_at,
            right_at=right_at,
            scale=scale,
            negations=self.negations,
            operation=self.launch.new_async(self.site, in_async_proxy=True),
        )

    def _at(self, run: Run, source: Source, lane: int) -> int:
        """A source operand's value in one lane."""
        array = run.regs[source.slot]
        value = array[lane if len(array) > 1 else 0 : (lane if len(array) > 1 else 0) + 1]
        return int((value if source.adapt is None else source.adapt(value))[0])

    def _left(self, run: Run, warps: Lanes) -> Lanes:
        """A from the registers of the warpgroup."""
        first = int(warps[0]) // GROUP_WARPS * GROUP_WARPS * WARP
        lanes = first + np.arange(GROUP_WARPS * WARP)
        total = run.batch.geometry.count
        matrix: Lanes = self.product.left(
            tuple(
                np.broadcast_to(run.regs[source.slot], (total,))[lanes].reshape(GROUP_WARPS, WARP)
                for source in self.left
            )
        )
        return matrix

    def _matrix(
        self,
        run: Run,
        lane: int,
        source: Source,
        extent: int,
        type_name: str,
        *,
        transposed: bool,
    ) -> Lanes | None:
        """Flat offsets of a matrix's bytes `[extent, depth, bytes]`; None if it leaves memory."""
        descriptor = decode_descriptor(self._at(run, source, lane))
        starts = addresses(descriptor, extent, self.product.depth, type_name, not transposed)
        size = bits_of(type_name) // 8
        end = self.launch.layout.shared_end
        if int(starts.min()) < SHARED_START or int(starts.max()) + size > end:
            self.launch.findings.plain(
                Kind.BOUNDS, run, self.site, "a matrix descriptor leads outside of shared memory",
                "correct the descriptor's address and offsets",
            )  # fmt: skip
            return None
        base = int(run.batch.shared_base[lane])
        at: Lanes = base + starts[..., None] + np.arange(size)
        return at

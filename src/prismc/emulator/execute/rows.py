"""`ldmatrix` and `stmatrix`: the memory side (PTX ISA 9.7.14.5.15 and 9.7.14.5.16).

Each matrix is eight rows of 16 bytes; lanes 8m to 8m + 7 hold the addresses of matrix m's rows.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.decode import AddressOf, Decoded, Decoder
from prismc.emulator.execute.reach import Reach
from prismc.emulator.geometry import WARP
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.scopes import Qualifiers
from prismc.emulator.semantics.registry import Lanes, Operation, Refused, find
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.emulator.units.meetings import whole_warp

_ROW = 16
_ROWS = 8
_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
_WEAK = Qualifiers(space="shared")


def open_load_matrix(decoder: Decoder, site: Instruction) -> Decoded:
    """Rows from shared memory to fragments."""
    operation, matrices = _operation(decoder, site)
    destinations = decoder.destinations(site.operands[0], site)
    where, reach = _memory(decoder, site, 1, writes=False)
    if len(destinations) != matrices:
        decoder.refuse(site, f"{len(destinations)} registers for {matrices} matrices")
    watch = decoder.launch.watch

    def step(run: Run) -> None:
        warps, some, places = _places(run, where, reach, matrices)
        count = run.batch.geometry.count // WARP if warps is None else len(warps)
        rows = np.zeros((count, matrices, _ROWS, _ROW), np.uint8)
        flat = rows.reshape(-1, _ROW)
        for place in places:
            if watch is not None:
                watch.read(some, site, place, _ROW, _WEAK)
            target = _row_numbers(some, place, warps, matrices)
            flat[target] = place.region.data.reshape(-1, _ROW)[place.offsets // _ROW]
        results = operation(rows)
        for register, value in zip(destinations, results, strict=True):
            if register is not None:
                run.write_by_warp(register, value, warps)

    return Decoded(step=step, members=whole_warp)


def open_store_matrix(decoder: Decoder, site: Instruction) -> Decoded:
    """Fragments to rows in shared memory."""
    operation, matrices = _operation(decoder, site)
    elements = decoder.elements(site.operands[1])
    if len(elements) != matrices:
        decoder.refuse(site, f"{len(elements)} registers for {matrices} matrices")
    sources = [decoder.source(element, "b32", site).slot for element in elements]
    where, reach = _memory(decoder, site, 0, writes=True)
    return Decoded(
        step=_store_step(decoder, site, operation, matrices, sources, where, reach),
        members=whole_warp,
    )


def _store_step(
    decoder: Decoder,
    site: Instruction,
    operation: Operation,
    matrices: int,
    sources: list[int],
    where: AddressOf,
    reach: Reach,
) -> Step:
    launch = decoder.launch

    def step(run: Run) -> None:
        launch.progress += 1
        warps, some, places = _places(run, where, reach, matrices)
        rows = operation(tuple(run.by_warp(run.regs[slot], warps) for slot in sources))
        flat = rows.reshape(-1, _ROW)
        for place in places:
            content = flat[_row_numbers(some, place, warps, matrices)]
            if launch.watch is not None:
                halves = content.view(np.uint64)
                values = [np.ascontiguousarray(halves[:, k]) for k in range(2)]
                everyone = place._replace(chosen=None)
                launch.watch.write(_chosen_run(some, place), site, everyone, _ROW, _WEAK, values, 8)
            place.region.data.reshape(-1, _ROW)[place.offsets // _ROW] = content

    return step


def _chosen_run(run: Run, place: Place) -> Run:
    """The run of just the lanes that reach a place."""
    if place.chosen is None:
        return run
    mask = np.zeros(run.batch.geometry.count, np.bool_)
    mask[run.lane_numbers()[place.chosen]] = True
    return run.only(mask) or run


def _operation(decoder: Decoder, site: Instruction) -> tuple[Operation, int]:
    """The register side, which `semantics` knows, and the number of matrices."""
    try:
        family = find(site.form)
        operation = family.bind(site.form)
    except Refused as refusal:
        decoder.refuse(site, str(refusal))
    counts = [_COUNTS[m] for m in site.form.modifiers if m in _COUNTS]
    if len(counts) != 1:
        decoder.refuse(site, "expected `.x1`, `.x2` or `.x4`")
    return operation, counts[0]


def _memory(
    decoder: Decoder, site: Instruction, operand: int, *, writes: bool
) -> tuple[AddressOf, Reach]:
    where = decoder.address(site.operands[operand], site)
    shared = any(m.startswith("shared") for m in site.form.modifiers)
    space = "shared" if shared else "generic"
    return where, Reach(decoder.launch, site, space, _ROW, _ROW, writes=writes)


def _places(
    run: Run, where: AddressOf, reach: Reach, matrices: int
) -> tuple[Lanes | None, Run, list[Place]]:
    """The warps that execute, the lanes with addresses, and where those lead."""
    warps = run.warps()
    lane = run.batch.geometry.thread % WARP
    some = run.only(lane < _ROWS * matrices) or run
    return warps, some, reach.places(some, some.spread(where.packed(some)))


def _row_numbers(run: Run, place: Place, warps: Lanes | None, matrices: int) -> Lanes:
    """For each lane of a place, the row it addresses, over all warps' matrices."""
    lanes = run.lane_numbers() if place.chosen is None else run.lane_numbers()[place.chosen]
    warp, lane = np.divmod(lanes, WARP)
    if warps is not None:
        warp = np.searchsorted(warps, warp)
    return warp * (_ROWS * matrices) + lane

"""The kernels of `benchmarks/collectives/` and their hand-written twins, on the PTX machine: both
compute what NumPy does, and ours is hardly longer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from machine_code import disassembler
from pairs import PAIRS, TARGETS, Pair

from parity import compare
from prismc.backend.cuda_module import CudaModule, KernelEntry
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.emulator.api import run_ptx
from prismc.emulator.host import Buffer
from prismc.emulator.schedule import adversaries
from prismc.source.span import NOWHERE
from support.running import Array, compile_file

COLLECTIVES = {pair.kernel: pair for pair in PAIRS if pair.folder == "benchmarks/collectives"}
BLOCKS, THREADS = 2, 256


def _rows(x: Array, found: Callable[[Array], Array]) -> Array:
    return np.concatenate([np.atleast_1d(found(row)) for row in x.reshape(BLOCKS, -1)])


def _sums_before(row: Array) -> Array:
    return np.cumsum(row, dtype=row.dtype) - row


def _counts(row: Array) -> Array:
    return np.bincount(row, minlength=256).astype(np.uint32)


# The element type, how many elements a block has, and what it makes of them.
KERNELS: dict[str, tuple[type[np.generic], int, Callable[[Array], Array]]] = {
    "block_reduce": (np.float32, 1024, np.max),
    "block_scan": (np.uint32, 1024, _sums_before),
    "block_exchange": (np.float32, 2048, np.copy),
    "block_histogram": (np.uint8, 4096, _counts),
    "block_radix_sort": (np.int32, 2048, np.sort),
    "block_merge_sort": (np.float32, 2048, np.sort),
}


def _twin_ptx(pair: Pair) -> str:
    text = pair.twin.read_text(encoding="utf-8")
    entry = KernelEntry(name=pair.kernel, at=NOWHERE, threads=THREADS)
    module = CudaModule(name=pair.twin.name, text=text, kernels=(entry,), files=())
    compilation = Nvrtc().compile(module, TARGETS[0])
    assert compilation.ptx is not None, compilation.log
    return compilation.ptx


def test_every_collective_is_tried() -> None:
    folder = Path(__file__).parents[2] / "benchmarks" / "collectives"
    assert set(KERNELS) == set(COLLECTIVES) == {path.stem for path in folder.glob("*.prism")}


@pytest.mark.parametrize("name", KERNELS)
def test_both_sides_are_right(name: str) -> None:
    pair, (dtype, size, row) = COLLECTIVES[name], KERNELS[name]
    x = np.random.default_rng(size).integers(-(2**31), 2**31, BLOCKS * size).astype(dtype)
    expected = _rows(x, row)
    for ptx in (compile_file(pair.program).ptx, _twin_ptx(pair)):
        for plan in adversaries(2):
            arguments = [Buffer(array=x), Buffer(array=np.zeros_like(expected))]
            result = run_ptx(ptx, pair.kernel, BLOCKS, THREADS, arguments, plan=plan)
            assert not result.findings
            assert np.array_equal(result.outputs[1], expected)


@pytest.mark.parametrize("name", KERNELS)
def test_no_kernel_is_longer_than_by_hand(name: str) -> None:
    program = disassembler()
    assert program is not None, "nvdisasm belongs to the development environment"
    comparison = compare(COLLECTIVES[name], TARGETS[0], Nvrtc(), program)
    ours, theirs = (len(side.code.instructions) for side in (comparison.prism, comparison.twin))
    assert ours <= 1.05 * theirs

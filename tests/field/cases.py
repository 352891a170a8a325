"""The field faults as CUDA kernels: launches, what the good form computes, what the faulty form is.

Each kernel of `cuda/` has a faulty form (`FAULT` defined) and a good one. Names follow the sections
of `README.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from emulator.launches import Launch
from prismc.emulator.findings import Kind
from prismc.emulator.host import Buffer, Tensor

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Fault:
    """What must be found in a faulty form: kinds, each with words of its message.

    `defines` selects the form; `launch` is another launch than the good form's. Where `always` is
    false, the fault shows under some schedules only.
    """

    found: dict[Kind, str]
    defines: str = "FAULT=1"
    launch: Callable[[], Launch] | None = None
    always: bool = True


@dataclass(frozen=True)
class Case:
    """A kernel file, its launches in the good form, and its faults.

    `races` is false where the watch for races would take more memory than a test should.
    """

    name: str
    file: str
    good: tuple[Callable[[], Launch], ...]
    faults: tuple[Fault, ...]
    target: str = "sm_80"
    defines: str = ""
    races: bool = True


def _integers(*shape: int) -> Array:
    return np.zeros(shape, np.int32)


def _floats(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def _group_max() -> Launch:
    data = np.arange(96, dtype=np.float32)
    return Launch(2, 64, [data, _floats(2), 96], {1: np.float32([63, 95])})


def _rotate() -> Launch:
    data, tid = np.arange(128, dtype=np.float32), np.arange(100)
    expected = (tid // 32 * 32 + (tid + 1) % 32).astype(np.float32)
    assert (expected[[31, 96, 99]] == [0, 97, 100]).all()
    return Launch(1, 128, [data, _floats(100), 100], {1: expected})


def _sub_sum() -> Launch:
    data = np.arange(32, dtype=np.int32)
    return Launch(1, 32, [data, _integers(4)], {1: np.int32([28, 92, 156, 220])})


def _count_gt() -> Launch:
    return Launch(1, 32, [np.arange(40, dtype=np.int32), 40, 29, _integers(1)], {3: np.int32([10])})


def _tiles(*work: int) -> Callable[[], Launch]:
    out = np.int32([each + 1 if each else -1 for each in work])
    args = [np.int32(work), np.full(len(work), -1, np.int32), len(work)]
    return lambda: Launch(1, 64, args, {1: out})


def _two_phase(blocks: int) -> Callable[[], Launch]:
    args = [_integers(blocks), np.zeros(1, np.uint32), _integers(blocks)]
    expected = np.roll(np.arange(blocks, dtype=np.int32), -1)
    return lambda: Launch(blocks, 128, args, {2: expected})


def _scans(rows: int) -> Callable[[], Launch]:
    data = np.ones((rows, 64), np.int32)
    expected = np.tile(np.arange(64, dtype=np.int32), (rows, 1))
    return lambda: Launch(1, 64, [data, np.zeros_like(data), rows], {1: expected})


def _two_scans() -> Launch:
    data = np.ones(128, np.int32)
    expected = np.tile(np.arange(64, dtype=np.int32), 2)
    return Launch(1, 64, [data, np.zeros_like(data)], {1: expected})


def _warp_tree() -> Launch:
    return Launch(1, 32, [np.arange(32, dtype=np.int32), _integers(1)], {1: np.int32([496])})


def _scan_step(tiles: int) -> Callable[[], Launch]:
    data = np.ones((tiles, 64), np.int32)
    expected = np.repeat(np.arange(1, tiles + 1, dtype=np.int32) * 64, 64).reshape(data.shape)
    return lambda: Launch(1, 64, [data, np.zeros_like(data), tiles], {1: expected})


def _ring_sums() -> Launch:
    data = np.repeat(np.arange(6, dtype=np.int32), 32)
    return Launch(1, 32, [data, _integers(6), 6], {1: 32 * np.arange(6, dtype=np.int32)})


def _pv() -> Launch:
    args = [np.ones((64, 16), np.float16), np.ones((16, 8), np.float16), _floats(64, 8)]
    return Launch(1, 128, args, {2: np.full((64, 8), 16, np.float32)})


def _product() -> Launch:
    args = [np.ones((4, 64, 16), np.float16), np.ones((4, 16, 8), np.float16), _floats(64, 8), 4]
    return Launch(1, 160, args, {2: np.full((64, 8), 64, np.float32)})


def _tensor_sums() -> Launch:
    rows = Tensor(array=np.ones((8, 64), np.float16), box=(16, 64), swizzle="none")
    return Launch(1, 32, [rows, _floats(2)], {1: np.float32([512, 512])})


def _total() -> Launch:
    args = [np.ones(256, np.int32), _integers(8), np.zeros(1, np.uint32), _integers(1)]
    return Launch(4, 64, args, {3: np.int32([256])})


def _fill(total: int) -> Callable[[], Launch]:
    size = total - 16
    args = [_integers(64), size]
    return lambda: Launch(1, 64, args, {0: np.arange(64, dtype=np.int32)}, dynamic_shared=size)


def _bucket() -> Launch:
    data, edges = np.float32([-1, 2, 4, 10, 6]), np.float32([1, 3, 5, 7, 9])
    args = [Buffer(array=data, name="in"), edges, _integers(5), 5]
    return Launch(1, 8, args, {2: np.int32([0, 1, 2, 5, 3])})


def _gather() -> Launch:
    length = 65537 * 32768
    data = Buffer(array=np.uint8([42]), name="in", start=2**31, length=length)
    return Launch(1, 1, [data, 65536, 32768, np.zeros(1, np.uint8)], {3: np.uint8([42])})


def _mark() -> Launch:
    start, n = 2**31 - 3000, 2**31 - 1
    out = Buffer(array=np.zeros(n - start, np.uint8), name="out", start=start, length=n)
    expected = np.zeros(n - start, np.uint8)
    expected[0::900] = 1
    return Launch(1, 1, [out, n, start, 900], {0: expected})


def _transpose16() -> Launch:
    data = np.arange(256, dtype=np.float32).reshape(16, 16)
    return Launch(1, 256, [data, np.zeros_like(data)], {1: data.T})


def _bsum(threads: int) -> Callable[[], Launch]:
    args = [np.ones(180, np.float32), _floats(1), 180]
    return lambda: Launch(1, threads, args, {1: np.float32([180])})


CASES = (
    Case("A01", "a01_early_return", (_group_max,), (
        Fault({Kind.EXIT: "32 of 64 threads present", Kind.UNINIT: ""}),
    )),
    Case("A03", "a03_guarded_shuffle", (_rotate,), (
        Fault({Kind.PERSPECTIVE: "needs 28 lanes that have exited or do not exist"}),
    )),
    Case("A04", "a04_wrong_mask", (_sub_sum,), (
        Fault({Kind.PERSPECTIVE: "with mask 0x0000ff00, which does not name it"}),
    )),
    Case("A06", "a06_active_mask", (_count_gt,), (
        Fault({Kind.PERSPECTIVE: "leaves out 16 lanes"}, always=False),
    )),
    Case("A06", "a06_active_mask", (_count_gt,), (
        Fault({Kind.PERSPECTIVE: "leaves out 16 lanes"}, always=False),
    )),
    Case("A08", "a08_arrive_and_go_on", (_tiles(5, 0, 7), _tiles(0, 0)), (
        Fault({Kind.COUNT: "twice in one generation"}, launch=_tiles(0, 0)),
        Fault({Kind.DEADLOCK: ""}, launch=_tiles(0, 0), always=False),
    )),
    Case("A12", "a12_grid_barrier", (_two_phase(4), _two_phase(300)), ()),
    Case("B01", "b01_scratch_in_a_loop", (_scans(2), _scans(1)), (
        Fault({Kind.RACE: ""}, launch=_scans(2)),
    )),
    Case("B01-calls", "b01_scratch_in_two_calls", (_two_scans,), (Fault({Kind.RACE: ""}),)),
    Case("B03", "b03_lock_step_tree", (_warp_tree,), (Fault({Kind.RACE: ""}),)),
    Case("B04", "b04_one_buffer", (_scan_step(3), _scan_step(1)), (
        Fault({Kind.RACE: ""}, launch=_scan_step(3)),
        Fault({Kind.RACE: ""}, launch=_scan_step(2)),
    )),
    Case("B04-two", "b04_one_buffer", (_scan_step(3), _scan_step(4)), (), defines="SLOTS=2"),
    Case("B06", "b06_commit_after_wait", (_ring_sums,), (Fault({Kind.LIFETIME: ""}),)),
    Case("B09", "b09_tile_for_the_tensor_core", (_pv,), (
        Fault({Kind.ORDER: "", Kind.RACE: ""}, "FAULT=1"),
        Fault({Kind.RACE: ""}, "FAULT=2"),
        Fault({Kind.ORDER: ""}, "FAULT=3"),
    ), target="sm_90a"),
    Case("B10", "b10_stage_handed_back", (_product,), (
        Fault({Kind.LIFETIME: ""}),
    ), target="sm_90a"),
    Case("B12", "b12_promised_bytes", (_tensor_sums,), (
        Fault({Kind.COUNT: "1024 bytes pending"}),
    ), target="sm_90"),
    Case("B15", "b15_last_block", (_total,), (
        Fault({Kind.ORDER: ""}, "FAULT=1"),
        Fault({Kind.RACE: ""}, "FAULT=2"),
        Fault({Kind.ORDER: ""}, "FAULT=3"),
    )),
    Case("C01", "c01_shared_limit", tuple(map(_fill, (49151, 49152, 49153, 232448))), (),
         target="sm_90"),
    Case("C02", "c02_load_without_guard", (_bucket,), (Fault({Kind.BOUNDS: "`in`"}),)),
    Case("C05", "c05_index_of_32_bits", (_gather,), (
        Fault({Kind.OVERFLOW: "32768 * 65536 = 2147483648 becomes -2147483648 in 32 bits"}),
    )),
    Case("C05-counter", "c05_counter_of_32_bits", (_mark,), (
        Fault({Kind.OVERFLOW: "2147484248 becomes -2147483048 in 32 bits"}),
    ), races=False),
    Case("C06", "c06_padded_tile", (_transpose16,), ()),
    Case("D01", "d01_ragged_block", (_bsum(192),), (
        Fault({Kind.PERSPECTIVE: "needs 12 lanes"}, launch=_bsum(180)),
    )),
)  # fmt: skip

"""More test kernels: collectives, barriers of parts, atomics and locks, other arithmetic."""

from __future__ import annotations

import numpy as np

from emulator.kernel_cases import RACE, SYNC, Fault, Kernel, Launch, Random
from prismc.emulator.findings import Kind
from support.numbers import bf16_bits


def _softmax(random: Random) -> Launch:
    data = random.standard_normal((3, 300)).astype(np.float32)
    scaled = np.exp(data - data.max(1, keepdims=True))
    args = [data, np.zeros_like(data), 300]
    return Launch(3, 128, args, {1: scaled / scaled.sum(1, keepdims=True)}, tolerance=1e-4)


def _bitonic(random: Random) -> Launch:
    keys = random.integers(-1000, 1000, (3, 256), np.int32)
    return Launch(3, 128, [keys], {0: np.sort(keys, axis=1)})


def _stencil(random: Random) -> Launch:
    data = random.integers(-9, 10, (5, 9, 13)).astype(np.float32)
    wide = np.pad(data, 1)
    inner = (slice(1, -1),) * 3
    result = 6 * data
    for axis in range(3):
        result -= np.roll(wide, 1, axis)[inner] + np.roll(wide, -1, axis)[inner]
    args = [data, np.zeros_like(data), 13, 9, 5]
    return Launch((2, 3, 2), (8, 4, 4), args, {1: result})


def _compact(random: Random) -> Launch:
    data = random.integers(-50, 50, 32, np.int32)
    kept = np.zeros(32, np.int32)
    positive = data[data > 0]
    kept[: len(positive)] = positive
    args = [data, np.zeros(32, np.int32), np.zeros(1, np.int32), 32]
    return Launch(1, 32, args, {1: kept, 2: np.array([len(positive)], np.int32)})


def _sub_groups(random: Random) -> Launch:
    data = random.integers(0, 3, 128, np.int32)
    sums = data.reshape(-1, 8).sum(1, dtype=np.int32)
    by_lane = np.repeat(sums, 8).reshape(-1, 32)
    bits = np.uint64(1) << np.arange(32, dtype=np.uint64)
    equal = ((by_lane[:, :, None] == by_lane[:, None, :]) * bits).sum(2).astype(np.uint32)
    args = [data, np.zeros(16, np.int32), np.zeros(128, np.uint32)]
    return Launch(2, 64, args, {1: sums, 2: equal.reshape(-1)})


def _named_barriers(random: Random) -> Launch:
    data = random.integers(0, 10, 128, np.int32)
    halves = data.reshape(2, 64).copy()
    for half, trips in enumerate((3, 5)):
        for _ in range(trips):
            halves[half] += np.roll(halves[half], -1)
    return Launch(1, 128, [data, np.zeros_like(data)], {1: halves.reshape(-1)})


def _hand_over(random: Random) -> Launch:
    data = random.integers(0, 100, (5, 96), np.int32)
    return Launch(1, 128, [data, np.zeros_like(data), 5], {1: data[:, ::-1]})


def _grid_barrier(random: Random) -> Launch:
    blocks = 5
    a = np.arange(blocks)[:, None] * 100 + np.arange(32)
    args = [np.zeros((blocks, 32), np.int32), np.zeros((blocks, 32), np.int32),
            np.zeros(1, np.uint32)]  # fmt: skip
    return Launch(blocks, 32, args, {1: np.roll(a, -1, 0)[:, ::-1].astype(np.int32)})


def _spin_lock(random: Random) -> Launch:
    args = [np.zeros(1, np.int32), np.zeros(1, np.int32), np.full(12, -1, np.int32)]
    return Launch(3, 128, args, {0: np.zeros(1, np.int32), 1: np.array([12], np.int32)})


def _mma_bf16(random: Random) -> Launch:
    a, b = random.integers(-8, 9, (64, 48)), random.integers(-8, 9, (48, 32))
    args = [bf16_bits(a), bf16_bits(b), np.zeros((64, 32), np.float32), 48]
    return Launch(1, 128, args, {2: (a @ b).astype(np.float32)})


def _wmma_tiles(random: Random) -> Launch:
    a, b = (random.integers(-8, 9, shape).astype(np.float16) for shape in ((16, 48), (48, 16)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    return Launch(1, 32, [a, b, np.zeros((16, 16), np.float32), 48], {2: expected})


def _spmv(random: Random) -> Launch:
    dense = random.integers(1, 9, (11, 90)) * (random.random((11, 90)) < 0.5)
    starts = np.concatenate(([0], np.cumsum((dense != 0).sum(1)))).astype(np.int32)
    columns = np.nonzero(dense)[1].astype(np.int32)
    x = random.integers(-5, 6, 90).astype(np.float32)
    args = [starts, columns, dense[dense != 0].astype(np.float32), x, np.zeros(11, np.float32), 11]
    return Launch(3, 128, args, {4: (dense @ x).astype(np.float32)})


def _print(random: Random) -> Launch:
    data = random.standard_normal(32).astype(np.float32)
    return Launch(1, 32, [data, np.zeros(32, np.int32), 32], {1: np.ones(32, np.int32)})


def _local_arrays(random: Random) -> Launch:
    data = random.integers(0, 100, (64, 8), np.int32)
    results = [_heap(row) for row in data.tolist()]
    return Launch(2, 32, [data, np.zeros(64, np.int32)], {1: np.array(results, np.int32)})


def _heap(values: list[int]) -> int:
    heap: list[int] = []
    for value in values:
        heap.append(value)
        i = len(heap) - 1
        while i > 0 and heap[(i - 1) // 2] < value:
            heap[i] = heap[(i - 1) // 2]
            i = (i - 1) // 2
        heap[i] = value
    return heap[0] * 1000 + heap[values[0] & 7]


def _dot_double(random: Random) -> Launch:
    x, y = (random.integers(1, 50, 500).astype(np.float64) for _ in range(2))
    exponents = x.view(np.uint64) >> np.uint64(52) & np.uint64(1)
    odd = np.bincount(exponents.astype(np.int64), minlength=2).astype(np.int32)
    args = [x, y, np.zeros(1), np.zeros(2, np.int32), 500]
    return Launch(2, 96, args, {2: np.array([x @ y]), 3: odd})


def _status_words(random: Random) -> Launch:
    data = random.integers(0, 100, (7, 64), np.uint32)
    args = [data, np.zeros_like(data), np.zeros(7, np.uint64)]
    return Launch(7, 64, args, {1: data.reshape(-1).cumsum(dtype=np.uint32).reshape(7, 64)})


_LOOP_BARRIER = 'asm volatile("bar.sync %0, 64;" :: "r"(1 + g) : "memory");'

MORE_KERNELS = (
    Kernel(
        "softmax",
        _softmax,
        faults=(
            Fault("    most = block_max(most, scratch);\n    __syncthreads();",
                  "    most = block_max(most, scratch);", RACE),
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault(SYNC, "", (*RACE, Kind.UNINIT), nth=1),
            Fault("i < cols; i += 128) y", "i <= cols; i += 128) y", (Kind.BOUNDS, *RACE)),
        ),
    ),
    Kernel(
        "bitonic",
        _bitonic,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault(SYNC, "", RACE, nth=1),
            Fault("s[t + 128] = keys", "s[t + 129] = keys", (Kind.BOUNDS, *RACE, Kind.UNINIT)),
        ),
    ),
    Kernel(
        "stencil",
        _stencil,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault("gx < nx", "gx <= nx + 20", (Kind.BOUNDS,)),
            Fault("e < 6 * 6 * 10", "e < 6 * 6 * 10 - 20", (Kind.UNINIT,)),
            Fault("tile[6][6][10]", "tile[5][6][10]", (Kind.BOUNDS,)),
        ),
    ),
    Kernel(
        "compact",
        _compact,
        faults=(
            Fault("__ballot_sync(0xffffffffu, x > 0)",
                  "0; if (x > -20) kept = __ballot_sync(0xffffffffu, x > 0)",
                  (Kind.PERSPECTIVE,)),
            Fault("if (x > 0) out[base + __popc(kept & ((1u << lane) - 1))] = x;",
                  "if (x > 0) out[base] = x;", RACE),
        ),
    ),
    Kernel(
        "sub_groups",
        _sub_groups,
        faults=(
            Fault("lane / 8 * 8", "lane % 4 * 8", (Kind.PERSPECTIVE,)),
            Fault("__match_any_sync(0xffffffffu, v)", "lane < 9 ? __match_any_sync(~0u, v) : 0",
                  (Kind.PERSPECTIVE,)),
            Fault("int v = in[t];", "if (t % 8 == 5) return; int v = in[t];", (Kind.PERSPECTIVE,)),
        ),
    ),
    Kernel(
        "named_barriers",
        _named_barriers,
        faults=(
            Fault(_LOOP_BARRIER, "__syncthreads();", (Kind.DEADLOCK, Kind.EXIT, Kind.PERSPECTIVE)),
            Fault(_LOOP_BARRIER, "", (*RACE, Kind.UNINIT)),
            Fault(_LOOP_BARRIER, "", RACE, nth=1),
            Fault('"r"(1 + g)', '"r"(1)', (Kind.COUNT, Kind.DEADLOCK, *RACE, Kind.UNINIT)),
            Fault("%0, 64;", "%0, 96;", (Kind.DEADLOCK, Kind.COUNT, *RACE, Kind.UNINIT)),
            Fault('"r"(1 + g)', '"r"(15 + g)', (Kind.COUNT,)),
        ),
    ),
    Kernel(
        "hand_over",
        _hand_over,
        faults=(
            Fault("if (i >= 2) SYNC(3 + i % 2);", "", (*RACE, Kind.COUNT)),
            Fault("if (i + 2 < tiles) ARRIVE(3 + i % 2);", "", (Kind.DEADLOCK,)),
            Fault("            ARRIVE(1 + i % 2);\n", "", (Kind.DEADLOCK,)),
            Fault("SYNC(1 + i % 2);\n            out", "out", (*RACE, Kind.UNINIT)),
            Fault("if (i >= 2) SYNC", "if (i >= 1) SYNC", (Kind.DEADLOCK,)),
            Fault('"bar.arrive %0, 128;"', '"bar.arrive %0, 96;"', (Kind.COUNT, Kind.DEADLOCK)),
            Fault("            ARRIVE(1 + i % 2);\n",
                  "            ARRIVE(1 + i % 2); ring[i % 2][t] = i;\n", RACE),
        ),
    ),
    Kernel(
        "grid_barrier",
        _grid_barrier,
        faults=(
            Fault("red.release.gpu", "red.relaxed.gpu", (Kind.ORDER,)),
            Fault("ld.acquire.gpu", "ld.relaxed.gpu", (Kind.ORDER,)),
            Fault(SYNC, "", RACE),
            Fault(SYNC, "", RACE, nth=1),
            Fault("red.release.gpu", "red.release.cta", (*RACE, Kind.ORDER)),
            Fault("seen < blocks", "seen <= blocks", (Kind.DEADLOCK,)),
        ),
    ),
    Kernel(
        "spin_lock",
        _spin_lock,
        faults=(
            Fault("        __threadfence();\n        int", "        int", (Kind.ORDER, *RACE)),
            Fault("        __threadfence();\n        atomicExch", "        atomicExch",
                  (Kind.ORDER, *RACE)),
            Fault("atomicExch(lock, 0);", "", (Kind.DEADLOCK,)),
            Fault("while (atomicCAS(lock, 0, 1) != 0) { }", "", RACE),
        ),
    ),
    Kernel(
        "mma_bf16",
        _mma_bf16,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault(SYNC, "", RACE, nth=1),
            Fault("a[64][24]", "a[64][20]", (Kind.ALIGN,)),
            Fault("for (int j = 0; j < 4; ++j) {", "if (lane < 30) for (int j = 0; j < 4; ++j) {",
                  (Kind.PERSPECTIVE,)),
            Fault("e < 16 * 32; e += 128) b", "e < 15 * 32; e += 128) b", (Kind.UNINIT,)),
        ),
    ),
    Kernel(
        "wmma_tiles",
        _wmma_tiles,
        faults=(
            Fault("__syncwarp();", "", (*RACE, Kind.UNINIT)),
            Fault("__syncwarp();", "", RACE, nth=1),
            Fault("[%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 16;", "[%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 17;",
                  (Kind.BOUNDS,)),
        ),
    ),
    Kernel(
        "spmv",
        _spmv,
        faults=(
            Fault("if (row >= rows) return;", "", (Kind.BOUNDS,)),
            Fault("e < starts[row + 1]", "e <= starts[row + 1]", (Kind.BOUNDS,)),
            Fault("if (lane == 0) y[row] = sum;", "y[row] = sum;", RACE),
            Fault("if (row >= rows) return;", "if (row >= rows || lane > 28) return;",
                  (Kind.PERSPECTIVE,)),
        ),
    ),
    Kernel(
        "print",
        _print,
        faults=(Fault("t >= limit", "t >= limit - 1", (Kind.TRAP,)),),
    ),
    Kernel(
        "local_arrays",
        _local_arrays,
        faults=(
            Fault("k < 8; ++k", "k < 7; ++k", (Kind.UNINIT,)),
            Fault("in[t * 8] & 7", "in[t * 8]", (Kind.BOUNDS,)),
        ),
    ),
    Kernel(
        "dot_double",
        _dot_double,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault(SYNC, "", RACE, nth=1),
            Fault("atomicAdd(sum, part);", "*sum += part;", RACE),
            Fault("i < n", "i < n + 3", (Kind.BOUNDS,)),
        ),
    ),
    Kernel(
        "status_words",
        _status_words,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT), nth=3),
            Fault("publish(&words[b], 2, sum + total);", "", (Kind.DEADLOCK,)),
            Fault("if (word >> 32 == 2) break;", "if (word >> 32 == 3) break;",
                  (Kind.BOUNDS, Kind.DEADLOCK)),
        ),
    ),
)  # fmt: skip

"""Test kernels: the classics, copies, and the units of newer architectures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from emulator.kernel_cases import RACE, RACE_OR_ORDER, SYNC, Fault, Kernel, Launch, Random
from prismc.emulator.findings import Kind
from prismc.emulator.host import Tensor


def _reduce(random: Random) -> Launch:
    data = random.integers(-50, 50, 20000).astype(np.float32)
    sums = [data[np.arange(len(data)) // 256 % 8 == block].sum() for block in range(8)]
    args = [data, np.zeros(8, np.float32), len(data)]
    return Launch(8, 256, args, {1: np.array(sums, np.float32)})


def _scan(random: Random) -> Launch:
    data = random.integers(0, 100, (3, 512), np.int32)
    return Launch(3, 512, [data, np.zeros_like(data)], {1: data.cumsum(1, dtype=np.int32)})


def _transpose(random: Random) -> Launch:
    data = random.standard_normal((70, 45)).astype(np.float32)
    args = [data, np.zeros((45, 70), np.float32), 70, 45]
    return Launch((2, 3), (32, 8), args, {1: data.T})


def _histogram(random: Random) -> Launch:
    data = random.integers(0, 256, 10000, np.uint8)
    args = [data, np.zeros(256, np.uint32), len(data)]
    return Launch(4, 256, args, {1: np.bincount(data, minlength=256).astype(np.uint32)})


def _sgemm(random: Random) -> Launch:
    a = random.integers(-4, 5, (128, 32)).astype(np.float32)
    b = random.integers(-4, 5, (32, 64)).astype(np.float32)
    args = [a, b, np.zeros((128, 64), np.float32), 128, 64, 32]
    return Launch((1, 2), 256, args, {2: a @ b})


def _warp_tree(random: Random) -> Launch:
    data = random.integers(0, 100, (4, 32), np.int32)
    return Launch(4, 32, [data, np.zeros(4, np.int32)], {1: data.sum(1, dtype=np.int32)})


def _last_block(random: Random) -> Launch:
    data = random.integers(1, 100, (6, 64), np.int32)
    part, total = data.sum(1, dtype=np.int32), np.array([data.sum()], np.int32)
    args = [data, np.zeros(6, np.int32), np.zeros(1, np.uint32), np.zeros(1, np.int32)]
    return Launch(6, 64, args, {1: part, 3: total})


def _look_back(random: Random) -> Launch:
    data = random.integers(1, 100, (9, 128), np.int32)
    sums = data.sum(1, dtype=np.int32).cumsum(dtype=np.int32)
    before = np.concatenate(([0], sums[:-1])).astype(np.int32)
    args = [data, np.zeros(9, np.int32), np.zeros(9, np.int32), np.zeros_like(data)]
    return Launch(9, 128, args, {1: sums, 3: data + before[:, None]})


def _divergence(random: Random) -> Launch:
    data = random.integers(1, 1000, 300, np.uint32)
    expected = [_collatz(i, int(x)) for i, x in enumerate(data[:290])] + [0] * 10
    return Launch(3, 128, [data, np.zeros_like(data), 290], {1: np.array(expected, np.uint32)})


def _collatz(i: int, start: int) -> int:
    x, steps = start, 0
    while x != 1:
        x, steps = (3 * x + 1 if x % 2 else x // 2), steps + 1
    choices = (steps, steps * 3, steps ^ 0x55, steps + i, ~steps, steps << 4, 7)
    return choices[start % 7] & 0xFFFFFFFF


def _calls(random: Random) -> Launch:
    data = random.integers(0, 100, 64, np.int32)
    fibonacci = np.array([0, 1, 1, 2, 3, 5, 8, 13], np.int32)
    low, high = data % 10, data // 10
    result = np.where(data % 2, low + high, low * high) + fibonacci[data % 8] + 5
    return Launch(2, 32, [data, np.zeros_like(data), 5], {1: result.astype(np.int32)})


def _copy_pipeline(random: Random) -> Launch:
    data = random.integers(-50, 50, (2, 7, 256)).astype(np.float32)
    sums = data.reshape(2, 7, 4, 64).sum(2)
    return Launch(2, 64, [data, np.zeros((2, 7, 64), np.float32), 7], {1: sums})


def _mbarrier_copy(random: Random) -> Launch:
    data = random.integers(-50, 50, (7, 128)).astype(np.float32)
    args = [data, np.zeros((7, 32), np.float32), 7]
    return Launch(1, 64, args, {1: data.reshape(7, 4, 32).sum(1)})


def _bulk_pipeline(random: Random) -> Launch:
    data = random.integers(-50, 50, (2, 5, 512)).astype(np.float32)
    return Launch(2, 128, [data, np.zeros_like(data), 5], {1: 2 * data})


def _tensor_tiles(swizzle: int) -> Callable[[Random], Launch]:
    def make(random: Random) -> Launch:
        width = swizzle // 4 if swizzle else 16
        data = random.integers(-50, 50, (20, 36)).astype(np.float32)
        mode = str(swizzle) if swizzle else "none"
        tensors = [
            Tensor(array=array, box=(16, width), swizzle=mode)
            for array in (data, np.zeros_like(data))
        ]
        return Launch((-(-36 // width), 2), 64, tensors, {1: 3 * data})

    return make


def _wgmma_tiles(random: Random) -> Launch:
    a = random.integers(-4, 5, (64, 192)).astype(np.float16)
    b = random.integers(-4, 5, (192, 32)).astype(np.float16)
    args = [a, np.ascontiguousarray(b.T), np.zeros((64, 32), np.float32), 192, 32]
    return Launch((2, 1), 128, args, {2: a.astype(np.float32) @ b.astype(np.float32)})


def _cluster_sum(random: Random) -> Launch:
    data = random.integers(0, 100, (12, 64), np.int32)
    sums = data.reshape(3, -1).sum(1, dtype=np.int32)
    return Launch(12, 64, [data, np.zeros(3, np.int32)], {1: sums})


def _cluster_multicast(random: Random) -> Launch:
    data = random.integers(0, 100, (3, 256)).astype(np.float32)
    result = np.repeat(data, 2, axis=0) + np.arange(6, dtype=np.float32)[:, None]
    return Launch(6, 64, [data, np.zeros((6, 256), np.float32)], {1: result})


_TENSOR_FAULTS = (
    Fault("wait(&full, 0);", "", (Kind.UNINIT, Kind.LIFETIME, *RACE)),
    Fault("proxy_fence();\n    __syncthreads();\n    if", "__syncthreads();\n    if",
          (Kind.ORDER,)),
    Fault("    proxy_fence();\n    __syncthreads();", "    __syncthreads();\n    proxy_fence();",
          (Kind.ORDER,)),
    Fault("    proxy_fence();\n    __syncthreads();", "    proxy_fence();", RACE),
    Fault("expect(&full, sizeof tile)", "expect(&full, sizeof tile / 2)", (Kind.COUNT,)),
    Fault("expect(&full, sizeof tile)", "expect(&full, 2 * sizeof tile)", (Kind.DEADLOCK,)),
    Fault("expect(&full, sizeof tile)", "arrive(&full)", (Kind.COUNT, Kind.UNINIT, Kind.LIFETIME)),
    Fault("init(&full, 1)", "init(&full, 2)", (Kind.DEADLOCK,)),
    Fault("wait(&full, 0)", "wait(&full, 1)", (Kind.PHASE,)),
)  # fmt: skip

KERNELS = (
    Kernel(
        "reduce",
        _reduce,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault("part[32]", "part[7]", (Kind.BOUNDS,)),
            Fault("i < n", "i <= n", (Kind.BOUNDS,)),
            Fault("0xffffffffu, sum, d", "0x0000ffffu, sum, d", (Kind.PERSPECTIVE,)),
            Fault("threadIdx.x < blockDim.x / 32", "threadIdx.x <= blockDim.x / 32",
                  (Kind.UNINIT,)),
            Fault("if (threadIdx.x < 32) {", "if (threadIdx.x < 20) {", (Kind.PERSPECTIVE,)),
        ),
    ),
    Kernel(
        "scan",
        _scan,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault(SYNC, "", RACE, nth=1),
            Fault(SYNC, "", RACE, nth=2),
            Fault("t >= d ? s[t - d] : 0", "s[t - d]", (Kind.BOUNDS,)),
            Fault(SYNC, "if (t >= d) __syncthreads();", (Kind.PERSPECTIVE, Kind.DEADLOCK), nth=1),
        ),
    ),
    Kernel(
        "transpose",
        _transpose,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault("y + j < rows)", "y + j <= rows)", (Kind.BOUNDS,)),
            Fault("if (x < rows && y + j < cols)", "if (y + j < cols)", (Kind.UNINIT, *RACE)),
            Fault(SYNC, "if (x < cols) __syncthreads();", (Kind.PERSPECTIVE, Kind.EXIT)),
            Fault("tile[32][33]", "tile[31][33]", (Kind.BOUNDS,)),
        ),
    ),
    Kernel(
        "histogram",
        _histogram,
        faults=(
            Fault(SYNC, "", RACE),
            Fault(SYNC, "", RACE, nth=1),
            Fault("bins[threadIdx.x] = 0;", "", (Kind.UNINIT,)),
            Fault("atomicAdd(&bins[in[i]], 1u)", "bins[in[i]] += 1u", RACE),
            Fault("atomicAdd(&out[threadIdx.x], bins[threadIdx.x])",
                  "out[threadIdx.x] += bins[threadIdx.x]", RACE),
            Fault("i < n", "i < n + 1", (Kind.BOUNDS,)),
        ),
    ),
    Kernel(
        "sgemm",
        _sgemm,
        faults=(
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault(SYNC, "", RACE, nth=1),
            Fault("As[8][64]", "As[7][64]", (Kind.BOUNDS, *RACE)),
            Fault("k < K", "k <= K", (Kind.BOUNDS,)),
            Fault("As[8][64], Bs", "As[8][66], Bs", (Kind.ALIGN,)),
        ),
    ),
    Kernel(
        "warp_tree",
        _warp_tree,
        faults=(
            Fault("__syncwarp();", "", (*RACE, Kind.UNINIT)),
            Fault("__syncwarp();", "", RACE, nth=1),
            Fault("__syncwarp();", "if (lane < d) __syncwarp();", (Kind.PERSPECTIVE, *RACE), nth=1),
        ),
    ),
    Kernel(
        "last_block",
        _last_block,
        faults=(
            Fault("__threadfence();", "", (Kind.ORDER,)),
            Fault("__threadfence();", "", (Kind.ORDER,), nth=1),
            Fault(SYNC, "", RACE, nth=1),
            Fault(SYNC, "", (*RACE, Kind.UNINIT), nth=2),
            Fault("atomicAdd(count, 1u)", "atomicAdd_block(count, 1u)", RACE_OR_ORDER),
            Fault("__threadfence();\n        last =", "__threadfence_block();\n        last =",
                  (Kind.ORDER,)),
        ),
    ),
    Kernel(
        "look_back",
        _look_back,
        faults=(
            Fault("__threadfence();", "", (Kind.ORDER,)),
            Fault("__threadfence();", "", (Kind.ORDER,), nth=1),
            Fault("flags[b] = 1;", "if (b != 3) flags[b] = 1;", (Kind.DEADLOCK,)),
            Fault(SYNC, "", RACE, nth=2),
        ),
    ),
    Kernel(
        "copy_pipeline",
        _copy_pipeline,
        faults=(
            Fault("wait<2>();", "", (Kind.LIFETIME, Kind.UNINIT)),
            Fault("wait<2>();", "wait<3>();", (Kind.LIFETIME, Kind.UNINIT)),
            Fault(SYNC, "", (*RACE, Kind.LIFETIME, Kind.UNINIT)),
            Fault("ring[4][256]", "ring[3][256]", (*RACE, Kind.BOUNDS)),
            Fault("        commit();\n        wait", "        wait", (Kind.LIFETIME, Kind.UNINIT)),
            Fault("wait<2>();\n        __syncthreads();", "__syncthreads();\n        wait<2>();",
                  (*RACE, Kind.UNINIT, Kind.LIFETIME)),
            Fault("i * 256 + t * 4);\n        commit", "i * 256 + t * 4 + 1);\n        commit",
                  (Kind.ALIGN,)),
        ),
    ),
    Kernel(
        "mbarrier_copy",
        _mbarrier_copy,
        faults=(
            Fault("wait(&full[i % 2], i / 2 % 2);", "",
                  (*RACE, Kind.UNINIT, Kind.LIFETIME)),
            Fault("wait(&empty[i % 2], (i / 2 % 2) ^ 1);", "", (*RACE, Kind.COUNT, Kind.LIFETIME)),
            Fault("arrive(&empty[i % 2]);", "", (Kind.DEADLOCK,)),
            Fault("init(&full[s], 32)", "init(&full[s], 33)", (Kind.DEADLOCK,)),
            Fault("init(&full[s], 32)", "init(&full[s], 31)", (Kind.COUNT, *RACE)),
            Fault("(i / 2 % 2) ^ 1", "i / 2 % 2", (Kind.DEADLOCK,)),
            Fault("(i / 2 % 2) ^ 1", "i / 2 % 2", (Kind.PHASE,)),
            Fault("(i / 2 % 2) ^ 1", "1", (Kind.PHASE,)),
            Fault("full[i % 2], i / 2 % 2", "full[i % 2], 0", (Kind.PHASE,)),
            Fault("full[i % 2], i / 2 % 2", "full[i % 2], i % 2", (Kind.PHASE,)),
            Fault("full[i % 2], i / 2 % 2", "full[i % 2], (i / 2 % 2) ^ 1", (Kind.PHASE,)),
            Fault("arrive_copies(&full[i % 2]);", "arrive(&full[i % 2]);",
                  (Kind.LIFETIME, Kind.UNINIT)),
            Fault(SYNC, "", (*RACE, Kind.UNINIT)),
            Fault("arrive(&empty[i % 2]);\n            out[i * 32 + lane] = sum;",
                  "out[i * 32 + lane] = sum; if (lane) arrive(&empty[i % 2]);", (Kind.DEADLOCK,)),
        ),
    ),
    Kernel(
        "bulk_pipeline",
        _bulk_pipeline,
        "sm_90",
        faults=(
            Fault("wait(&empty[i % 2], (i / 2 % 2) ^ 1);", "",
                  (*RACE, Kind.COUNT, Kind.LIFETIME)),
            Fault("wait(&full[i % 2], i / 2 % 2);", "", (*RACE, Kind.UNINIT, Kind.LIFETIME)),
            Fault("arrive(&empty[i % 2]);", "", (Kind.DEADLOCK,)),
            Fault("(i / 2 % 2) ^ 1", "i / 2 % 2", (Kind.PHASE,)),
            Fault("(i / 2 % 2) ^ 1", "1", (Kind.PHASE,)),
            Fault("full[i % 2], i / 2 % 2", "full[i % 2], 0", (Kind.PHASE,)),
            Fault("full[i % 2], i / 2 % 2", "full[i % 2], i % 2", (Kind.PHASE,)),
            Fault("full[i % 2], i / 2 % 2", "full[i % 2], (i / 2 % 2) ^ 1", (Kind.PHASE,)),
            Fault("init(&empty[s], 96)", "init(&empty[s], 95)", (Kind.COUNT,)),
            Fault("init(&empty[s], 96)", "init(&empty[s], 97)", (Kind.DEADLOCK,)),
            Fault("expect(&full[i % 2], 2048)", "expect(&full[i % 2], 1024)", (Kind.COUNT,)),
            Fault("bulk_wait_read<0>();", "", (Kind.LIFETIME,)),
            Fault('asm volatile("bar.sync 1, 96;" ::: "memory");', "", (*RACE, Kind.ORDER)),
            Fault('asm volatile("bar.sync 1, 96;" ::: "memory");', "", (*RACE, Kind.LIFETIME),
                  nth=1),
            Fault("proxy_fence();\n            arrive", "arrive", (Kind.ORDER,)),
            Fault("proxy_fence();\n            asm", "asm", (Kind.ORDER,)),
            Fault('"bar.sync 1, 96;"', '"bar.sync 1, 128;"', (Kind.COUNT, Kind.DEADLOCK)),
            Fault("__syncthreads();", "", (Kind.UNINIT, *RACE)),
        ),
    ),
    *(
        Kernel(
            f"tensor_tiles_{swizzle}",
            _tensor_tiles(swizzle),
            "sm_90",
            faults=_TENSOR_FAULTS if swizzle == 128 else (),
            file="tensor_tiles",
            defines=f"#define SWIZZLE {swizzle}\n",
        )
        for swizzle in (0, 32, 64, 128)
    ),
    Kernel(
        "wgmma_tiles",
        _wgmma_tiles,
        "sm_90a",
        faults=(
            Fault("        proxy_fence();\n", "", (Kind.ORDER,)),
            Fault("        __syncthreads();\n", "", RACE),
            Fault("        proxy_fence();\n        __syncthreads();\n",
                  "        __syncthreads();\n        proxy_fence();\n", (Kind.ORDER,)),
            Fault('asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");', "",
                  (Kind.LIFETIME,)),
            Fault("wait_group.sync.aligned 0", "wait_group.sync.aligned 1", (Kind.LIFETIME,)),
            Fault("int s = k / 64 % 2;", "int s = 0;", (Kind.RACE,)),
            Fault('asm volatile("wgmma.fence.sync.aligned;" ::: "memory");', "", (Kind.ORDER,)),
            Fault('asm volatile("wgmma.fence.sync.aligned;" ::: "memory");',
                  'if (k == 0) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");'
                  " d[1] *= 0.5f;", (Kind.ORDER,)),
            Fault('asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");',
                  'd[0] += 1.0f; asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");',
                  (Kind.LIFETIME,)),
            Fault("b[2][16 * 128]", "b[2][15 * 128]", (Kind.BOUNDS, *RACE, Kind.LIFETIME)),
            Fault("for (int j = 0; j < 4; ++j) multiply",
                  "if (t < 96) for (int j = 0; j < 4; ++j) multiply", (Kind.PERSPECTIVE,)),
        ),
    ),
    Kernel(
        "cluster_sum",
        _cluster_sum,
        "sm_90",
        faults=(
            Fault("cluster_arrive();\n    cluster_wait();\n    if (rank == 0", "if (rank == 0",
                  (*RACE, Kind.UNINIT)),
            Fault("    cluster_wait();\n    if (rank == 0", "    if (rank == 0",
                  (*RACE, Kind.UNINIT)),
            Fault("barrier.cluster.arrive.aligned", "barrier.cluster.arrive.relaxed.aligned",
                  RACE),
            Fault("%1, 0;", "%1, 4;", (Kind.BOUNDS,)),
            Fault("    cluster_arrive();\n    cluster_wait();\n    if (t == 0)",
                  "    if (rank == 0) return;\n    if (t == 0)", (Kind.LIFETIME,)),
            Fault("cluster_arrive();\n    cluster_wait();\n    if (rank == 0",
                  "if (rank) cluster_arrive();\n    cluster_wait();\n    if (rank == 0",
                  (*RACE, Kind.DEADLOCK, Kind.UNINIT)),
            Fault("__syncthreads();\n    for", "for", (*RACE, Kind.UNINIT)),
        ),
    ),
    Kernel(
        "cluster_multicast",
        _cluster_multicast,
        "sm_90",
        faults=(
            Fault("(short)3", "(short)1", (Kind.DEADLOCK,)),
            Fault("(short)3", "(short)7", (Kind.COUNT,)),
            Fault("wait(&full, 0);", "", (Kind.UNINIT, Kind.LIFETIME, *RACE)),
            Fault("expect(&full, 1024)", "expect(&full, 512)", (Kind.COUNT,)),
            Fault('asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;"'
                  ' ::: "memory");\n    if', "if", (*RACE, Kind.UNINIT)),
        ),
    ),
    Kernel("divergence", _divergence),
    Kernel("calls", _calls),
)  # fmt: skip

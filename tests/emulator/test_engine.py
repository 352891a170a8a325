"""The copy engine piece by piece: boxes of tensors, reductions, remote stores, faults of maps."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from emulator.compilers import kernel_text, ptx_of
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.host import LaunchError, Tensor
from prismc.emulator.report import text_of
from prismc.emulator.tensors import TensorMap, decode

HEADER = kernel_text("bulk_pipeline").partition('extern "C"')[0]


def _clean(result: RunResult) -> RunResult:
    assert not result.findings, text_of(result)
    return result


def _load_kernel(rank: int, count: int) -> str:
    """A kernel that loads one box at coordinates c0.. and stores its elements one by one."""
    names = ", ".join(f"int c{d}" for d in range(rank))
    places = ", ".join(f"%{3 + d}" for d in range(rank))
    inputs = ", ".join(f'"r"(c{d})' for d in range(rank))
    return f"""{HEADER}
extern "C" __global__ void load(const __grid_constant__ TensorMap map, float* out, {names}) {{
    __shared__ __align__(1024) float box[{count}];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {{
        init(&full, 1);
        proxy_fence();
        expect(&full, sizeof box);
        asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes [%0], [%1, {{{places}}}], [%2];"
                     :: "r"(shared(box)), "l"(&map), "r"(shared(&full)), {inputs} : "memory");
    }}
    __syncthreads();
    wait(&full, 0);
    for (int i = threadIdx.x; i < {count}; i += 32) out[i] = box[i];
}}
"""


def _boxed(
    array: np.ndarray, corner: tuple[int, ...], box: tuple[int, ...], steps: tuple[int, ...],
    fill: float,
) -> np.ndarray:  # fmt: skip
    """What a load must bring, element by element."""
    counts = tuple(-(-b // s) for b, s in zip(box, steps, strict=True))
    result = np.full(counts, fill, array.dtype)
    for index in np.ndindex(*counts):
        place = tuple(c + i * s for c, i, s in zip(corner, index, steps, strict=True))
        if all(0 <= p < extent for p, extent in zip(place, array.shape, strict=True)):
            result[index] = array[place]
    return result


@pytest.mark.parametrize("fill", ["zero", "nan"])
@pytest.mark.parametrize(
    ("shape", "box", "corner", "steps"),
    [
        ((64,), (16,), (5,), (1,)),
        ((20,), (16,), (12,), (1,)),
        ((20,), (16,), (-3,), (1,)),
        ((9, 12), (4, 8), (2, 3), (1, 1)),
        ((9, 12), (4, 8), (7, 8), (1, 1)),
        ((9, 12), (8, 8), (0, 0), (2, 1)),
        ((5, 6, 8), (2, 3, 4), (4, -1, 5), (1, 1, 1)),
        ((3, 4, 5, 8), (2, 2, 2, 4), (1, 3, 2, 4), (1, 1, 1, 1)),
        ((2, 3, 4, 5, 4), (2, 1, 2, 2, 4), (0, 2, 3, 4, 0), (1, 1, 1, 1, 1)),
    ],
)
def test_boxes(
    shape: tuple[int, ...],
    box: tuple[int, ...],
    corner: tuple[int, ...],
    steps: tuple[int, ...],
    fill: str,
) -> None:
    array = np.arange(1, prod(shape) + 1, dtype=np.float32).reshape(shape)
    missing = np.nan if fill == "nan" else 0.0
    expected = _boxed(array, corner, box, steps, missing).reshape(-1)
    tensor = Tensor(array=array, box=box, steps=steps, fill=fill)
    args = [tensor, np.zeros(len(expected), np.float32), *corner[::-1]]
    ptx = ptx_of(_load_kernel(len(shape), len(expected)), "sm_90")
    result = _clean(run_ptx(ptx, None, 1, 32, args))
    np.testing.assert_array_equal(result.array(1), expected)


@pytest.mark.parametrize("swizzle", ["32", "64", "128"])
def test_swizzle_keeps_rows_of_eight_apart(swizzle: str) -> None:
    tensor = TensorMap(
        address=0, element=4, is_float=True, extents=(8, 8), strides=(32,), box=(8, 8),
        steps=(1, 1), swizzle=swizzle,
    )  # fmt: skip
    width = int(swizzle)
    starts = 1024 + np.arange(8) * width
    units = tensor.swizzled(starts) % 128 // 16
    assert len(set(units.tolist())) == {32: 8, 64: 8, 128: 8}[width]
    assert sorted(tensor.swizzled(1024 + np.arange(0, 1024, 16)).tolist()) == [
        *range(1024, 2048, 16)
    ]


def test_maps_survive_their_encoding() -> None:
    tensor = TensorMap(
        address=0x1000, element=2, is_float=True, extents=(70000, 3, 2), strides=(140000, 420000),
        box=(64, 2, 1), steps=(1, 1, 1), swizzle="128", fill="nan",
    )  # fmt: skip
    assert decode(tensor.encode()) == tensor
    assert decode(bytes(128)) is None


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (Tensor(array=np.zeros((4, 5), np.float32), box=(2, 4)), "multiple of 16"),
        (Tensor(array=np.zeros((4, 8), np.float32), box=(2, 2)), "multiple of 16"),
        (Tensor(array=np.zeros((4, 8), np.float32), box=(2,)), "box of 1 dimensions"),
        (Tensor(array=np.zeros((4, 512), np.float32), box=(2, 300)), "1 to 256"),
        (Tensor(array=np.zeros((4, 64), np.float32), box=(2, 64), swizzle="128"), "swizzle"),
        (Tensor(array=np.zeros((1,) * 6, np.float32), box=(1,) * 6), "1 to 5"),
    ],
)
def test_maps_the_driver_refuses(tensor: Tensor, message: str) -> None:
    ptx = ptx_of(_load_kernel(2, 8), "sm_90")
    with pytest.raises(LaunchError, match=message):
        run_ptx(ptx, None, 1, 32, [tensor, np.zeros(8, np.float32), 0, 0])


def test_a_map_that_is_none() -> None:
    ptx = ptx_of(_load_kernel(2, 8), "sm_90")
    result = run_ptx(ptx, None, 1, 32, [bytes(128), np.zeros(8, np.float32), 0, 0])
    assert Kind.CALL in {finding.kind for finding in result.findings}


REDUCE = """
extern "C" __global__ void add_up(int* total) {
    __shared__ __align__(128) int part[64];
    part[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.OP.s32 [%0], [%1], 256;"
                     :: "l"(total), "r"((unsigned)__cvta_generic_to_shared(part)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
"""


@pytest.mark.parametrize(("name", "function"), [("add", np.add), ("max", np.maximum)])
def test_bulk_reductions(name: str, function: np.ufunc) -> None:
    start = np.full(64, 150, np.int32)
    parts = np.arange(3)[:, None] * 100 + np.arange(64)
    expected = function.reduce(np.concatenate((start[None], parts)).astype(np.int32))
    ptx = ptx_of(REDUCE.replace("OP", name), "sm_90")
    result = _clean(run_ptx(ptx, None, 3, 64, [start]))
    np.testing.assert_array_equal(result.array(0), expected)


REMOTE = (
    HEADER
    + """
__device__ __forceinline__ unsigned other(unsigned own, int rank) {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(rank ^ 1));
    return there;
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) remote(const int* in, int* out) {
    __shared__ int inbox[32], sum;
    __shared__ unsigned long long full;
    int t = threadIdx.x, rank = blockIdx.x % 2;
    if (t == 0) { init(&full, 1); expect(&full, 32 * 4 + COUNTED); sum = 0; }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");
    unsigned there, bar, total;
    there = other(shared(&inbox[t]), rank);
    bar = other(shared(&full), rank);
    total = other(shared(&sum), rank);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 :: "r"(there), "r"(in[blockIdx.x * 32 + t]), "r"(bar) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
                 " [%0], %1, [%2];" :: "r"(total), "r"(t), "r"(bar) : "memory");
    wait(&full, 0);
    out[blockIdx.x * 32 + t] = inbox[t] * 1000 + sum;
    asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");
}
"""
)


def test_remote_stores() -> None:
    data = np.arange(128, dtype=np.int32).reshape(4, 32)
    expected = data[[1, 0, 3, 2]] * 1000 + sum(range(32))
    args = [data, np.zeros_like(data)]
    ptx = ptx_of(REMOTE.replace("COUNTED", "32 * 4"), "sm_90")
    result = _clean(run_ptx(ptx, None, 4, 32, args))
    np.testing.assert_array_equal(result.array(1), expected)
    result = run_ptx(ptx_of(REMOTE.replace("COUNTED", "0"), "sm_90"), None, 4, 32, args)
    assert Kind.COUNT in {finding.kind for finding in result.findings}

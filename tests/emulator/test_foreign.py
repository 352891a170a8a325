"""CUDA that other people's headers make: CUB, cooperative groups, libcu++, mma.h. Needs nvcc."""

from __future__ import annotations

import numpy as np

from emulator.compilers import ptx_of
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.report import text_of
from prismc.emulator.schedule import adversaries

RANDOM = np.random.default_rng(5)


def _run(source: str, grid: int, block: int, *args: object) -> RunResult:
    """The last of some schedules, all of them clean."""
    ptx = ptx_of(source, "sm_90", "nvcc")
    for plan in adversaries(4):
        result = run_ptx(ptx, None, grid, block, list(args), plan=plan, time_limit=60)
        assert not result.findings, text_of(result)
    return result


def test_cub_block_collectives() -> None:
    source = """
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void collectives(const int* in, int* out) {
    using Reduce = cub::BlockReduce<int, 128>;
    using Scan = cub::BlockScan<int, 128>;
    using Sort = cub::BlockRadixSort<int, 128, 4>;
    __shared__ union {
        Reduce::TempStorage reduce;
        Scan::TempStorage scan;
        Sort::TempStorage sort;
    } scratch;
    int sum = Reduce(scratch.reduce).Sum(in[threadIdx.x]), before, keys[4];
    __syncthreads();
    Scan(scratch.scan).ExclusiveSum(in[threadIdx.x], before);
    __syncthreads();
    for (int i = 0; i < 4; ++i) keys[i] = in[threadIdx.x * 4 + i];
    Sort(scratch.sort).Sort(keys);
    for (int i = 0; i < 4; ++i) out[256 + threadIdx.x * 4 + i] = keys[i];
    out[threadIdx.x] = before;
    if (threadIdx.x == 0) out[128] = sum;
}
"""
    data = RANDOM.integers(-100, 100, 512, np.int32)
    out = _run(source, 1, 128, data, np.zeros(768, np.int32)).array(1)
    np.testing.assert_array_equal(out[256:], np.sort(data))
    np.testing.assert_array_equal(out[:128], data[:128].cumsum() - data[:128])
    assert out[128] == data[:128].sum()


def test_a_grid_wide_barrier() -> None:
    source = """
#include <cooperative_groups.h>
extern "C" __global__ void phases(int* a, int* out) {
    auto grid = cooperative_groups::this_grid();
    a[grid.thread_rank()] = 2 * grid.thread_rank();
    grid.sync();
    out[grid.thread_rank()] = a[(grid.thread_rank() + 40) % grid.size()];
    grid.sync();
    a[grid.thread_rank()] = 7;
}
"""
    zeros = np.zeros(256, np.int32)
    result = _run(source, 4, 64, zeros, zeros.copy())
    np.testing.assert_array_equal(result.array(1), (np.arange(256) + 40) % 256 * 2)
    assert (result.array(0) == 7).all()


def test_barriers_and_pipelines_of_libcudacxx() -> None:
    source = """
#include <cuda/barrier>
#include <cuda/pipeline>
#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void copies(const float* in, float* out) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ Barrier barrier;
    __shared__ alignas(16) float s[256];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(s + threadIdx.x * 4, in + threadIdx.x * 4, cuda::aligned_size_t<16>(16),
                       barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = s[255 - threadIdx.x];
    barrier.arrive_and_wait();
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < 4; ++i) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x + 64 * i], sizeof(float), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        out[64 + threadIdx.x + 64 * i] = s[threadIdx.x];
        pipe.consumer_release();
    }
}
"""
    data = RANDOM.standard_normal(256).astype(np.float32)
    out = _run(source, 1, 64, data, np.zeros(320, np.float32)).array(1)
    np.testing.assert_array_equal(out[:64], data[::-1][:64])
    np.testing.assert_array_equal(out[64:], data)


def test_fragments_of_mma_h() -> None:
    source = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const __half* a, const __half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2.0f;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
"""
    a, b = (RANDOM.integers(-8, 9, (16, 16)).astype(np.float16) for _ in range(2))
    out = _run(source, 1, 32, a, b, np.zeros((16, 16), np.float32)).array(2)
    expected = 2 * (a.astype(np.float32) @ b.T.astype(np.float32) + 1)
    np.testing.assert_array_equal(out, expected)

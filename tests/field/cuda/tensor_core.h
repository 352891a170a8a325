// A product of one warpgroup: 64 x 8 += (64 x 16) (16 x 8) in f16, operands in shared memory.
#include "hopper.h"
// A matrix in core matrices of 8 rows by 16 bytes, the two of one row group side by side.
__device__ __forceinline__ unsigned long long core_matrices(const void* p) {
    unsigned long long leading = 128 >> 4, stride = 256 >> 4;
    return (unsigned long long)(shared(p) >> 4 & 0x3fff) | leading << 16 | stride << 32;
}
__device__ __forceinline__ void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> __device__ __forceinline__ void wgmma_wait(float (&acc)[4]) {
    asm volatile("wgmma.wait_group.sync.aligned %4;"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]) : "n"(N) : "memory");
}
__device__ __forceinline__ void wgmma_m64n8k16(float (&acc)[4], unsigned long long a,
                                               unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
                 " {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]) : "l"(a), "l"(b));
}
__device__ __forceinline__ void store_accumulator(float* out, const float (&acc)[4]) {
    int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
    for (int i = 0; i < 4; ++i) out[(row + i / 2 * 8) * 8 + column + i % 2] = acc[i];
}

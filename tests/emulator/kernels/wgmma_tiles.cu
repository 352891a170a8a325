// C = A B for tiles of 64 x 16 in fp16, 64 deep at a time: products of a warpgroup from swizzled
// shared memory, two buffers, one product group in flight while the next tiles are filled.
#include "hopper.h"
__device__ __forceinline__ unsigned long long descriptor(const void* tile) {
    return (shared(tile) >> 4 & 0x3fff) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 |
           1ull << 62;
}
__device__ __forceinline__ void multiply(float (&d)[8], const char* a, const char* b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"
                 " {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                   "+f"(d[6]), "+f"(d[7]) : "l"(descriptor(a)), "l"(descriptor(b)));
}
__device__ __forceinline__ void fill(char* tile, const unsigned short* from, int rows, int pitch) {
    for (int e = threadIdx.x; e < rows * 64; e += 128) {
        int at = e * 2;
        *(unsigned short*)&tile[at ^ ((at >> 7 & 7) << 4)] = from[e / 64 * pitch + e % 64];
    }
}
extern "C" __global__ void __launch_bounds__(128)
wgmma_tiles(const unsigned short* A, const unsigned short* Bt, float* C, int K, int N) {
    __shared__ __align__(1024) char a[2][64 * 128];
    __shared__ __align__(1024) char b[2][16 * 128];
    int row = blockIdx.y * 64, col = blockIdx.x * 16, t = threadIdx.x;
    float d[8] = {};
    for (int k = 0; k < K; k += 64) {
        int s = k / 64 % 2;
        fill(a[s], A + row * K + k, 64, K);
        fill(b[s], Bt + col * K + k, 16, K);
        proxy_fence();
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int j = 0; j < 4; ++j) multiply(d, a[s] + j * 32, b[s] + j * 32);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    for (int i = 0; i < 8; ++i)
        C[(row + t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8) * N + col + i / 4 * 8 + t % 4 * 2 +
          i % 2] = d[i];
}

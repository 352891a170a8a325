// Tiles of a matrix to another place by tensor copies, the elements multiplied by 3 on the way.
// SWIZZLE is the width in bytes of the maps' swizzle; 0: none.
#include "hopper.h"
#ifndef SWIZZLE
#define SWIZZLE 128
#endif
__device__ __forceinline__ int place(int row, int byte) {
    int at = row * (SWIZZLE ? SWIZZLE : 64) + byte;
    return SWIZZLE ? at ^ ((at >> 7 & (SWIZZLE / 16 - 1)) << 4) : at;
}
extern "C" __global__ void __launch_bounds__(64)
tensor_tiles(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out) {
    constexpr int width = SWIZZLE ? SWIZZLE / 4 : 16;
    __shared__ __align__(1024) char tile[16 * width * 4];
    __shared__ unsigned long long full;
    int t = threadIdx.x, x = blockIdx.x * width, y = blockIdx.y * 16;
    if (t == 0) {
        init(&full, 1);
        proxy_fence();
        expect(&full, sizeof tile);
        tensor_load(tile, &in, x, y, &full);
    }
    __syncthreads();
    wait(&full, 0);
    for (int e = t; e < 16 * width; e += 64)
        *(float*)&tile[place(e / width, e % width * 4)] *= 3.0f;
    proxy_fence();
    __syncthreads();
    if (t == 0) {
        tensor_store(&out, x, y, tile);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

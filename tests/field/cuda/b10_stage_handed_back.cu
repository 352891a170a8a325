// A product of K / 16 tiles; the last warp loads them into two stages.
#include "tensor_core.h"
extern "C" __global__ void __launch_bounds__(160)
product(const unsigned short* A, const unsigned short* B, float* out, int tiles) {
    __shared__ __align__(128) unsigned short a[2][64 * 16], b[2][16 * 8];
    __shared__ unsigned long long full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 128); }
        proxy_fence();
    }
    __syncthreads();
    if (t >= 128) {
        if (t > 128) return;
        for (int k = 0; k < tiles; ++k) {
            wait(&empty[k % 2], (k / 2 % 2) ^ 1);
            expect(&full[k % 2], sizeof a[0] + sizeof b[0]);
            bulk_load(a[k % 2], A + k * 64 * 16, sizeof a[0], &full[k % 2]);
            bulk_load(b[k % 2], B + k * 16 * 8, sizeof b[0], &full[k % 2]);
        }
        return;
    }
    float acc[4] = {};
    for (int k = 0; k < tiles; ++k) {
        wait(&full[k % 2], k / 2 % 2);
        wgmma_fence();
        wgmma_m64n8k16(acc, core_matrices(a[k % 2]), core_matrices(b[k % 2]));
        wgmma_commit();
#ifndef FAULT
        wgmma_wait<0>(acc);
#endif
        arrive(&empty[k % 2]);
    }
    wgmma_wait<0>(acc);
    store_accumulator(out, acc);
}

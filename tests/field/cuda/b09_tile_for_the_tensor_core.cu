// P @ V, where ordinary stores put P into shared memory. FAULT 1: neither a proxy fence nor a
// barrier follows them; 2: no barrier; 3: no fence.
#include "tensor_core.h"
extern "C" __global__ void __launch_bounds__(128)
pv(const unsigned short* P, const unsigned short* V, float* out) {
    __shared__ __align__(128) unsigned short p[64 * 16], v[16 * 8];
    int t = threadIdx.x;
    v[t] = V[t];
    proxy_fence();
    __syncthreads();
    for (int j = 0; j < 8; ++j) p[t * 8 + j] = P[t * 8 + j];
#if FAULT != 1 && FAULT != 3
    proxy_fence();
#endif
#if FAULT != 1 && FAULT != 2
    __syncthreads();
#endif
    float acc[4] = {};
    wgmma_fence();
    wgmma_m64n8k16(acc, core_matrices(p), core_matrices(v));
    wgmma_commit();
    wgmma_wait<0>(acc);
    store_accumulator(out, acc);
}

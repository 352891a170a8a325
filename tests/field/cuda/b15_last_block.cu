// The block that finishes last adds the partial sums up. FAULT 1: nothing orders its reads after
// the counter; 2: the counter is raised before the block's other threads have written; 3: nothing
// orders the partial sum before the counter.
extern "C" __global__ void total(const int* in, int* part, unsigned* count, int* out) {
    __shared__ int s[64];
    __shared__ bool last;
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = in[b * 64 + t];
    __syncthreads();
    for (int d = 32; d > 1; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 2) part[b * 2 + t] = s[t];
#if FAULT != 2
    __syncthreads();
#endif
    if (t == 0) {
#if FAULT != 3
        __threadfence();
#endif
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
#if FAULT != 1
        __threadfence();
#endif
        int sum = 0;
        for (int k = 0; k < 2 * gridDim.x; ++k) sum += part[k];
        out[0] = sum;
    }
}

// The sum over a block whose size is no multiple of 32.
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}
extern "C" __global__ void bsum(const float* in, float* out, int n) {
    __shared__ float part[8];
    int t = threadIdx.x, lane = t % 32;
#ifdef FAULT
    float v = warp_sum(in[t]);
    int warps = blockDim.x / 32;
#else
    float v = warp_sum(t < n ? in[t] : 0.0f);
    int warps = (blockDim.x + 31) / 32;
#endif
    if (lane == 0) part[t / 32] = v;
    __syncthreads();
    float total = warp_sum(t < warps ? part[lane] : 0.0f);
    if (t == 0) out[0] = total;
}

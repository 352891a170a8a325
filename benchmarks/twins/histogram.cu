// Counts of bytes: in shared memory by atomics, then added to `bins`.
extern "C" __global__ __launch_bounds__(256, 1) void histogram(
    int n, const unsigned char* __restrict__ x, unsigned* __restrict__ bins)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = (blockIdx.x * 256 + threadIdx.x) * 16; i < n; i += gridDim.x * 256 * 16) {
        const uint4 v = *reinterpret_cast<const uint4*>(x + i);
        const unsigned words[] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 16; ++j) atomicAdd(&counts[words[j / 4] >> j % 4 * 8 & 255], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

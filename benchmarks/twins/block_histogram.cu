// Counts of 4096 bytes a block in shared memory, 16 bytes a thread.
extern "C" __global__ __launch_bounds__(256, 1) void block_histogram(
    const unsigned char* __restrict__ x, unsigned* __restrict__ y)
{
    __shared__ unsigned counts[256];
    int t = threadIdx.x;
    uint4 v = *reinterpret_cast<const uint4*>(x + (long long)blockIdx.x * 4096 + t * 16);
    counts[t] = 0;
    __syncthreads();
    unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 32; j += 8) atomicAdd(&counts[word[i] >> j & 255], 1u);
    __syncthreads();
    y[(long long)blockIdx.x * 256 + t] = counts[t];
}

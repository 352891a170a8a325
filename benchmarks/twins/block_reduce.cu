// The greatest of each tile of 1024 floats: warps fold by shuffles, all threads fold what warps have.
extern "C" __global__ __launch_bounds__(256, 1) void block_reduce(
    const float* __restrict__ x, float* __restrict__ y)
{
    __shared__ float part[8];
    unsigned t = threadIdx.x, lane = t % 32;
    const float* tile = x + (long long)blockIdx.x * 1024;
    float item[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) item[i] = tile[i * 256 + t];
    float greatest = item[0];
#pragma unroll
    for (int i = 1; i < 4; ++i) greatest = fmaxf(greatest, item[i]);
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2)
        greatest = fmaxf(greatest, __shfl_down_sync(~0u, greatest, distance));
    if (lane == 0) part[t / 32] = greatest;
    __syncthreads();
    if (t == 0) {
        float all = part[0];
#pragma unroll
        for (int w = 1; w < 8; ++w) all = fmaxf(all, part[w]);
        y[blockIdx.x] = all;
    }
}

// One partial sum a block: threads stride over the grid, warps fold by shuffles, a thread adds up.
extern "C" __global__ __launch_bounds__(256, 1) void block_sum(
    int n, const float* __restrict__ x, float* __restrict__ sums)
{
    __shared__ float partial[8];
    // Signed: a loop that cannot wrap around is unrolled.
    const int stride = gridDim.x * 256;
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += stride) sum += x[i];
#pragma unroll
    for (int j = 16; j; j /= 2) sum += __shfl_xor_sync(~0u, sum, j);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int k = 0; k < 8; ++k) total += partial[k];
        sums[blockIdx.x] = total;
    }
}

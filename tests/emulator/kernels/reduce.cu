// Sum of an array: grid-stride loop, warp shuffles, one partial sum a block.
extern "C" __global__ void reduce(const float* in, float* out, int n) {
    __shared__ float part[32];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

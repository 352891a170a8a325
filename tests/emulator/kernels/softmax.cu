// Softmax of rows, one block a row: two block reductions that share their scratch.
__device__ __forceinline__ float block_max(float v, float* scratch) {
    for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    v = scratch[0];
    for (int w = 1; w < 4; ++w) v = fmaxf(v, scratch[w]);
    return v;
}
__device__ __forceinline__ float block_sum(float v, float* scratch) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    return scratch[0] + scratch[1] + scratch[2] + scratch[3];
}
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
    __shared__ float scratch[4];
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float most = -3.0e38f;
    for (int i = threadIdx.x; i < cols; i += 128) most = fmaxf(most, x[i]);
    most = block_max(most, scratch);
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 128) sum += expf(x[i] - most);
    sum = block_sum(sum, scratch);
    for (int i = threadIdx.x; i < cols; i += 128) y[i] = expf(x[i] - most) / sum;
}

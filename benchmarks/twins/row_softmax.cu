// Softmax of each row, one block a row: greatest element, sum of powers, quotients.
struct Add { static __device__ float of(float a, float b) { return a + b; } };
struct Greater { static __device__ float of(float a, float b) { return fmaxf(a, b); } };

template <class Op> __device__ __forceinline__ float fold(float v, float* partial)
{
#pragma unroll
    for (int j = 16; j; j /= 2) v = Op::of(v, __shfl_xor_sync(~0u, v, j));
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    float all = partial[0];
    for (int k = 1; k < 8; ++k) all = Op::of(all, partial[k]);
    return all;
}

extern "C" __global__ __launch_bounds__(256, 1) void row_softmax(
    int cols, const float* __restrict__ x, float* __restrict__ y)
{
    __shared__ float partial[8];
    x += size_t(blockIdx.x) * cols, y += size_t(blockIdx.x) * cols;
    float most = -3.0e38f, sum = 0;
    for (int i = threadIdx.x; i < cols; i += 256) most = fmaxf(most, x[i]);
    const float top = fold<Greater>(most, partial);
    for (int i = threadIdx.x; i < cols; i += 256) sum += expf(x[i] - top);
    __syncthreads();
    const float total = fold<Add>(sum, partial);
    for (int i = threadIdx.x; i < cols; i += 256) y[i] = expf(x[i] - top) / total;
}

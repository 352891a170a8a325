// Layer norm of each row, one block a row: mean, then variance, then the row; 16-byte accesses.
__device__ __forceinline__ float block_sum(float sum, float* partial)
{
#pragma unroll
    for (int j = 16; j; j /= 2) sum += __shfl_xor_sync(~0u, sum, j);
    if (threadIdx.x % 32 == 31) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    float all = partial[0];
#pragma unroll
    for (int k = 1; k < 8; ++k) all += partial[k];
    return all;
}

extern "C" __global__ __launch_bounds__(256, 1) void layer_norm(
    int cols, float eps, const float* __restrict__ x, const float* __restrict__ scale,
    const float* __restrict__ shift, float* __restrict__ y)
{
    __shared__ float partial[2][8];
    x += size_t(blockIdx.x) * cols, y += size_t(blockIdx.x) * cols;
    float all = 0, squares = 0;
    for (int i = threadIdx.x * 4; i < cols; i += 1024) {
        const float4 v = *reinterpret_cast<const float4*>(x + i);
        all += (v.x + v.y) + (v.z + v.w);
    }
    const float mean = block_sum(all, partial[0]) / cols;
    for (int i = threadIdx.x * 4; i < cols; i += 1024) {
        const float4 v = *reinterpret_cast<const float4*>(x + i);
        squares += (v.x - mean) * (v.x - mean);
        squares += (v.y - mean) * (v.y - mean);
        squares += (v.z - mean) * (v.z - mean);
        squares += (v.w - mean) * (v.w - mean);
    }
    float factor = block_sum(squares, partial[1]) / cols + eps;
    asm("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(factor));
    for (int i = threadIdx.x * 4; i < cols; i += 1024) {
        float4 v = *reinterpret_cast<const float4*>(x + i);
        const float4 a = *reinterpret_cast<const float4*>(scale + i);
        const float4 b = *reinterpret_cast<const float4*>(shift + i);
        v.x = (v.x - mean) * factor * a.x + b.x;
        v.y = (v.y - mean) * factor * a.y + b.y;
        v.z = (v.z - mean) * factor * a.z + b.z;
        v.w = (v.w - mean) * factor * a.w + b.w;
        *reinterpret_cast<float4*>(y + i) = v;
    }
}

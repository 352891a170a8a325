// Softmax of each row, one block a row: maximum and sum in one pass of 16-byte loads, then quotients.
struct Pair { float most, sum; };

__device__ __forceinline__ Pair merged(Pair a, Pair b)
{
    const float most = fmaxf(a.most, b.most);
    return {most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
}

extern "C" __global__ __launch_bounds__(256, 1) void online_softmax(
    int cols, const float* __restrict__ x, float* __restrict__ y)
{
    __shared__ Pair partial[8];
    x += size_t(blockIdx.x) * cols, y += size_t(blockIdx.x) * cols;
    Pair p = {-3.0e38f, 0};
    for (int i = threadIdx.x * 4; i < cols; i += 1024) {
        const float4 v = *reinterpret_cast<const float4*>(x + i);
        const float before = p.most;
        p.most = fmaxf(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), p.most);
        p.sum *= expf(before - p.most);
        p.sum += expf(v.x - p.most);
        p.sum += expf(v.y - p.most);
        p.sum += expf(v.z - p.most);
        p.sum += expf(v.w - p.most);
    }
#pragma unroll
    for (int j = 16; j; j /= 2)
        p = merged(p, {__shfl_xor_sync(~0u, p.most, j), __shfl_xor_sync(~0u, p.sum, j)});
    if (threadIdx.x % 32 == 31) partial[threadIdx.x / 32] = p;
    __syncthreads();
    Pair all = partial[0];
#pragma unroll
    for (int k = 1; k < 8; ++k) all = merged(all, partial[k]);
    const float top = all.most, factor = 1.0f / all.sum;
    for (int i = threadIdx.x * 4; i < cols; i += 1024) {
        float4 v = *reinterpret_cast<const float4*>(x + i);
        v.x = expf(v.x - top) * factor;
        v.y = expf(v.y - top) * factor;
        v.z = expf(v.z - top) * factor;
        v.w = expf(v.w - top) * factor;
        *reinterpret_cast<float4*>(y + i) = v;
    }
}

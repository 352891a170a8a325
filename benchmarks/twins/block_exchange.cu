// Striped to blocked through shared memory, with a gap after each 32 elements against conflicts.
__device__ __forceinline__ int place(int i) { return i + (i >> 5); }

extern "C" __global__ __launch_bounds__(256, 1) void block_exchange(
    const float* __restrict__ x, float* __restrict__ y)
{
    __shared__ float tile[2048 + 64];
    int t = threadIdx.x;
    long long start = (long long)blockIdx.x * 2048;
    float item[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) item[i] = x[start + i * 256 + t];
#pragma unroll
    for (int i = 0; i < 8; ++i) tile[place(t) + place(i * 256)] = item[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) item[i] = tile[place(t * 8) + i];
    float4* out = reinterpret_cast<float4*>(y + start + t * 8);
    out[0] = make_float4(item[0], item[1], item[2], item[3]);
    out[1] = make_float4(item[4], item[5], item[6], item[7]);
}

// Exclusive sums in each tile of 1024: threads add up, warps scan by shuffles, warps' sums are added.
extern "C" __global__ __launch_bounds__(256, 1) void block_scan(
    const unsigned* __restrict__ x, unsigned* __restrict__ y)
{
    __shared__ unsigned part[8];
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    long long start = (long long)blockIdx.x * 1024 + t * 4;
    uint4 v = *reinterpret_cast<const uint4*>(x + start);
    unsigned own = v.x + v.y + v.z + v.w, up_to = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        asm volatile(
            "{ .reg .pred p; .reg .b32 left;\n"
            "shfl.sync.up.b32 left|p, %0, %1, 0, -1;\n"
            "@p add.u32 %0, left, %0; }" : "+r"(up_to) : "r"(distance));
    }
    if (lane == 31) part[warp] = up_to;
    __syncthreads();
    unsigned before = up_to - own;
#pragma unroll
    for (int w = 0; w < 7; ++w)
        if (w < warp) before += part[w];
    uint4 sums;
    sums.x = before;
    sums.y = sums.x + v.x;
    sums.z = sums.y + v.y;
    sums.w = sums.z + v.z;
    *reinterpret_cast<uint4*>(y + start) = sums;
}

// A scan of u32 in one pass: dynamic tickets, 16 elements a thread, a warp looks back over 32 tiles.
constexpr int THREADS = 256, ITEMS = 16, TILE = THREADS * ITEMS;
typedef unsigned long long u64;

__device__ __forceinline__ u64 load_relaxed(const u64* p)
{
    u64 v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

__device__ __forceinline__ void store_relaxed(u64* p, u64 v)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

__device__ __forceinline__ unsigned look_back(const u64* status, int tile)
{
    const int lane = threadIdx.x % 32;
    unsigned before = 0;
    int nearest = tile - 1;
    bool done = tile == 0;
    while (!done) {
        const int asked = nearest - lane;
        u64 word = u64(2) << 32;
        do {
            if (asked >= 0) word = load_relaxed(status + asked);
        } while (__ballot_sync(~0u, word >> 32 == 0));
        const unsigned complete = __ballot_sync(~0u, word >> 32 == 2);
        const int last = complete ? __ffs(complete) - 1 : 31;
        unsigned sum = lane <= last ? unsigned(word) : 0;
#pragma unroll
        for (int j = 16; j; j /= 2) sum += __shfl_xor_sync(~0u, sum, j);
        before += sum;
        done = complete != 0;
        nearest -= 32;
    }
    return before;
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void prefix_scan(
    int n, const unsigned* __restrict__ x, unsigned* __restrict__ y, unsigned* ticket, u64* status)
{
    __shared__ unsigned part[THREADS / 32], tile_s, before_s;
    const int t = threadIdx.x, lane = t % 32, w = t / 32;
    if (t == 0) tile_s = atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = tile_s, start = tile * TILE + t * ITEMS;
    unsigned v[ITEMS] = {};
    if (start + ITEMS <= n) {
#pragma unroll
        for (int j = 0; j < ITEMS; j += 4) {
            const uint4 four = *reinterpret_cast<const uint4*>(x + start + j);
            v[j] = four.x, v[j + 1] = four.y, v[j + 2] = four.z, v[j + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int j = 0; j < ITEMS; ++j)
            if (start + j < n) v[j] = x[start + j];
    }
#pragma unroll
    for (int j = 1; j < ITEMS; ++j) v[j] += v[j - 1];
    unsigned up_to = v[ITEMS - 1];
#pragma unroll
    for (int j = 1; j < 32; j *= 2) {
        const unsigned left = __shfl_up_sync(~0u, up_to, j);
        if (lane >= j) up_to += left;
    }
    unsigned left = __shfl_up_sync(~0u, up_to, 1);
    if (lane == 0) left = 0;
    if (lane == 31) part[w] = up_to;
    __syncthreads();
    unsigned of_tile = part[0], before_warp = 0;
#pragma unroll
    for (int i = 1; i < THREADS / 32; ++i) {
        if (w == i) before_warp = of_tile;
        of_tile += part[i];
    }
    const unsigned in_tile = before_warp + left;
    if (w == 0) {
        if (tile != 0 && lane == 0) store_relaxed(status + tile, u64(1) << 32 | of_tile);
        const unsigned before = look_back(status, tile);
        if (lane == 0) {
            store_relaxed(status + tile, u64(2) << 32 | (before + of_tile));
            before_s = before;
        }
    }
    __syncthreads();
    const unsigned add = before_s + in_tile;
#pragma unroll
    for (int j = 0; j < ITEMS; ++j)
        if (start + j < n) y[start + j] = v[j] + add;
}

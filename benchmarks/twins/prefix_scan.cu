// A scan of u32, or f32, in one pass: dynamic tickets, 16 elements a thread, a warp looks back over
// 32 tiles.
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

// Sums have 32 bits in a status word; `bits` and `sum_of` change nothing for u32.
__device__ __forceinline__ unsigned bits(unsigned v) { return v; }
__device__ __forceinline__ unsigned bits(float v) { return __float_as_uint(v); }
__device__ __forceinline__ void sum_of(u64 word, unsigned& v) { v = unsigned(word); }
__device__ __forceinline__ void sum_of(u64 word, float& v) { v = __uint_as_float(unsigned(word)); }

template <typename T>
__device__ __forceinline__ T look_back(const u64* status, int tile)
{
    const int lane = threadIdx.x % 32;
    T before = 0;
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
        T sum;
        sum_of(word, sum);
        if (lane > last) sum = 0;
#pragma unroll
        for (int j = 16; j; j /= 2) sum += __shfl_xor_sync(~0u, sum, j);
        before += sum;
        done = complete != 0;
        nearest -= 32;
    }
    return before;
}

template <typename T, typename T4>
__device__ __forceinline__ void scan(
    int n, const T* __restrict__ x, T* __restrict__ y, unsigned* ticket, u64* status)
{
    __shared__ T part[THREADS / 32], before_s;
    __shared__ unsigned tile_s;
    const int t = threadIdx.x, lane = t % 32, w = t / 32;
    if (t == 0) tile_s = atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = tile_s, start = tile * TILE + t * ITEMS;
    T v[ITEMS] = {};
    if (start + ITEMS <= n) {
#pragma unroll
        for (int j = 0; j < ITEMS; j += 4) {
            const T4 four = *reinterpret_cast<const T4*>(x + start + j);
            v[j] = four.x, v[j + 1] = four.y, v[j + 2] = four.z, v[j + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int j = 0; j < ITEMS; ++j)
            if (start + j < n) v[j] = x[start + j];
    }
#pragma unroll
    for (int j = 1; j < ITEMS; ++j) v[j] += v[j - 1];
    T up_to = v[ITEMS - 1];
#pragma unroll
    for (int j = 1; j < 32; j *= 2) {
        const T left = __shfl_up_sync(~0u, up_to, j);
        if (lane >= j) up_to += left;
    }
    T left = __shfl_up_sync(~0u, up_to, 1);
    if (lane == 0) left = 0;
    if (lane == 31) part[w] = up_to;
    __syncthreads();
    T of_tile = part[0], before_warp = 0;
#pragma unroll
    for (int i = 1; i < THREADS / 32; ++i) {
        if (w == i) before_warp = of_tile;
        of_tile += part[i];
    }
    const T in_tile = before_warp + left;
    if (w == 0) {
        if (tile != 0 && lane == 0) store_relaxed(status + tile, u64(1) << 32 | bits(of_tile));
        const T before = look_back<T>(status, tile);
        if (lane == 0) {
            store_relaxed(status + tile, u64(2) << 32 | bits(before + of_tile));
            before_s = before;
        }
    }
    __syncthreads();
    const T add = before_s + in_tile;
#pragma unroll
    for (int j = 0; j < ITEMS; ++j)
        if (start + j < n) y[start + j] = v[j] + add;
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void prefix_scan(
    int n, const unsigned* __restrict__ x, unsigned* __restrict__ y, unsigned* ticket, u64* status)
{
    scan<unsigned, uint4>(n, x, y, ticket, status);
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void prefix_scan_f32(
    int n, const float* __restrict__ x, float* __restrict__ y, unsigned* ticket, u64* status)
{
    scan<float, float4>(n, x, y, ticket, status);
}

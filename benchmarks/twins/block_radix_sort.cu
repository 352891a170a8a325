// Radix sort of 2048 keys a block, four bits a pass: each thread counts its own digits in 16 bits, two
// rows of counts side by side in a word; the words are scanned; keys go to their places.
__device__ __forceinline__ int place(int i) { return i + (i >> 5); }

extern "C" __global__ __launch_bounds__(256, 1) void block_radix_sort(
    const int* __restrict__ x, int* __restrict__ y)
{
    constexpr int THREADS = 256, ITEMS = 8, ROWS = 8, SEGMENT = ROWS + 1;
    __shared__ unsigned counts[SEGMENT * THREADS];
    __shared__ unsigned part[THREADS / 32];
    __shared__ unsigned tile[THREADS * ITEMS + THREADS * ITEMS / 32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    long long start = (long long)blockIdx.x * (THREADS * ITEMS) + t * ITEMS;
    unsigned key[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
        int4 v = *reinterpret_cast<const int4*>(x + start + i);
        key[i] = v.x ^ 0x80000000u;
        key[i + 1] = v.y ^ 0x80000000u;
        key[i + 2] = v.z ^ 0x80000000u;
        key[i + 3] = v.w ^ 0x80000000u;
    }
    unsigned short* own = reinterpret_cast<unsigned short*>(counts) + 2 * t;
#pragma unroll 1
    for (int shift = 0; shift < 32; shift += 4) {
#pragma unroll
        for (int i = 0; i < SEGMENT; ++i) counts[i * THREADS + t] = 0;
        int rank[ITEMS];
        unsigned short* slot[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            unsigned digit = key[i] >> shift & 15;
            slot[i] = own + (digit % ROWS) * (2 * THREADS) + digit / ROWS;
            rank[i] = *slot[i];
            *slot[i] = rank[i] + 1;
        }
        __syncthreads();
        unsigned segment[SEGMENT], total = 0;
#pragma unroll
        for (int i = 0; i < SEGMENT; ++i) {
            segment[i] = counts[t * SEGMENT + i];
            total += segment[i];
        }
        unsigned up_to = total;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            unsigned left = __shfl_up_sync(~0u, up_to, distance);
            if (lane >= distance) up_to += left;
        }
        if (lane == 31) part[warp] = up_to;
        __syncthreads();
        unsigned running = up_to - total, all = 0;
#pragma unroll
        for (int w = 0; w < THREADS / 32; ++w) {
            if (w == warp) running += all;
            all += part[w];
        }
        running += all << 16;
#pragma unroll
        for (int i = 0; i < SEGMENT; ++i) {
            counts[t * SEGMENT + i] = running;
            running += segment[i];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) tile[place(rank[i] + *slot[i])] = key[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) key[i] = tile[place(t * ITEMS) + i];
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
        int4 v = make_int4(key[i] ^ 0x80000000u, key[i + 1] ^ 0x80000000u,
                           key[i + 2] ^ 0x80000000u, key[i + 3] ^ 0x80000000u);
        *reinterpret_cast<int4*>(y + start + i) = v;
    }
}

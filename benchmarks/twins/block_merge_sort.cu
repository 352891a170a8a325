// Merge sort of 2048 keys a block: each thread sorts its eight, then runs are merged two by two; a
// thread finds by bisection where its eight of the merged keys begin.
extern "C" __global__ __launch_bounds__(256, 1) void block_merge_sort(
    const float* __restrict__ x, float* __restrict__ y)
{
    constexpr int THREADS = 256, ITEMS = 8, ALL = THREADS * ITEMS;
    __shared__ float tile[ALL + 1];  // one element is read beyond the last, and not used
    int t = threadIdx.x;
    if (t == 0) tile[ALL] = 0;
    long long start = (long long)blockIdx.x * ALL + t * ITEMS;
    float key[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
        float4 v = *reinterpret_cast<const float4*>(x + start + i);
        key[i] = v.x;
        key[i + 1] = v.y;
        key[i + 2] = v.z;
        key[i + 3] = v.w;
    }
#pragma unroll
    for (int round = 0; round < ITEMS; ++round)
#pragma unroll
        for (int i = round % 2; i < ITEMS - 1; i += 2)
            if (key[i + 1] < key[i]) {
                float kept = key[i];
                key[i] = key[i + 1];
                key[i + 1] = kept;
            }
#pragma unroll 1
    for (int run = ITEMS; run < ALL; run *= 2) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) tile[t * ITEMS + i] = key[i];
        __syncthreads();
        int first = t * ITEMS & -(2 * run), middle = first + run, end = middle + run;
        int diagonal = t * ITEMS - first;
        int low = max(0, diagonal - run), high = min(diagonal, run);
        while (low < high) {
            int half = (low + high) / 2;
            if (tile[middle + diagonal - 1 - half] < tile[first + half]) high = half;
            else low = half + 1;
        }
        int left = first + low, right = middle + diagonal - low;
        float left_key = tile[left], right_key = tile[right];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            bool is_right = right < end && (left >= middle || right_key < left_key);
            key[i] = is_right ? right_key : left_key;
            float next = tile[is_right ? ++right : ++left];
            if (is_right) right_key = next;
            else left_key = next;
        }
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
        float4 v = make_float4(key[i], key[i + 1], key[i + 2], key[i + 3]);
        *reinterpret_cast<float4*>(y + start + i) = v;
    }
}

// Where each row has its greatest element: a warp a row, value and place in one 64-bit key.
extern "C" __global__ __launch_bounds__(256, 1) void row_argmax(
    int rows, int cols, const float* __restrict__ x, int* __restrict__ best)
{
    const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    unsigned long long key = 0;
    for (int i = lane; i < cols; i += 32) {
        const int b = __float_as_int(x[size_t(row) * cols + i]);
        const unsigned ordered = b ^ (b >> 31 | 0x80000000);
        const unsigned long long mine = (unsigned long long)ordered << 32 | ~unsigned(i);
        key = key > mine ? key : mine;
    }
#pragma unroll
    for (int j = 16; j; j /= 2) {
        const unsigned long long other = __shfl_xor_sync(~0u, key, j);
        key = key > other ? key : other;
    }
    if (lane == 0) best[row] = ~unsigned(key);
}

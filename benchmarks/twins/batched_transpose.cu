// B[k] = A[k] transposed, a tile of 32 x 32 a block.
extern "C" __global__ __launch_bounds__(256, 6) void batched_transpose_f32(
    int rows, int cols, const float* __restrict__ A, float* __restrict__ B)
{
    __shared__ float tile[32 * 33];
    const int across = (cols + 31) / 32, tiles = (rows + 31) / 32 * across;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    const int k = blockIdx.x / tiles, row = blockIdx.x % tiles / across * 32;
    const int col = blockIdx.x % tiles % across * 32;
    A += size_t(k) * rows * cols, B += size_t(k) * rows * cols;
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        if (row + y + j < rows && col + x < cols)
            tile[(y + j) * 33 + x] = A[size_t(row + y + j) * cols + col + x];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        if (col + y + j < cols && row + x < rows)
            B[size_t(col + y + j) * rows + row + x] = tile[x * 33 + y + j];
}

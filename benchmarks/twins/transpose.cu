// B = A transposed, a tile of 32 x 32 a block.
extern "C" __global__ __launch_bounds__(256, 6) void transpose(
    int rows, int cols, const float* __restrict__ A, float* __restrict__ B)
{
    __shared__ float tile[32 * 33];
    const int across = (cols + 31) / 32, x = threadIdx.x % 32, y = threadIdx.x / 32;
    const int row = blockIdx.x / across * 32, col = blockIdx.x % across * 32;
    for (int j = 0; j < 32; j += 8)
        if (row + y + j < rows && col + x < cols)
            tile[(y + j) * 33 + x] = A[size_t(row + y + j) * cols + col + x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8)
        if (col + y + j < cols && row + x < rows)
            B[size_t(col + y + j) * rows + row + x] = tile[x * 33 + y + j];
}

// A five-point stencil: 32 x 16 elements and a rim of one in shared memory.
extern "C" __global__ __launch_bounds__(256, 1) void stencil(
    int rows, int cols, float centre, float side, const float* __restrict__ x,
    float* __restrict__ y)
{
    constexpr int PITCH = 34, CELLS = PITCH * 18;
    __shared__ float tile[CELLS];
    const int across = (cols + 31) / 32, t = threadIdx.x, r = t / 32, c = t % 32;
    const int row = blockIdx.x / across * 16, col = blockIdx.x % across * 32;
#pragma unroll
    for (int k = 0; k < CELLS; k += 256) {
        const int i = row + (t + k) / PITCH - 1, j = col + (t + k) % PITCH - 1;
        if (t + k < CELLS)
            tile[t + k] =
                i >= 0 && i < rows && j >= 0 && j < cols ? x[(long long)i * cols + j] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k += 8) {
        const int at = (r + k + 1) * PITCH + c + 1;
        if (row + r + k < rows && col + c < cols)
            y[(long long)(row + r + k) * cols + col + c] =
                centre * tile[at]
                + side * (tile[at - 1] + tile[at + 1] + tile[at - PITCH] + tile[at + PITCH]);
    }
}

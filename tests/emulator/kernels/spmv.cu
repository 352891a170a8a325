// Sparse matrix times vector, a warp a row, rows of any length.
extern "C" __global__ void spmv(const int* starts, const int* columns, const float* values,
                                const float* x, float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int e = starts[row] + lane; e < starts[row + 1]; e += 32) sum += values[e] * x[columns[e]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}

// C = alpha * A @ B + beta * C: one element a thread; a warp takes one column's neighbouring rows.
extern "C" __global__ __launch_bounds__(1024, 1) void sgemm_naive(
    int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B,
    float beta, float* __restrict__ C)
{
    const int tiles_n = (N + 31) / 32;
    const int row = blockIdx.x / tiles_n * 32 + threadIdx.x % 32;
    const int col = blockIdx.x % tiles_n * 32 + threadIdx.x / 32;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[size_t(row) * K + k] * B[size_t(k) * N + col];
    float& c = C[size_t(row) * N + col];
    c = alpha * sum + beta * c;
}

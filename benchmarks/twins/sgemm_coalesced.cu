// C = alpha * A @ B + beta * C: one element a thread; a warp takes one row's neighbouring columns.
extern "C" __global__ __launch_bounds__(1024, 1) void sgemm_coalesced(
    int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B,
    float beta, float* __restrict__ C)
{
    const int tiles_n = (N + 31) / 32;
    const int b = blockIdx.x, t = threadIdx.x, y = t / 32, x = t % 32;
    const int top = b / tiles_n * 32, left = b % tiles_n * 32, row = top + y, col = left + x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; ++k)
            sum += A[(long long)row * K + k] * B[(long long)k * N + col];
        // As the tile's place and the thread's in it: the loop then has fewer instructions.
        float& c = C[(long long)top * N + left + ((long long)y * N + x)];
        c = alpha * sum + beta * c;
    }
}

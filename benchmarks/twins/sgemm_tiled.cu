// C = alpha * A @ B + beta * C: 128 x 128 tiles in shared memory, steps of 8, 8 x 8 elements a thread.
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, T = BM * BN / (TM * TN);

extern "C" __global__ __launch_bounds__(256, 1) void sgemm_tiled_128(
    int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B,
    float beta, float* __restrict__ C)
{
    __shared__ float As[BM * BK], Bs[BK * BN];
    const int tiles_n = (N + BN - 1) / BN, t = threadIdx.x;
    const int row = blockIdx.x / tiles_n * BM, col = blockIdx.x % tiles_n * BN;
    const int tr = t / (BN / TN) * TM, tc = t % (BN / TN) * TN;
    float sum[TM][TN] = {};
    for (int k = 0; k < K; k += BK) {
        __syncthreads();
#pragma unroll
        for (int j = 0; j < BM * BK; j += T) {
            const int i = row + t / BK + j / BK, p = k + t % BK;
            As[t + j] = i < M && p < K ? A[size_t(i) * K + p] : 0;
        }
#pragma unroll
        for (int j = 0; j < BK * BN; j += T) {
            const int p = k + t / BN + j / BN, i = col + t % BN;
            Bs[t + j] = p < K && i < N ? B[size_t(p) * N + i] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            float m[TM], n[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) m[i] = As[(tr + i) * BK + kk];
#pragma unroll
            for (int j = 0; j < TN; ++j) n[j] = Bs[kk * BN + tc + j];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) sum[i][j] += m[i] * n[j];
        }
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int y = row + tr + i, x = col + tc + j;
            if (y < M && x < N) {
                float& c = C[size_t(y) * N + x];
                c = alpha * sum[i][j] + beta * c;
            }
        }
}

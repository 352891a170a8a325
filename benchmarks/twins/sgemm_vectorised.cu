// C = alpha * A @ B + beta * C: as sgemm_tiled, A turned round in shared memory, accesses of 16 bytes.
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;

extern "C" __global__ __launch_bounds__(256, 1) void sgemm_vectorised_128(
    int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B,
    float beta, float* __restrict__ C)
{
    __shared__ __align__(16) float As[BK * BM], Bs[BK * BN];
    const int tiles_n = (N + BN - 1) / BN, t = threadIdx.x;
    const int row = blockIdx.x / tiles_n * BM, col = blockIdx.x % tiles_n * BN;
    const int tr = t / (BN / TN) * TM, tc = t % (BN / TN) * TN;
    const int ar = t / (BK / 4), ac = t % (BK / 4) * 4, br = t / (BN / 4), bc = t % (BN / 4) * 4;
    float sum[TM][TN] = {};
    for (int k = 0; k < K; k += BK) {
        __syncthreads();
        float4 va = make_float4(0, 0, 0, 0), vb = va;
        if (row + ar < M && k + ac < K)
            va = *reinterpret_cast<const float4*>(A + size_t(row + ar) * K + k + ac);
        if (k + br < K && col + bc < N)
            vb = *reinterpret_cast<const float4*>(B + size_t(k + br) * N + col + bc);
        float* a = As + ac * BM + ar;
        a[0] = va.x, a[BM] = va.y, a[2 * BM] = va.z, a[3 * BM] = va.w;
        *reinterpret_cast<float4*>(Bs + br * BN + bc) = vb;
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            __align__(16) float m[TM], n[TN];
#pragma unroll
            for (int i = 0; i < TM; i += 4)
                *reinterpret_cast<float4*>(m + i) =
                    *reinterpret_cast<const float4*>(As + kk * BM + tr + i);
#pragma unroll
            for (int j = 0; j < TN; j += 4)
                *reinterpret_cast<float4*>(n + j) =
                    *reinterpret_cast<const float4*>(Bs + kk * BN + tc + j);
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) sum[i][j] += m[i] * n[j];
        }
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const int y = row + tr + i, x = col + tc + j;
            if (y < M && x < N) {
                float4* c = reinterpret_cast<float4*>(C + size_t(y) * N + x);
                float4 v = *c;
                v.x = alpha * sum[i][j] + beta * v.x;
                v.y = alpha * sum[i][j + 1] + beta * v.y;
                v.z = alpha * sum[i][j + 2] + beta * v.z;
                v.w = alpha * sum[i][j + 3] + beta * v.w;
                *c = v;
            }
        }
}

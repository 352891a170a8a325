// C = alpha * A @ B + beta * C: 128 x 128 tiles, steps of 16; four warps make 64 x 64 each, in four
// parts across; 8 x 4 elements of each part a thread.
constexpr int BM = 128, BN = 128, BK = 16, WM = 64, WN = 64, NI = 4, TM = 8, TN = 4;
constexpr int T = BM * BN / (WM * WN) * 32, MI = WM * WN / (32 * TM * TN * NI);
constexpr int SM = WM / MI, SN = WN / NI;

extern "C" __global__ __launch_bounds__(T, 1) void sgemm_warp_tiled_128(
    int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B,
    float beta, float* __restrict__ C)
{
    __shared__ __align__(16) float As[BM * BK], Bs[BK * BN];
    const int tiles_n = (N + BN - 1) / BN, t = threadIdx.x, w = t / 32, lane = t % 32;
    const int row = blockIdx.x / tiles_n * BM, col = blockIdx.x % tiles_n * BN;
    const int r = w / (BN / WN) * WM + lane / (SN / TN) * TM;
    const int c = w % (BN / WN) * WN + lane % (SN / TN) * TN;
    const int ar = t / (BK / 4), ac = t % (BK / 4) * 4, br = t / (BN / 4), bc = t % (BN / 4) * 4;
    float sum[MI * TM][NI * TN] = {};
    for (int k = 0; k < K; k += BK) {
        __syncthreads();
#pragma unroll
        for (int j = 0; j < BM; j += T * 4 / BK) {
            float4 v = make_float4(0, 0, 0, 0);
            if (row + ar + j < M && k + ac < K)
                v = *reinterpret_cast<const float4*>(A + size_t(row + ar + j) * K + k + ac);
            float* a = As + ac * BM + ar + j;
            a[0] = v.x, a[BM] = v.y, a[2 * BM] = v.z, a[3 * BM] = v.w;
        }
#pragma unroll
        for (int j = 0; j < BK; j += T / (BN / 4)) {
            float4 v = make_float4(0, 0, 0, 0);
            if (k + br + j < K && col + bc < N)
                v = *reinterpret_cast<const float4*>(B + size_t(k + br + j) * N + col + bc);
            *reinterpret_cast<float4*>(Bs + (br + j) * BN + bc) = v;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            __align__(16) float m[MI * TM], n[NI * TN];
#pragma unroll
            for (int i = 0; i < MI * TM; i += 4)
                *reinterpret_cast<float4*>(m + i) = *reinterpret_cast<const float4*>(
                    As + kk * BM + i / TM * SM + r + i % TM);
#pragma unroll
            for (int j = 0; j < NI * TN; j += 4)
                *reinterpret_cast<float4*>(n + j) = *reinterpret_cast<const float4*>(
                    Bs + kk * BN + j / TN * SN + c + j % TN);
#pragma unroll
            for (int i = 0; i < MI * TM; ++i)
#pragma unroll
                for (int j = 0; j < NI * TN; ++j) sum[i][j] += m[i] * n[j];
        }
    }
#pragma unroll
    for (int i = 0; i < MI * TM; ++i)
#pragma unroll
        for (int j = 0; j < NI * TN; j += 4) {
            const int y = row + r + i / TM * SM + i % TM, x = col + c + j / TN * SN + j % TN;
            if (y < M && x < N) {
                float4* at = reinterpret_cast<float4*>(C + size_t(y) * N + x);
                float4 v = *at;
                v.x = alpha * sum[i][j] + beta * v.x;
                v.y = alpha * sum[i][j + 1] + beta * v.y;
                v.z = alpha * sum[i][j + 2] + beta * v.z;
                v.w = alpha * sum[i][j + 3] + beta * v.w;
                *at = v;
            }
        }
}

// C = A B with 64x64 tiles, 8 deep, 4x4 results a thread; sizes are multiples of the tiles.
extern "C" __global__ void __launch_bounds__(256)
sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[8][64], Bs[8][64];
    int t = threadIdx.x, row = blockIdx.y * 64, col = blockIdx.x * 64;
    int tr = t / 16 * 4, tc = t % 16 * 4;
    float acc[4][4] = {};
    for (int k = 0; k < K; k += 8) {
        for (int e = t; e < 512; e += 256) {
            As[e % 8][e / 8] = A[(row + e / 8) * K + k + e % 8];
            Bs[e / 64][e % 64] = B[(k + e / 64) * N + col + e % 64];
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 8; ++kk) {
            float4 a = *(const float4*)&As[kk][tr], b = *(const float4*)&Bs[kk][tc];
            float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += av[i] * bv[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        *(float4*)&C[(row + tr + i) * N + col + tc] =
            make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

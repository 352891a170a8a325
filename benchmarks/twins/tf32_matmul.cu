// C = A @ B in TF32, one 16 x 8 tile of C a warp, through shared memory.
extern "C" __global__ __launch_bounds__(32, 1) void tf32_matmul(
    const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
    int K)
{
    __shared__ __align__(16) float As[16 * 8], Bs[8 * 8], Cs[16 * 8];
    const int tiles_n = (N + 7) / 8, t = threadIdx.x, r = t / 4, q = t % 4;
    const int row = blockIdx.x / tiles_n * 16, col = blockIdx.x % tiles_n * 8;
    for (int j = 0; j < 4; ++j) Cs[t * 4 + j] = 0;
    const int ar = t * 4 / 8, ac = t * 4 % 8, br = t * 2 / 8, bc = t * 2 % 8;
    for (int k = 0; k < K; k += 8) {
        __syncwarp();
        for (int j = 0; j < 4; ++j)
            As[t * 4 + j] = row + ar < M && k + ac + j < K ? A[size_t(row + ar) * K + k + ac + j] : 0;
        for (int j = 0; j < 2; ++j)
            Bs[t * 2 + j] = k + br < K && col + bc + j < N ? B[size_t(k + br) * N + col + bc + j] : 0;
        __syncwarp();
        const unsigned a0 = __float_as_uint(As[r * 8 + q]);
        const unsigned a1 = __float_as_uint(As[(r + 8) * 8 + q]);
        const unsigned a2 = __float_as_uint(As[r * 8 + q + 4]);
        const unsigned a3 = __float_as_uint(As[(r + 8) * 8 + q + 4]);
        const unsigned b0 = __float_as_uint(Bs[q * 8 + r]);
        const unsigned b1 = __float_as_uint(Bs[(q + 4) * 8 + r]);
        float c[4] = {};
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        float2* mine = reinterpret_cast<float2*>(Cs + r * 8 + q * 2);
        mine[0] = make_float2(mine[0].x + c[0], mine[0].y + c[1]);
        mine[32] = make_float2(mine[32].x + c[2], mine[32].y + c[3]);
    }
    __syncwarp();
    for (int j = 0; j < 4; ++j)
        if (row + t * 4 / 8 < M && col + t * 4 % 8 + j < N)
            C[size_t(row + t * 4 / 8) * N + col + t * 4 % 8 + j] = Cs[t * 4 + j];
}

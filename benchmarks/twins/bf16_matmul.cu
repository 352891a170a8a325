// C = A * B' in bf16, sums in f32: tiles of 64 x 64 a block of four warps, steps of 32, three stages
// of cp.async, ldmatrix, mma.
typedef unsigned short bf16;
constexpr int TILE = 64, DEPTH = 32, STAGES = 3;

__device__ __forceinline__ int swizzled(int i) { return i ^ (i >> 3 & 0x18); }

__device__ __forceinline__ unsigned shared_address(const void* p)
{
    return __cvta_generic_to_shared(p);
}

__device__ __forceinline__ void copy_16(bf16* to, const bf16* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
}

__device__ __forceinline__ void ldmatrix(unsigned (&r)[4], const bf16* from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(from))
                 : "memory");
}

__device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ __launch_bounds__(128, 1) void bf16_matmul(
    const bf16* __restrict__ A, const bf16* __restrict__ B, float* __restrict__ C, int M, int N,
    int K)
{
    __shared__ __align__(16) bf16 As[STAGES][TILE * DEPTH], Bs[STAGES][TILE * DEPTH];
    const int row = blockIdx.x / (N / TILE) * TILE, col = blockIdx.x % (N / TILE) * TILE;
    const int t = threadIdx.x, lane = t % 32, wm = t / 32 / 2 * 32, wn = t / 32 % 2 * 32;
    const int r = t / 4, c = t % 4 * 8, steps = (K + DEPTH - 1) / DEPTH;
    float acc[2][4][4] = {};
    // Computed once: where this thread copies from and to, and where it reads fragments.
    const bf16 *from_a[2], *from_b[2];
    int to[2], at_a[2][2], at_b[2][2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        from_a[i] = A + size_t(row + r + i * 32) * K + c;
        from_b[i] = B + size_t(col + r + i * 32) * K + c;
        to[i] = swizzled((r + i * 32) * DEPTH + c);
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            at_a[k][i] = swizzled((wm + i * 16 + lane % 16) * DEPTH + k * 16 + lane / 16 * 8);
            at_b[k][i] = swizzled((wn + i * 16 + lane % 8 + lane / 16 * 8) * DEPTH + k * 16
                                  + lane / 8 % 2 * 8);
        }
    }
    auto fill = [&](int step, int slot) {
        if (step < steps)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                copy_16(&As[slot][to[i]], from_a[i] + step * DEPTH);
                copy_16(&Bs[slot][to[i]], from_b[i] + step * DEPTH);
            }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int step = 0; step < STAGES - 1; ++step) fill(step, step);
    // One step for each slot; those that are too many only wait.
    for (int first = 0; first < steps; first += STAGES)
#pragma unroll
        for (int slot = 0; slot < STAGES; ++slot) {
            const int step = first + slot;
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
            __syncthreads();
            fill(step + STAGES - 1, (slot + STAGES - 1) % STAGES);
            const bf16 *a = As[slot], *b = Bs[slot];
#pragma unroll
            for (int kk = 0; kk < DEPTH && step < steps; kk += 16) {
                unsigned fa[2][4], fb[2][4];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    ldmatrix(fa[i], a + at_a[kk / 16][i]);
                    ldmatrix(fb[i], b + at_b[kk / 16][i]);
                }
#pragma unroll
                for (int i = 0; i < 2; ++i)
#pragma unroll
                    for (int j = 0; j < 4; ++j)
                        mma(acc[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
            }
        }
    float* out = C + size_t(row + wm + lane / 4) * N + col + wn + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            float* at = out + size_t(i) * 16 * N + j * 8;
            *reinterpret_cast<float2*>(at) = make_float2(acc[i][j][0], acc[i][j][1]);
            *reinterpret_cast<float2*>(at + size_t(8) * N) = make_float2(acc[i][j][2], acc[i][j][3]);
        }
}

// O = softmax(Q K' / 8) V, heads of 64, f16 to f32: 64 queries a block, 64 keys a step, two stages.
typedef unsigned short f16;
constexpr int D = 64, ROWS = 64, KEYS = 64, STAGES = 2;
constexpr float SCALE = 1.4426950408889634f * 0.125f;

__device__ __forceinline__ int swizzled(int i) { return i ^ (i >> 3 & 0x38); }

__device__ __forceinline__ unsigned shared_address(const void* p)
{
    return __cvta_generic_to_shared(p);
}

__device__ __forceinline__ void copy_16(f16* to, const f16* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
}

__device__ __forceinline__ void ldmatrix(unsigned (&r)[4], const f16* from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(from))
                 : "memory");
}

__device__ __forceinline__ void ldmatrix_trans(unsigned (&r)[4], const f16* from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(from))
                 : "memory");
}

__device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned packed(float low, float high)
{
    unsigned r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

__device__ __forceinline__ float power(float x)
{
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}

extern "C" __global__ __launch_bounds__(128, 1) void attention(
    int L, const f16* __restrict__ Q, const f16* __restrict__ K, const f16* __restrict__ V,
    float* __restrict__ O)
{
    __shared__ __align__(16) f16 Ks[STAGES][KEYS * D], Vs[STAGES][KEYS * D];
    const int tiles = L / ROWS, first_key = blockIdx.x / tiles * L;
    const int row = first_key + blockIdx.x % tiles * ROWS, steps = (L + KEYS - 1) / KEYS;
    const int t = threadIdx.x, lane = t % 32, g = t / 32 * 16 + lane / 4, q = lane % 4 * 2;
    unsigned fq[D / 16][4];
#pragma unroll
    for (int k = 0; k < D / 16; ++k)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            fq[k][j] = *reinterpret_cast<const unsigned*>(
                Q + size_t(row + g + j % 2 * 8) * D + q + k * 16 + j / 2 * 8);
    float most[2] = {-1.0e30f, -1.0e30f}, sum[2] = {}, out[D / 8][4] = {};
    // Computed once: where this thread copies from and to, and where it reads fragments. Sixteen rows
    // further everything is where it was: a swizzle goes round in eight.
    const int c = t % 8 * 8, to = swizzled(t / 8 * D + c);
    const f16 *from_k = K + size_t(first_key + t / 8) * D + c;
    const f16 *from_v = V + size_t(first_key + t / 8) * D + c;
    int at_k[D / 16], at_v[D / 16];
#pragma unroll
    for (int k = 0; k < D / 16; ++k) {
        at_k[k] = swizzled((lane % 8 + lane / 16 * 8) * D + k * 16 + lane / 8 % 2 * 8);
        at_v[k] = swizzled(lane % 16 * D + k * 16 + lane / 16 * 8);
    }
    auto fill = [&](int step, int slot) {
        if (step < steps)
#pragma unroll
            for (int i = 0; i < KEYS; i += 16) {
                copy_16(&Ks[slot][to + i * D], from_k + (step * KEYS + i) * D);
                copy_16(&Vs[slot][to + i * D], from_v + (step * KEYS + i) * D);
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
            if (step >= steps) continue;
            const f16 *ks = Ks[slot], *vs = Vs[slot];
            float s[KEYS / 8][4] = {};
#pragma unroll
            for (int k = 0; k < D / 16; ++k)
#pragma unroll
                for (int n = 0; n < KEYS / 16; ++n) {
                    unsigned fk[4];
                    ldmatrix(fk, ks + n * 16 * D + at_k[k]);
                    mma(s[n * 2], fq[k], fk[0], fk[1]);
                    mma(s[n * 2 + 1], fq[k], fk[2], fk[3]);
                }
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float best = s[0][h * 2];
#pragma unroll
                for (int n = 0; n < KEYS / 8; ++n)
                    best = fmaxf(best, fmaxf(s[n][h * 2], s[n][h * 2 + 1]));
                best = fmaxf(best, __shfl_xor_sync(~0u, best, 1));
                best = fmaxf(best, __shfl_xor_sync(~0u, best, 2));
                best = fmaxf(most[h], best * SCALE);
                const float shrink = power(most[h] - best);
                most[h] = best, sum[h] *= shrink;
#pragma unroll
                for (int n = 0; n < D / 8; ++n) out[n][h * 2] *= shrink, out[n][h * 2 + 1] *= shrink;
#pragma unroll
                for (int n = 0; n < KEYS / 8; ++n)
#pragma unroll
                    for (int j = h * 2; j < h * 2 + 2; ++j) {
                        s[n][j] = power(s[n][j] * SCALE - best);
                        sum[h] += s[n][j];
                    }
            }
#pragma unroll
            for (int n = 0; n < KEYS / 16; ++n) {
                unsigned fp[4];
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    fp[j] = packed(s[n * 2 + j / 2][j % 2 * 2], s[n * 2 + j / 2][j % 2 * 2 + 1]);
#pragma unroll
                for (int k = 0; k < D / 16; ++k) {
                    unsigned fv[4];
                    ldmatrix_trans(fv, vs + n * 16 * D + at_v[k]);
                    mma(out[k * 2], fp, fv[0], fv[1]);
                    mma(out[k * 2 + 1], fp, fv[2], fv[3]);
                }
            }
        }
    float* at = O + size_t(row + g) * D + q;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
        sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
        const float factor = 1.0f / sum[h];
#pragma unroll
        for (int n = 0; n < D / 8; ++n)
            *reinterpret_cast<float2*>(at + h * 8 * D + n * 8) =
                make_float2(out[n][h * 2] * factor, out[n][h * 2 + 1] * factor);
    }
}

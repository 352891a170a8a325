// C = A * B' in bf16 on Hopper, sums in f32: tiles of 128 x 128 a block, steps of 64, four slots.
// One thread of the third warpgroup has the copy engine fill the slots; the other two multiply, 64
// rows each. A launch gives 4 * 2 * 16384 + 64 bytes of dynamic shared memory.
struct __align__(64) TensorMap { unsigned char bytes[128]; };
constexpr int TILE = 128, DEPTH = 64, SLOTS = 4, BYTES = TILE * DEPTH * 2;

__device__ __forceinline__ void wait(unsigned mbarrier, unsigned parity)
{
    asm volatile(
        "{ .reg .pred p;\n"
        "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
        "@!p bra again; }" ::"r"(mbarrier), "r"(parity)
        : "memory");
}

// The tile whose first element is element x of row y.
__device__ __forceinline__ void load(unsigned to, const TensorMap& map, int x, int y, unsigned full)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(full)
        : "memory");
}

// Rows of 128 bytes in the swizzle of 128, eight rows every 1024 bytes. Descriptors count in 16 bytes;
// the lower half, which holds the address, is added up in 32 bits.
__device__ __forceinline__ unsigned long long matrix(unsigned start)
{
    return 0x4000004000000000ull | start;
}

#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(d, i) FOUR(d, i), FOUR(d, i + 4), FOUR(d, i + 8), FOUR(d, i + 12)
#define ALL(d) SIXTEEN(d, 0), SIXTEEN(d, 16), SIXTEEN(d, 32), SIXTEEN(d, 48)

__device__ __forceinline__ void wgmma(float (&d)[64], unsigned long long a, unsigned long long b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 0;"
        : ALL(d)
        : "l"(a), "l"(b)
        : "memory");
}

extern "C" __global__ __launch_bounds__(384, 1) void hopper_matmul(
    const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
    float* __restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned As = __cvta_generic_to_shared(memory), Bs = As + SLOTS * BYTES;
    const unsigned full = Bs + SLOTS * BYTES, empty = full + SLOTS * 8;
    const int row = blockIdx.x / (N / TILE) * TILE, col = blockIdx.x % (N / TILE) * TILE;
    const int t = threadIdx.x, steps = K / DEPTH;
    if (t == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full + i * 8) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], 8;" ::"r"(empty + i * 8) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    unsigned slot = 0, parity = 0;
    auto advance = [&] {
        slot = (slot + 1) % SLOTS, parity ^= slot == 0;
    };
    if (t >= 256) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t == 256)
#pragma unroll 1
            for (int step = 0; step < steps; ++step, advance()) {
                wait(empty + slot * 8, parity ^ 1);
                asm volatile(
                    "{ .reg .b64 state; "
                    "mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(full + slot * 8),
                    "n"(2 * BYTES)
                    : "memory");
                load(As + slot * BYTES, A, step * DEPTH, row, full + slot * 8);
                load(Bs + slot * BYTES, B, step * DEPTH, col, full + slot * 8);
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    // All threads of a warp hold the same: it may go into uniform registers.
    const int group = __shfl_sync(~0u, t / 128, 0);
    const unsigned first = 0x10000 + As / 16, a = first + group * (64 * DEPTH / 8);
    const unsigned b = first + SLOTS * (BYTES / 16);
    float acc[64] = {};
#pragma unroll 1
    for (int step = 0; step < steps; ++step, advance()) {
        wait(full + slot * 8, parity);
        asm volatile("wgmma.fence.sync.aligned;" : ALL(acc)::"memory");
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16)
            wgmma(acc, matrix(a + slot * (BYTES / 16) + k / 8),
                  matrix(b + slot * (BYTES / 16) + k / 8));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        // The products of the step before are done: its slot is free.
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        __syncwarp();
        if (step != 0 && t % 32 == 0)
            asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(
                             empty + (slot + SLOTS - 1u) % SLOTS * 8)
                         : "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" : ALL(acc)::"memory");
    float* out = C + size_t(row + t / 32 * 16 + t % 32 / 4) * N + col + t % 4 * 2;
#pragma unroll
    for (int j = 0; j < TILE / 8; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i)
            *(float2*)(out + i * 8 * size_t(N) + j * 8) =
                make_float2(acc[j * 4 + i * 2], acc[j * 4 + i * 2 + 1]);
}

// C = A B in bf16 with ldmatrix and mma.m16n8k16: 64x32 tiles, a warp for each 16 rows.
__device__ __forceinline__ unsigned shared(const void* p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
extern "C" __global__ void __launch_bounds__(128)
mma_bf16(const unsigned short* A, const unsigned short* B, float* C, int K) {
    __shared__ __align__(16) unsigned short a[64][24], b[16][40];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    float acc[4][4] = {};
    for (int k = 0; k < K; k += 16) {
        for (int e = t; e < 64 * 16; e += 128) a[e / 16][e % 16] = A[e / 16 * K + k + e % 16];
        for (int e = t; e < 16 * 32; e += 128) b[e / 32][e % 32] = B[(k + e / 32) * 32 + e % 32];
        __syncthreads();
        unsigned fa[4], fb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                     : "r"(shared(&a[warp * 16 + lane % 16][lane / 16 * 8])) : "memory");
        for (int j = 0; j < 4; ++j) {
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                         : "=r"(fb[0]), "=r"(fb[1])
                         : "r"(shared(&b[lane % 16][j * 8])) : "memory");
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
                         " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                         : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i)
            C[(warp * 16 + lane / 4 + i / 2 * 8) * 32 + j * 8 + lane % 4 * 2 + i % 2] = acc[j][i];
}

// C = A B with wmma fragments from shared memory: one 16x16 tile a warp, 16 deep at a time.
extern "C" __global__ void wmma_tiles(const unsigned short* A, const unsigned short* B, float* C,
                                      int K) {
    __shared__ __align__(32) unsigned short a[16 * 16], b[16 * 16];
    int t = threadIdx.x;
    float c[8] = {};
    unsigned fa[8], fb[8];
    for (int k = 0; k < K; k += 16) {
        for (int e = t; e < 256; e += 32) {
            a[e] = A[e / 16 * K + k + e % 16];
            b[e] = B[(k + e / 16) * 16 + e % 16];
        }
        __syncwarp();
        asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16"
                     " {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]), "=r"(fa[4]),
                       "=r"(fa[5]), "=r"(fa[6]), "=r"(fa[7])
                     : "r"((unsigned)__cvta_generic_to_shared(a)) : "memory");
        asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.shared.f16"
                     " {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;"
                     : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]), "=r"(fb[4]),
                       "=r"(fb[5]), "=r"(fb[6]), "=r"(fb[7])
                     : "r"((unsigned)__cvta_generic_to_shared(b)) : "memory");
        asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32"
                     " {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11,%12,%13,%14,%15},"
                     " {%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
                       "+f"(c[6]), "+f"(c[7])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fa[4]), "r"(fa[5]),
                       "r"(fa[6]), "r"(fa[7]), "r"(fb[0]), "r"(fb[1]), "r"(fb[2]), "r"(fb[3]),
                       "r"(fb[4]), "r"(fb[5]), "r"(fb[6]), "r"(fb[7]));
        __syncwarp();
    }
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32"
                 " [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 16;"
                 :: "l"(C), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]),
                    "f"(c[6]), "f"(c[7]) : "memory");
}

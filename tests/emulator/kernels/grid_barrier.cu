// Two phases with a grid-wide barrier between them: release and acquire on one counter.
extern "C" __global__ void grid_barrier(int* a, int* out, unsigned* arrived) {
    int b = blockIdx.x, t = threadIdx.x, blocks = gridDim.x;
    a[b * 32 + t] = b * 100 + t;
    __syncthreads();
    if (t == 0) {
        unsigned seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(arrived) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived)
                         : "memory");
        } while (seen < blocks);
    }
    __syncthreads();
    out[b * 32 + t] = a[(b + 1) % blocks * 32 + 31 - t];
}

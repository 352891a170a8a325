// One warp produces, one consumes, through two buffers handed over by mbarriers and cp.async.
__device__ __forceinline__ unsigned shared(const void* p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void init(unsigned long long* b, int count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(unsigned long long* b) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared(b)) : "memory");
}
__device__ __forceinline__ void arrive_copies(unsigned long long* b) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(shared(b)) : "memory");
}
__device__ __forceinline__ void wait(unsigned long long* b, int parity) {
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                     " selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(shared(b)), "r"(parity) : "memory");
}
extern "C" __global__ void mbarrier_copy(const float* in, float* out, int tiles) {
    __shared__ __align__(16) float buffer[2][128];
    __shared__ unsigned long long full[2], empty[2];
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; ++s) { init(&full[s], 32); init(&empty[s], 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < tiles; ++i) {
            wait(&empty[i % 2], (i / 2 % 2) ^ 1);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"(shared(&buffer[i % 2][lane * 4])), "l"(in + i * 128 + lane * 4)
                         : "memory");
            arrive_copies(&full[i % 2]);
        }
    } else {
        for (int i = 0; i < tiles; ++i) {
            wait(&full[i % 2], i / 2 % 2);
            float sum = 0.0f;
            for (int j = 0; j < 4; ++j) sum += buffer[i % 2][lane + 32 * j];
            arrive(&empty[i % 2]);
            out[i * 32 + lane] = sum;
        }
    }
}

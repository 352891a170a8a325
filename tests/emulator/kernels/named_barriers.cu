// Two groups of 64 threads with loops of different lengths, each with a barrier of its own.
extern "C" __global__ void named_barriers(const int* in, int* out) {
    __shared__ int s[2][64];
    int g = threadIdx.x / 64, t = threadIdx.x % 64, v = in[threadIdx.x];
    for (int k = 0; k < 3 + 2 * g; ++k) {
        s[g][t] = v;
        asm volatile("bar.sync %0, 64;" :: "r"(1 + g) : "memory");
        v += s[g][(t + 1) % 64];
        asm volatile("bar.sync %0, 64;" :: "r"(1 + g) : "memory");
    }
    out[threadIdx.x] = v;
}

// printf and assert from a kernel.
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
extern "C" __global__ void print(const float* x, int* done, int limit) {
    int t = threadIdx.x;
    if (t % 16 == 3) printf("thread %d of %s: %.3f, %u, %lld, %c%%\n", t, "print", x[t], 7u,
                            -5ll * t, 'q');
    if (t >= limit) __assertfail("t < limit", "print.cu", 9, "print", 1);
    done[t] = 1;
}

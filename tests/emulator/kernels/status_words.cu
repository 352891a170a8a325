// Single-pass prefix sums: status and value in one 64-bit word, release and acquire, look-back over
// several predecessors.
__device__ __forceinline__ void publish(unsigned long long* w, unsigned status, unsigned value) {
    unsigned long long word = (unsigned long long)status << 32 | value;
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(w), "l"(word) : "memory");
}
__device__ __forceinline__ unsigned long long look(const unsigned long long* w) {
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(w) : "memory");
    return word;
}
extern "C" __global__ void status_words(const unsigned* in, unsigned* out,
                                        unsigned long long* words) {
    __shared__ unsigned s[64];
    __shared__ unsigned before;
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = in[b * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        unsigned v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        unsigned total = s[63], sum = 0;
        if (b > 0) {
            publish(&words[b], 1, total);
            for (int p = b - 1;; --p) {
                unsigned long long word;
                while ((word = look(&words[p])) >> 32 == 0) { }
                sum += (unsigned)word;
                if (word >> 32 == 2) break;
            }
        }
        publish(&words[b], 2, sum + total);
        before = sum;
    }
    __syncthreads();
    out[b * 64 + t] = before + s[t];
}

// Prefix sums of block sums by decoupled look-back: each block waits for its predecessor's flag.
extern "C" __global__ void look_back(const int* in, volatile int* sums, volatile int* flags,
                                     int* out) {
    __shared__ int s[128];
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = in[b * 128 + t];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        int sum = 0;
        if (b > 0) {
            while (flags[b - 1] == 0) { }
            __threadfence();
            sum = sums[b - 1];
        }
        before = sum;
        sums[b] = sum + s[0];
        __threadfence();
        flags[b] = 1;
    }
    __syncthreads();
    out[b * 128 + t] = before + in[b * 128 + t];
}

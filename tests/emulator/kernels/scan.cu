// Inclusive prefix sum of 512 numbers a block (Hillis and Steele), two barriers a step.
extern "C" __global__ void scan(const int* in, int* out) {
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 512 + t];
    __syncthreads();
    for (int d = 1; d < 512; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[blockIdx.x * 512 + t] = s[t];
}

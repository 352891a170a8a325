// Maximum of each block's 64 elements; the last block has fewer.
extern "C" __global__ void group_max(const float* in, float* out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
#ifdef FAULT
    if (i >= n) return;
    s[t] = in[i];
#else
    s[t] = i < n ? in[i] : -__int_as_float(0x7f800000);
#endif
    __syncthreads();
    if (t == 0) {
        float most = s[0];
        for (int k = 1; k < 64; ++k) most = fmaxf(most, s[k]);
        out[blockIdx.x] = most;
    }
}

// Each lane takes the next lane's element.
extern "C" __global__ void rotate(const float* in, float* out, int n) {
    int t = threadIdx.x, from = (t + 1) % 32;
#ifdef FAULT
    if (t < n) {
        float v = in[t];
        out[t] = __shfl_sync(0xffffffffu, v, from);
    }
#else
    float v = __shfl_sync(0xffffffffu, in[t], from);
    if (t < n) out[t] = v;
#endif
}

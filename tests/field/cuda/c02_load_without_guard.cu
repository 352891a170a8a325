// The number of edges below each of n elements.
extern "C" __global__ void bucket(const float* in, const float* edges, int* out, int n) {
    int t = threadIdx.x, k = 0;
#ifdef FAULT
    float v = in[t];
#else
    float v = t < n ? in[t] : 0.0f;
#endif
    while (k < 5 && edges[k] < v) ++k;
    if (t < n) out[t] = k;
}

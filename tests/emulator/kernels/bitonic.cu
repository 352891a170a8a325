// Bitonic sort of 256 keys a block in shared memory.
extern "C" __global__ void bitonic(int* keys) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = keys[blockIdx.x * 256 + t];
    s[t + 128] = keys[blockIdx.x * 256 + t + 128];
    for (int size = 2; size <= 256; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (stride - 1)), j = i + stride;
            bool up = (i & size) == 0;
            int a = s[i], b = s[j];
            if ((a > b) == up) { s[i] = b; s[j] = a; }
        }
    __syncthreads();
    keys[blockIdx.x * 256 + t] = s[t];
    keys[blockIdx.x * 256 + t + 128] = s[t + 128];
}

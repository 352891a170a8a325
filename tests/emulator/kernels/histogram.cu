// Histogram of bytes: shared atomics, then one global atomic a bin and block.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* out, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    if (bins[threadIdx.x]) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

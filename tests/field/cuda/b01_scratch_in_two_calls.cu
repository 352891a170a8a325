// The same scratch array in two calls of one function.
__device__ int before(const int* in, int* scratch) {
    int t = threadIdx.x, sum = 0;
    scratch[t] = in[t];
    __syncthreads();
    for (int j = 0; j < t; ++j) sum += scratch[j];
    return sum;
}
extern "C" __global__ void scans(const int* in, int* out) {
    __shared__ int scratch[64];
    out[threadIdx.x] = before(in, scratch);
#ifndef FAULT
    __syncthreads();
#endif
    out[64 + threadIdx.x] = before(in + 64, scratch);
}

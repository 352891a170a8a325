// Exclusive sums of each row, through one scratch array.
extern "C" __global__ void scans(const int* in, int* out, int rows) {
    __shared__ int scratch[64];
    int t = threadIdx.x;
    for (int r = 0; r < rows; ++r) {
        scratch[t] = in[r * 64 + t];
        __syncthreads();
        int sum = 0;
        for (int j = 0; j < t; ++j) sum += scratch[j];
        out[r * 64 + t] = sum;
#ifndef FAULT
        __syncthreads();
#endif
    }
}

// Dot product in double: float64 atomics, and a shared histogram of the exponents' parity.
extern "C" __global__ void dot_double(const double* x, const double* y, double* sum, int* odd,
                                      int n) {
    __shared__ int parity[2];
    if (threadIdx.x < 2) parity[threadIdx.x] = 0;
    __syncthreads();
    double part = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        part += x[i] * y[i];
        atomicAdd(&parity[__double2hiint(x[i]) >> 20 & 1], 1);
    }
    atomicAdd(sum, part);
    __syncthreads();
    if (threadIdx.x < 2) atomicAdd(&odd[threadIdx.x], parity[threadIdx.x]);
}

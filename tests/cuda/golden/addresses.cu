// CUDA C++ that prismc generated for sm_80; it needs no header.

#line 5 "addresses.prism"
extern "C" __global__ void __launch_bounds__(128, 1) addresses(
    int n,
    const float *__restrict__ x,
    float *__restrict__ y,
    float *__restrict__ z) {
#line 5 "addresses.prism"
    int thread = threadIdx.x; int block = blockIdx.x;
#line 7 "addresses.prism"
    int row = block / 4 * 8;
#line 12 "addresses.prism"
    if (thread == 0) {
        y[(unsigned int)block] = x[(unsigned int)block];
    }
#line 14 "addresses.prism"
    long long v = thread / 16; long long v_1 = thread % 16;
#line 16 "addresses.prism"
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        sum += x[(row + v) * n + k] * x[block + v_1];
    }
#line 8 "addresses.prism"
    long long tile_offset = (long long)row * n + block;
#line 14 "addresses.prism"
    long long c_offset = tile_offset + (v * n + v_1);
#line 19 "addresses.prism"
    z[c_offset] = sum;
}

// A matrix of 16 x 16 transposed through a tile with padded rows; the faulty form forgets the pad.
#ifdef FAULT
#define PITCH 16
#else
#define PITCH 17
#endif
extern "C" __global__ void transpose16(const float* in, float* out) {
    __shared__ float tile[16 * 17];
    int r = threadIdx.x / 16, c = threadIdx.x % 16;
    tile[r * PITCH + c] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[c * PITCH + r];
}

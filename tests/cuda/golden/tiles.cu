// CUDA C++ that prismc generated for sm_80; it needs no header.

#line 4 "tiles.prism"
__device__ __forceinline__ float rotated(
    int thread,
    float x,
    float *scratch,
    long long scratch_offset) {
#line 6 "tiles.prism"
    long long own_offset = scratch_offset + thread;
    scratch[own_offset] = x;
    __syncwarp(0xffu << (threadIdx.x & 24));
#line 8 "tiles.prism"
    float r = scratch[scratch_offset + (thread + 1) % 8];
    return r;
}

#line 13 "tiles.prism"
extern "C" __global__ void __launch_bounds__(64, 4) rotate_all(
    const float *__restrict__ X,
    float *__restrict__ Y,
    int n) {
    __shared__ __align__(16) unsigned char smem[512];
#line 13 "tiles.prism"
    int thread = threadIdx.x; int block = blockIdx.x;
#line 15 "tiles.prism"
    long long tile_offset = (long long)block * 64;
#line 17 "tiles.prism"
    float *small = (float *)smem;
    float *all = (float *)(smem + 256);
#line 21 "tiles.prism"
    int part_offset = (int)(thread / 8u) * 8;
#line 23 "tiles.prism"
    int v = block * 64 + thread;
#line 23 "tiles.prism"
    float v_1 = rotated(thread % 8u, v < n ? X[v] : 0.0f, small, part_offset);
#line 25 "tiles.prism"
    all[thread] = v_1;
    long long out_offset = tile_offset + thread;
    __syncthreads();
#line 27 "tiles.prism"
    Y[out_offset] = all[63 - thread];
}

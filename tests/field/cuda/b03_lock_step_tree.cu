// The sum of 32 numbers in shared memory, by one warp.
extern "C" __global__ void warp_tree(const int* in, int* out) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = in[lane];
#ifndef FAULT
    __syncwarp();
#endif
    for (int d = 16; d > 0; d /= 2) {
        if (lane < d) s[lane] += s[lane + d];
#ifndef FAULT
        __syncwarp();
#endif
    }
    if (lane == 0) out[0] = s[0];
}

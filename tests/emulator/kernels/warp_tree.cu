// Tree sum of one warp in shared memory, a warp barrier between the steps.
extern "C" __global__ void warp_tree(const int* in, int* out) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = in[blockIdx.x * 32 + lane];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        if (lane < d) s[lane] += s[lane + d];
        __syncwarp();
    }
    if (lane == 0) out[blockIdx.x] = s[0];
}

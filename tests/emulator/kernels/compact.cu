// Keeps the positive numbers of each warp in order: votes, population counts, one atomic a warp.
extern "C" __global__ void compact(const int* in, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int x = i < n ? in[i] : 0;
    unsigned kept = __ballot_sync(0xffffffffu, x > 0);
    int base = 0;
    if (lane == 0 && kept) base = atomicAdd(count, __popc(kept));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (x > 0) out[base + __popc(kept & ((1u << lane) - 1))] = x;
}

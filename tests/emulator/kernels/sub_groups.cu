// Sums of groups of eight lanes, each with a mask of its own, then a match of equal sums.
extern "C" __global__ void sub_groups(const int* in, int* sums, unsigned* equal) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned mask = 0xffu << (lane / 8 * 8);
    int v = in[t];
    for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d);
    if (lane % 8 == 0) sums[t / 8] = v;
    equal[t] = __match_any_sync(0xffffffffu, v);
}

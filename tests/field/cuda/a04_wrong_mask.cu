// Sums of the four groups of eight lanes.
extern "C" __global__ void sub_sum(const int* in, int* out) {
    int lane = threadIdx.x;
#ifdef FAULT
    unsigned mask = 0xffu << lane % 4 * 8;
#else
    unsigned mask = 0xffu << lane / 8 * 8;
#endif
    int v = in[lane];
    for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d);
    if (lane % 8 == 0) out[lane / 8] = v;
}

// How many of n elements are above a threshold.
extern "C" __global__ void count_gt(const int* in, int n, int threshold, int* out) {
    int lane = threadIdx.x, count = 0;
#ifdef FAULT
    for (int i = lane; i < n; i += 32)
        count += __popc(__ballot_sync(__activemask(), in[i] > threshold));
#else
    for (int base = 0; base < n; base += 32) {
        int i = base + lane;
        count += __popc(__ballot_sync(0xffffffffu, i < n && in[i] > threshold));
    }
#endif
    if (lane == 0) out[0] = count;
}

// Every `stride`-th element from `first` on of an array of almost 2^31 bytes. The faulty counter
// wraps and would never end: the first element that it should not reach is enough here.
extern "C" __global__ void mark(unsigned char* out, int n, int first, int stride) {
#ifdef FAULT
    for (int i = first; i < n; i = (int)((unsigned)i + (unsigned)stride)) {
        out[i] = 1;
        if (i < first) break;
    }
#else
    for (long long i = first; i < n; i += stride) out[i] = 1;
#endif
}

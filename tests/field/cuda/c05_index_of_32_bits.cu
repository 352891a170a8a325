// One element of a matrix of more than 2^31 bytes.
extern "C" __global__ void gather(const unsigned char* in, int row, int cols, unsigned char* out) {
#ifdef FAULT
    int at = (int)((unsigned)row * (unsigned)cols);
#else
    long long at = (long long)row * cols;
#endif
    out[0] = in[at];
}

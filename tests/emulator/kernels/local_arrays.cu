// A small heap in each thread's local memory, indexed by values that the compiler cannot know.
extern "C" __global__ void local_arrays(const int* in, int* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, heap[8], size = 0;
    for (int k = 0; k < 8; ++k) {
        int i = size++, v = in[t * 8 + k];
        while (i > 0 && heap[(i - 1) / 2] < v) { heap[i] = heap[(i - 1) / 2]; i = (i - 1) / 2; }
        heap[i] = v;
    }
    out[t] = heap[0] * 1000 + heap[in[t * 8] & 7];
}

// A barrier of all blocks between two phases: right while all of them run at the same time.
extern "C" __global__ void two_phase(int* a, unsigned* arrived, int* out) {
    unsigned blocks = gridDim.x, b = blockIdx.x;
    if (threadIdx.x == 0) {
        a[b] = b;
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned*)arrived < blocks) {}
        __threadfence();
        out[b] = a[(b + 1) % blocks];
    }
}

// A counter that is not atomic behind a lock that every warp takes.
extern "C" __global__ void spin_lock(int* lock, int* counter, int* order) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(lock, 0, 1) != 0) { }
        __threadfence();
        int at = *counter;
        order[at] = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        *counter = at + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

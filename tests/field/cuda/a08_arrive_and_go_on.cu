// Warp 1 computes a tile where there is work; warp 0 waits for each tile.
__device__ __forceinline__ void sync() { asm volatile("barrier.sync 2, 64;" ::: "memory"); }
__device__ __forceinline__ void arrive() { asm volatile("barrier.arrive 2, 64;" ::: "memory"); }
extern "C" __global__ void tiles(const int* work, int* out, int count) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < count; ++k) {
        if (warp == 1) {
            if (work[k] == 0) {
#ifdef FAULT
                arrive();
#else
                sync();
#endif
                continue;
            }
            if (lane == 0) out[k] = work[k] + 1;
            sync();
        } else {
            sync();
        }
    }
}

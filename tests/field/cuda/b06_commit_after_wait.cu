// Sums of tiles through three buffers, copied two tiles ahead.
__device__ __forceinline__ void copy(int* to, const int* from) {
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(address), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ __forceinline__ void wait_all_but_one() {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}
extern "C" __global__ void sums(const int* in, int* out, int tiles) {
    __shared__ int ring[3][32];
    int lane = threadIdx.x;
    for (int i = 0; i < 2; ++i) {
        copy(&ring[i][lane], in + i * 32 + lane);
        commit();
    }
    wait_all_but_one();
    for (int i = 0; i < tiles; ++i) {
        if (i + 2 < tiles) copy(&ring[(i + 2) % 3][lane], in + (i + 2) * 32 + lane);
#ifndef FAULT
        commit();
#endif
        __syncwarp();
        int sum = ring[i % 3][lane];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0) out[i] = sum;
        wait_all_but_one();
#ifdef FAULT
        commit();
#endif
    }
}

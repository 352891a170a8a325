// Sums of tiles through a ring of four shared buffers, filled by cp.async two tiles ahead.
__device__ __forceinline__ void copy16(void* shared, const void* global) {
    unsigned address = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(address), "l"(global)
                 : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}
extern "C" __global__ void copy_pipeline(const float* in, float* out, int tiles) {
    __shared__ __align__(16) float ring[4][256];
    int t = threadIdx.x;
    in += blockIdx.x * tiles * 256;
    out += blockIdx.x * tiles * 64;
    for (int i = 0; i < 2; ++i) {
        if (i < tiles) copy16(&ring[i][t * 4], in + i * 256 + t * 4);
        commit();
    }
    for (int i = 0; i < tiles; ++i) {
        if (i + 2 < tiles) copy16(&ring[(i + 2) % 4][t * 4], in + (i + 2) * 256 + t * 4);
        commit();
        wait<2>();
        __syncthreads();
        float sum = 0.0f;
        for (int j = 0; j < 4; ++j) sum += ring[i % 4][(t + j * 64) % 256];
        out[i * 64 + t] = sum;
    }
}

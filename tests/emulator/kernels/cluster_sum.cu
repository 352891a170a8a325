// Sum over clusters of four blocks: every block stores its sum into the first block's memory.
__device__ __forceinline__ void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int* in, int* out) {
    __shared__ int s[64];
    __shared__ int sums[4];
    int t = threadIdx.x;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    cluster_arrive();
    cluster_wait();
    if (t == 0) {
        unsigned own = (unsigned)__cvta_generic_to_shared(&sums[rank]), first;
        asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(first) : "r"(own));
        asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(first), "r"(s[0]) : "memory");
    }
    cluster_arrive();
    cluster_wait();
    if (rank == 0 && t == 0) out[blockIdx.x / 4] = sums[0] + sums[1] + sums[2] + sums[3];
}

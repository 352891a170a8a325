// Two blocks share a tile that one of them loads for both; each adds its own number to it.
#include "hopper.h"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64)
cluster_multicast(const float* in, float* out) {
    __shared__ __align__(128) float tile[256];
    __shared__ unsigned long long full;
    int t = threadIdx.x, rank = blockIdx.x % 2;
    if (t == 0) {
        init(&full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect(&full, 1024);
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (t == 0 && rank == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1], 1024, [%2], %3;"
                     :: "r"(shared(tile)), "l"(in + blockIdx.x / 2 * 256), "r"(shared(&full)),
                        "h"((short)3) : "memory");
    wait(&full, 0);
    for (int i = t; i < 256; i += 64) out[blockIdx.x * 256 + i] = tile[i] + blockIdx.x;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// y = 2 x, tile by tile: bulk loads two slots ahead, bulk stores from a third buffer.
#include "hopper.h"
extern "C" __global__ void __launch_bounds__(128) bulk_pipeline(const float* x, float* y, int tiles) {
    __shared__ __align__(128) float in[2][512];
    __shared__ __align__(128) float result[512];
    __shared__ unsigned long long full[2], empty[2];
    int t = threadIdx.x;
    x += blockIdx.x * tiles * 512;
    y += blockIdx.x * tiles * 512;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 96); }
        proxy_fence();
    }
    __syncthreads();
    if (t >= 96) {
        if (t == 96)
            for (int i = 0; i < tiles; ++i) {
                wait(&empty[i % 2], (i / 2 % 2) ^ 1);
                expect(&full[i % 2], 2048);
                bulk_load(in[i % 2], x + i * 512, 2048, &full[i % 2]);
            }
    } else {
        for (int i = 0; i < tiles; ++i) {
            wait(&full[i % 2], i / 2 % 2);
            float part[6];
            for (int j = 0; j < 6; ++j) part[j] = t + j * 96 < 512 ? in[i % 2][t + j * 96] : 0;
            proxy_fence();
            arrive(&empty[i % 2]);
            for (int j = 0; j < 6; ++j) if (t + j * 96 < 512) result[t + j * 96] = 2 * part[j];
            proxy_fence();
            asm volatile("bar.sync 1, 96;" ::: "memory");
            if (t == 0) {
                bulk_store(y + i * 512, result, 2048);
                bulk_commit();
                bulk_wait_read<0>();
            }
            asm volatile("bar.sync 1, 96;" ::: "memory");
        }
    }
}

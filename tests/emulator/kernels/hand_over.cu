// One warp fills a ring of two slots, three warps empty it: named barriers, arrive against sync.
#define SYNC(id) asm volatile("bar.sync %0, 128;" :: "r"(id) : "memory")
#define ARRIVE(id) asm volatile("bar.arrive %0, 128;" :: "r"(id) : "memory")
extern "C" __global__ void hand_over(const int* in, int* out, int tiles) {
    __shared__ int ring[2][96];
    int t = threadIdx.x;
    if (t < 32) {
        for (int i = 0; i < tiles; ++i) {
            if (i >= 2) SYNC(3 + i % 2);
            for (int j = 0; j < 3; ++j) ring[i % 2][t + j * 32] = in[i * 96 + t + j * 32];
            ARRIVE(1 + i % 2);
        }
    } else {
        for (int i = 0; i < tiles; ++i) {
            SYNC(1 + i % 2);
            out[i * 96 + t - 32] = ring[i % 2][95 - (t - 32)];
            if (i + 2 < tiles) ARRIVE(3 + i % 2);
        }
    }
}

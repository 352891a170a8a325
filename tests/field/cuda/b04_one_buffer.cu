// Running sums of tiles. SLOTS = 2 is right with a single barrier a tile.
#ifndef SLOTS
#define SLOTS 1
#endif
extern "C" __global__ void scan_step(const int* in, int* out, int tiles) {
    __shared__ int tile[SLOTS][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < tiles; ++i) {
        tile[i % SLOTS][t] = in[i * 64 + t];
        __syncthreads();
        for (int j = 0; j < 64; ++j) sum += tile[i % SLOTS][j];
        out[i * 64 + t] = sum;
#if SLOTS == 1 && !defined(FAULT)
        __syncthreads();
#endif
    }
}

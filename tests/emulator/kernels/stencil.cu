// Seven-point stencil on a 3-D grid, the block's tile and its halo in shared memory.
extern "C" __global__ void stencil(const float* in, float* out, int nx, int ny, int nz) {
    __shared__ float tile[6][6][10];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    int z = blockIdx.z * 4 + threadIdx.z;
    int t = threadIdx.x + 8 * (threadIdx.y + 4 * threadIdx.z);
    for (int e = t; e < 6 * 6 * 10; e += 128) {
        int ex = e % 10, ey = e / 10 % 6, ez = e / 60;
        int gx = blockIdx.x * 8 + ex - 1, gy = blockIdx.y * 4 + ey - 1, gz = blockIdx.z * 4 + ez - 1;
        bool inside = gx >= 0 && gx < nx && gy >= 0 && gy < ny && gz >= 0 && gz < nz;
        tile[ez][ey][ex] = inside ? in[(gz * ny + gy) * nx + gx] : 0.0f;
    }
    __syncthreads();
    if (x < nx && y < ny && z < nz) {
        int i = threadIdx.x + 1, j = threadIdx.y + 1, k = threadIdx.z + 1;
        out[(z * ny + y) * nx + x] = tile[k][j][i] * 6.0f - tile[k - 1][j][i] - tile[k + 1][j][i] -
            tile[k][j - 1][i] - tile[k][j + 1][i] - tile[k][j][i - 1] - tile[k][j][i + 1];
    }
}

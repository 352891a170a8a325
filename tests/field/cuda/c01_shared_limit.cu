// Dynamic bytes beside a static variable; the sum must fit the GPU.
extern "C" __global__ void fill(int* out, int size) {
    extern __shared__ unsigned char bytes[];
    __shared__ int flag[4];
    if (threadIdx.x == 0) {
        bytes[size - 1] = 7;
        flag[3] = size;
    }
    __syncthreads();
    if (flag[3] == size && bytes[size - 1] == 7) out[threadIdx.x] = threadIdx.x;
}

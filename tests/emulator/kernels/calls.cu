// Device functions that are not inlined: with a pointer, recursive, and through a pointer.
typedef int (*operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ void split(int x, int* low, int* high) { *low = x % 10; *high = x / 10; }
extern "C" __global__ void calls(const int* in, int* out, int choice) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, low, high;
    operation chosen = in[i] % 2 ? plus : times;
    split(in[i], &low, &high);
    out[i] = chosen(low, high) + fibonacci(in[i] % 8) + choice;
}

// CUDA C++ that prismc generated for sm_80; it needs no header.

#line 5 "control.prism"
extern "C" __global__ void __launch_bounds__(64, 1) collatz(
    int start,
    int limit,
    int *__restrict__ Y,
    int *__restrict__ Z) {
#line 5 "control.prism"
    int thread = threadIdx.x; int block = blockIdx.x;
    int i = block * 64 + thread;
#line 9 "control.prism"
    int n = start + i;
    int previous = 0;
#line 13 "control.prism"
    int before = 0; int steps = 0;
#line 13 "control.prism"
    while (n != 1 && steps < limit) {
#line 15 "control.prism"
        int n_1;
#line 15 "control.prism"
        if (n % 2 == 0) {
            n_1 = n / 2;
        } else if (n > 1000000) {
            before = previous; previous = n; break;
        } else {
            n_1 = 3 * n + 1;
        }
#line 21 "control.prism"
        steps += 1;
#line 13 "control.prism"
        before = previous; previous = n; n = n_1;
    }
#line 23 "control.prism"
    int sum = 0;
    #pragma unroll
#line 23 "control.prism"
    for (int j = 0; j < 4; ++j) {
        if (j == 2 && n > 1) {
            continue;
        }
#line 26 "control.prism"
        sum += j < 2 ? previous : before;
    }
#line 27 "control.prism"
    Y[i] = steps;
    Z[i] = sum;
}

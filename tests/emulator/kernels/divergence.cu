// Loops whose length varies by lane, a switch, and early exits.
extern "C" __global__ void divergence(const unsigned* in, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = in[i], steps = 0;
    while (x != 1) {
        x = x % 2 ? 3 * x + 1 : x / 2;
        ++steps;
    }
    unsigned r;
    switch (in[i] % 7) {
        case 0: r = steps; break;
        case 1: r = steps * 3; break;
        case 2: r = steps ^ 0x55; break;
        case 3: r = steps + i; break;
        case 4: r = ~steps; break;
        case 5: r = steps << 4; break;
        default: r = 7;
    }
    out[i] = r;
}

// Runs the kernel `axpy` on 1000 numbers and compares with a loop.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "axpy.h"

static void check(prism_status status)
{
    if (status == PRISM_OK)
        return;
    fprintf(stderr, "{{NAME}}: %s\n", prism_message());
    exit(1);
}

int main(void)
{
    enum { N = 1000 };
    static float x[N], y[N], found[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    void *device_x, *device_y;
    check(prism_open(0));
    check(prism_allocate(sizeof x, &device_x));
    check(prism_allocate(sizeof y, &device_y));
    check(prism_upload(device_x, x, sizeof x));
    check(prism_upload(device_y, y, sizeof y));

    const unsigned blocks = (N + axpy_THREADS - 1) / axpy_THREADS;
    check(axpy_launch(prism_blocks(blocks), NULL, axpy_n(N), axpy_a(2.0f), axpy_x(device_x),
                      axpy_y(device_y)));

    check(prism_download(found, device_y, sizeof found));
    prism_free(device_x);
    prism_free(device_y);
    for (int i = 0; i < N; i++) {
        if (fabsf(found[i] - (2.0f * x[i] + y[i])) > 1e-3f) {
            fprintf(stderr, "{{NAME}}: element %d is %g\n", i, (double)found[i]);
            return 1;
        }
    }
    printf("{{NAME}}: %d elements agree\n", N);
    return 0;
}

/* The kernels against loops on the host, and what a launch refuses. */
#include <stdio.h>
#include <string.h>

#include "pictures.h"
#include "stretch.h"

enum { COUNT = 1000 };

static int failures;

#define EXPECT(condition)                                                                         \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            printf("%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, picture_error());  \
            failures++;                                                                           \
        }                                                                                         \
    } while (0)

static int clamped(int value)
{
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

static void computes(void)
{
    uint8_t pixels[COUNT], before[COUNT], over[COUNT];
    int i;
    for (i = 0; i < COUNT; i++) {
        pixels[i] = before[i] = (uint8_t)(i * 7);
        over[i] = (uint8_t)(i / 4);
    }
    EXPECT(picture_stretch(pixels, COUNT, 50, 200) == 0);
    for (i = 0; i < COUNT; i++)
        EXPECT(pixels[i] == clamped((before[i] - 50) * 255 / 150));
    memcpy(before, pixels, sizeof before);
    EXPECT(picture_blend(pixels, over, COUNT, 64) == 0);
    for (i = 0; i < COUNT; i++)
        EXPECT(pixels[i] == (over[i] * 64 + before[i] * 192) / 256);
}

static void refuses(void)
{
    uint8_t pixel = 0;
    prism_grid grid = {1, 128};
    EXPECT(picture_stretch(&pixel, 0, 0, 1) == -1);
    EXPECT(stretch_launch(grid, NULL, stretch_n(0), stretch_low(0), stretch_high(1),
                          stretch_x(NULL), stretch_y(NULL)) == PRISM_WRONG_BLOCK);
    EXPECT(strstr(prism_message(), "stretch has blocks of 256 threads, not of 128"));
}

int main(void)
{
    computes();
    refuses();
    printf(failures ? "%d failures\n" : "all is well\n", failures);
    return failures != 0;
}

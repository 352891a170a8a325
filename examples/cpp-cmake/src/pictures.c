#include "pictures.h"

#include "blend.h"
#include "stretch.h"

typedef struct Buffers {
    void *x, *y;
} Buffers;

/* Both pictures on the device. */
static prism_status open_buffers(
    Buffers *buffers, const uint8_t *x, const uint8_t *y, size_t count)
{
    prism_status status = prism_open(0);
    buffers->x = buffers->y = NULL;
    if (status == PRISM_OK)
        status = prism_allocate(count, &buffers->x);
    if (status == PRISM_OK)
        status = prism_allocate(count, &buffers->y);
    if (status == PRISM_OK)
        status = prism_upload(buffers->x, x, count);
    if (status == PRISM_OK)
        status = prism_upload(buffers->y, y, count);
    return status;
}

/* The result of a launch; 0 if all went well. */
static int close_buffers(Buffers *buffers, prism_status status, uint8_t *pixels, size_t count)
{
    if (status == PRISM_OK)
        status = prism_download(pixels, buffers->y, count);
    if (status == PRISM_OK)
        status = prism_free(buffers->x);
    if (status == PRISM_OK)
        status = prism_free(buffers->y);
    return status == PRISM_OK ? 0 : -1;
}

static prism_grid blocks_for(size_t count, unsigned threads)
{
    return prism_blocks((unsigned)((count + threads - 1) / threads));
}

int picture_stretch(uint8_t *pixels, size_t count, int low, int high)
{
    Buffers buffers;
    prism_status status = open_buffers(&buffers, pixels, pixels, count);
    if (status == PRISM_OK)
        status = stretch_launch(
            blocks_for(count, stretch_THREADS), NULL, stretch_n((int)count), stretch_low(low),
            stretch_high(high), stretch_x(buffers.x), stretch_y(buffers.y));
    return close_buffers(&buffers, status, pixels, count);
}

int picture_blend(uint8_t *pixels, const uint8_t *over, size_t count, int opacity)
{
    Buffers buffers;
    prism_status status = open_buffers(&buffers, over, pixels, count);
    if (status == PRISM_OK)
        status = blend_launch(
            blocks_for(count, blend_THREADS), NULL, blend_n((int)count), blend_opacity(opacity),
            blend_x(buffers.x), blend_y(buffers.y));
    return close_buffers(&buffers, status, pixels, count);
}

const char *picture_error(void)
{
    return prism_message();
}

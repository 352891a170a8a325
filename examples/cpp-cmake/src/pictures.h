/* Pictures of grey pixels, one byte each. */
#ifndef PICTURES_H
#define PICTURES_H

#include <stddef.h>
#include <stdint.h>

/* Makes `low` black and `high` white. Returns 0, or else -1: `picture_error` says why. */
int picture_stretch(uint8_t *pixels, size_t count, int low, int high);

/* Lays `over` over `pixels`; `opacity` is from 0 to 256. Returns as `picture_stretch` does. */
int picture_blend(uint8_t *pixels, const uint8_t *over, size_t count, int opacity);

const char *picture_error(void);

#endif

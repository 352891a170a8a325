/* This must not compile: `low` and `high` are both of type int, and stand in each other's place. */
#include "stretch.h"

prism_status swapped(const uint8_t *x, uint8_t *y)
{
    return stretch_launch(prism_blocks(1), NULL, stretch_n(256), stretch_high(200), stretch_low(50),
                          stretch_x(x), stretch_y(y));
}

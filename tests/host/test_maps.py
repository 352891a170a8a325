"""Tensor maps from C++: the kernel's box, extents and strides in the order of an array of C."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.support import build_text, execute, program

KERNEL = """\
from std.copy import tma_load

@requires(grid[1], block[1], thread[32])
kernel k(X: tensor_map(i32[4, 8]), y: ptr(i32), row: int, col: int):
    partition y as yb @ block[1]:
        group block[1]:
            shared s: i32[32] align 128
            claim s as async a @ thread[1]:
                first thread[1]:
                    tma_load(a, X, col, row)
            t: int @ thread[1] = id()
            partition yb as out @ thread[1] at t:
                out[0] = s[t]
"""
MAIN = """\
#include <cstdio>
#include <cstdlib>
#include "k.h"

static void need(prism_status status)
{
    if (status) {
        std::printf("%%d: %%s\\n", status, prism_message());
        std::exit(1);
    }
}

int main()
{
    int x[10 * 16], y[32];
    for (int i = 0; i < 160; i++)
        x[i] = i;
    void *dx, *dy;
    need(prism_open(0));
    need(prism_allocate(sizeof x, &dx));
    need(prism_allocate(sizeof y, &dy));
    need(prism_upload(dx, x, sizeof x));
    prism_tensor_map map;
    const uint64_t extents[] = {%s}, strides[] = {64};
    (void)strides;
    need(k_X_map(&map, static_cast<const int32_t *>(dx) + %d, extents, %s));
    need(k_launch(1, nullptr, k_X(&map), k_y(static_cast<int32_t *>(dy)), k_row(2), k_col(8)));
    need(prism_download(y, dy, sizeof y));
    for (int i = 0; i < 32; i += 8)
        std::printf("%%d %%d\\n", y[i], y[i + 7]);
}
"""


@pytest.mark.parametrize(
    ("extents", "start", "strides", "words"),
    [
        ("10, 16", 0, "nullptr", "40 47\n56 63\n72 79\n88 95\n"),
        ("10, 12", 0, "strides", "40 0\n56 0\n72 0\n88 0\n"),  # only 4 columns are left
        ("4, 16", 32, "nullptr", "72 79\n88 95\n0 0\n0 0\n"),
        ("10, 16", 1, "nullptr", "10: k_X: invalid argument (CUDA error 1)\n"),
    ],
)
def test_what_a_copy_moves(
    driver: Path, tmp_path: Path, extents: str, start: int, strides: str, words: str
) -> None:
    build_text(KERNEL, tmp_path, targets=("sm_90",))
    host = program(tmp_path, MAIN % (extents, start, strides))
    done = execute(host, driver, PRISM_CPU_DEVICE="sm_90")
    assert done.stdout == words, done.stderr
    if start % 4:
        assert "the array's address is no multiple of 16" in done.stderr

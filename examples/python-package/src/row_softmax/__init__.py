"""Softmax of the rows of a matrix, on whatever device it is."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import prismc

__all__ = ["softmax"]

KERNELS = Path(__file__).with_name("kernels.prism")


@cache
def _program(threads: int) -> Any:
    return prismc.load(str(KERNELS), defines={"THREADS": threads})


def softmax(x: Any, out: Any) -> None:
    """Writes the softmax of each row of `x` to `out`: two matrices of float32 of one shape."""
    if x.ndim != 2 or x.shape != out.shape:
        raise ValueError(f"x has the shape {tuple(x.shape)}, out has {tuple(out.shape)}")
    rows, cols = x.shape
    if rows and cols:
        threads = 32 if cols <= 128 else 256
        _program(threads).softmax_rows[rows](cols, x, out)

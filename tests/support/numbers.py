"""Numbers that tests give kernels."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt


def random_for(name: str) -> np.random.Generator:
    """Random numbers that are the same ones in each run, and others for each name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def bf16_bits(values: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """The bits of numbers that bf16 holds exactly."""
    single = np.ascontiguousarray(values, np.float32)
    return (single.view(np.uint32) >> np.uint32(16)).astype(np.uint16)

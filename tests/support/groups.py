"""The groups of threads, lengths and schedules that collectives of the standard library are tried
with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from prismc.emulator.schedule import adversaries

DTYPES: dict[str, type[np.generic]] = {
    "u8": np.uint8, "i16": np.int16, "i32": np.int32, "u32": np.uint32, "i64": np.int64,
    "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
PLANS = adversaries(4)
QUICK = 3
LENGTHS = 24


class Group(NamedTuple):
    """A perspective, its number of threads, and the threads of the block."""

    perspective: str
    size: int
    threads: int

    def count(self, blocks: int) -> int:
        """How many such groups `blocks` blocks have."""
        return blocks * self.threads // self.size


GROUPS = (
    Group("block[1]", 128, 128),
    Group("thread[96]", 96, 192),
    Group("thread[32]", 32, 64),
    Group("thread[8]", 8, 32),
    Group("thread[1]", 1, 32),
)


def some(group: Group) -> str:
    """A group's name in the list of tests."""
    return f"{group.perspective} of {group.threads}"


def nightly(*values: Any, quick: bool) -> Any:
    """Values of one test, which is left out of a quick run unless it is `quick`."""
    return pytest.param(*values, marks=() if quick else pytest.mark.nightly)


def trials(most: int, least: int = 0) -> list[Any]:
    """Lengths from `least` to `most`, each with the schedules to try it under: the first few with
    one each, the others, for nightly runs, with all."""
    drawn = np.random.default_rng(most).integers(least, most + 1, LENGTHS)
    drawn[:QUICK] = (most - 1, least, drawn[QUICK])
    drawn[QUICK] = most
    return [
        nightly(int(length), (PLANS[index + 1],) if index < QUICK else PLANS, quick=index < QUICK)
        for index, length in enumerate(drawn)
    ]


def draws() -> list[Any]:
    """Seeds of random launches: a few, and more for nightly runs."""
    return [nightly(seed, quick=seed < QUICK) for seed in range(LENGTHS)]


def numbers(t: str, count: int, seed: int, low: int = -50, high: int = 50) -> np.ndarray[Any, Any]:
    """Whole numbers from `low` to `high` (from 0 on without a sign), which floats hold exactly."""
    low = max(low, 0) if t.startswith("u") else low
    return np.random.default_rng(seed).integers(low, high + 1, count).astype(DTYPES[t])

"""std.block on the PTX machine, against NumPy: every size of group, types, operators, schedules."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import Plan, adversaries
from support.running import Array, Compiled, compile_texts

PLANS = adversaries(6)
DTYPES = {"i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64, "u8": np.uint8}

# `part` of one call is written again by the next, and by the next iteration.
FOLDS = """
from std.block import exclusive_scan, exclusive_scan_by, inclusive_scan, inclusive_scan_by, reduce
from std.block import sum

def least[T: type](a: T, b: T) -> T:
    return min(a, b)

def later[T: type](left: T, right: T) -> T:
    return right

@requires(P, thread[32])
def all_of_them[P: perspective](v: {t} @ thread[1], y: ptr({t}) @ thread[1]):
    least_of_all: {t} @ P = reduce[Op = least](v)
    total: {t} @ P = sum(v)
    y[0] = least_of_all
    y[1] = total
    y[2] = inclusive_scan(v)
    last, last_of_all := inclusive_scan_by[Op = later](v)
    y[3] = last
    y[4] = last_of_all
    before, all := exclusive_scan(v)
    y[5] = before
    y[6] = all
    least_before, still_least := exclusive_scan_by[Op = least](v, 99)
    y[7] = least_before
    y[8] = still_least
    running: {t} @ P = 0
    for k in range(3):
        running = running + sum(v + {t}(k))
    y[9] = running

@requires(grid[1], block[1], thread[{threads}])
@launch(threads = {threads})
kernel k(X: ptr(const {t}), Y: ptr({t})):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i * 10:
        group {group}:
            all_of_them(X[i], y)
"""


@cache
def folds(t: str, group: str, threads: int) -> Compiled:
    text = FOLDS.format(t=t, group=group, threads=threads)
    return compile_texts({"k.prism": text}, "k.prism")


def each(groups: Array, values: Array) -> Array:
    """One value a group, for each of its threads."""
    return np.repeat(values, groups.shape[1]).astype(groups.dtype)


def expected_folds(x: Array, n: int) -> Array:
    groups = x.reshape(-1, n)
    sums = np.cumsum(groups, axis=1, dtype=x.dtype)
    least = np.minimum.accumulate(groups, axis=1)
    first = np.full((len(groups), 1), 99, x.dtype)
    running = sum((groups + x.dtype.type(k)).sum(axis=1, dtype=x.dtype) for k in range(3))
    columns = [
        each(groups, groups.min(axis=1)),
        each(groups, sums[:, -1]),
        sums.ravel(),
        x,
        each(groups, groups[:, -1]),
        (sums - groups).ravel(),
        each(groups, sums[:, -1]),
        np.hstack([first, least[:, :-1]]).ravel(),
        each(groups, least[:, -1]),
        each(groups, np.asarray(running)),
    ]
    return np.stack(columns, axis=1)


GROUPS = [
    *((f"thread[{n}]", n, 128) for n in (1, 4, 32, 64)),
    ("thread[160]", 160, 320),
    ("thread[512]", 512, 1024),
    *(("block[1]", n, n) for n in (32, 256, 1024)),
]


@pytest.mark.parametrize(("group", "n", "threads"), GROUPS, ids=lambda value: str(value))
def test_folds_of_groups(group: str, n: int, threads: int) -> None:
    run("i32", group, n, threads, PLANS[n % len(PLANS)])


@pytest.mark.parametrize("t", DTYPES)
def test_folds_of_types(t: str) -> None:
    for plan in PLANS:
        run(t, "thread[64]", 64, 256, plan)


def run(t: str, group: str, n: int, threads: int, plan: Plan) -> None:
    program, blocks = folds(t, group, threads), 2
    x = np.random.default_rng(n).integers(0, 90, threads * blocks).astype(DTYPES[t])
    given = {"X": x, "Y": np.zeros(x.size * 10, x.dtype)}
    found = program.run(blocks, given, plan=plan)["Y"].reshape(-1, 10)
    assert np.array_equal(found, expected_folds(x, n))

"""Tiles by cp.async: whole and guarded ones, padded rows, loops, groups of threads."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import DTYPES, PLANS, Group, draws, trials
from support.running import Array, Compiled, compile_texts

TEXT = """
from std.copy import load_tile_async, load_tile_async_guarded

@requires(P, thread[1])
def show[P: perspective, T: type](y: ptr(T), tile: ptr(const T)):
    t: int @ thread[1] = id()
    const ALL: int = {tile.rows} * {tile.columns}
    partition y as own @ thread[1] at t:
        group thread[1]:
            for i in range(t, ALL, {group.size}):
                own[i - t] = tile[i / {tile.columns} * {tile.pitch} + i % {tile.columns}]

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
@assume(aligned(X, 16), stride % {width} == 0)
kernel k(X: ptr(const {tile.t}), stride: int, rows: int, columns: int, times: int,
        Y: ptr({tile.t}), Z: ptr({tile.t})):
    g: int @ {group.perspective} = id({group.perspective})
    const ALL: int = {tile.rows} * {tile.columns}
    partition Y as y @ {group.perspective} at g * ALL, Z as z @ {group.perspective} at g * ALL:
        group {group.perspective}:
            shared S: {tile.t}[{tile.rows} * {tile.pitch}]
            for time in range(times):
                async S as s:
                    load_tile_async[{tile.rows}, {tile.columns}, {tile.pitch}](s, X, stride)
                show(y, S)
            async S as s:
                load_tile_async_guarded[{tile.rows}, {tile.columns}, {tile.pitch}](
                    s, X, stride, rows, columns)
            show(z, S)
"""


class Tile(NamedTuple):
    t: str
    rows: int
    columns: int
    pitch: int


WIDE = (Tile("f32", 20, 32, 36), Group("block[1]", 96, 96))
OTHERS = (
    (Tile("f16", 8, 64, 64), Group("thread[32]", 32, 64)),
    (Tile("i32", 16, 16, 20), Group("thread[64]", 64, 128)),
    (Tile("f64", 5, 8, 8), Group("thread[8]", 8, 32)),
)


@cache
def compiled(tile: Tile, group: Group) -> Compiled:
    width = 16 // DTYPES[tile.t]().itemsize
    return compile_texts({"k.prism": TEXT.format(tile=tile, group=group, width=width)}, "k.prism")


def check(tile: Tile, group: Group, rows: int, columns: int, plan: Plan) -> None:
    """The memory behind the tile ends where the tile does."""
    stride = tile.columns + 16 * (rows % 2)
    x = np.random.default_rng(stride).integers(0, 100, (tile.rows, stride)).astype(DTYPES[tile.t])
    groups = group.count(2)
    given = {"stride": stride, "rows": rows, "columns": columns, "times": 2}
    empty = {name: np.zeros(groups * tile.rows * tile.columns, x.dtype) for name in "YZ"}
    found = compiled(tile, group).run(2, {"X": x.ravel(), **given, **empty}, plan=plan)
    whole = x[:, : tile.columns]
    inside: Array = (np.arange(tile.rows)[:, None] < rows) & (np.arange(tile.columns) < columns)
    for name, expected in (("Y", whole), ("Z", np.where(inside, whole, 0))):
        assert (found[name].reshape(groups, *whole.shape) == expected).all(), name


@pytest.mark.parametrize(("n", "plans"), trials(20 * 32))
def test_ragged_tiles(n: int, plans: tuple[Plan, ...]) -> None:
    for plan in plans:
        check(*WIDE, rows=n % 23 - 1, columns=n % 35 - 1, plan=plan)


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize(("tile", "group"), OTHERS, ids=lambda value: "-".join(map(str, value)))
def test_types_and_groups(tile: Tile, group: Group, seed: int) -> None:
    rows, columns = np.random.default_rng(seed).integers(-1, (tile.rows + 2, tile.columns + 2))
    for plan in PLANS:
        check(tile, group, int(rows), int(columns), plan)

"""std.runs against NumPy: where neighbours differ, by how much, and runs by their lengths."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import GROUPS, PLANS, Group, nightly, numbers, some, trials
from support.running import Compiled, compile_texts

N = 3
BLOCKS = 2
NEIGHBOURS = """
from std.block import load_blocked_guarded, store_blocked, store_blocked_guarded
from std.runs import adjacent_difference, adjacent_difference_after, adjacent_difference_before
from std.runs import adjacent_difference_right, flag_heads, flag_heads_after, flag_tails
from std.runs import flag_tails_before

def differ[T: type](a: T, b: T) -> bool:
    return a != b

def minus[T: type](a: T, b: T) -> T:
    return a - b

@requires(P, thread[1])
def kept[P: perspective, N: int](
        places: ptr(i32), row: int, flags: const bool[N] @ thread[1],
        items: const i32[N] @ thread[1]):
    numbers: i32[N] @ thread[1]
    static for i in range(N):
        numbers[i] = 1000 * i32(flags[i]) + items[i]
    partition places as one @ P at row * N * count(thread[1]):
        store_blocked(one, numbers)

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(n: int, X: ptr(const i32), Y: ptr(i32)):
    g: int @ {group.perspective} = id({group.perspective})
    const SIZE: int = {N} * {group.size}
    partition X as x @ {group.perspective} at g * n, Y as y @ {group.perspective} at g * 4 * SIZE:
        group {group.perspective}:
            items: i32[{N}] @ thread[1]
            flags: bool[{N}] @ thread[1]
            load_blocked_guarded(x, n, 7, items)
            flag_heads[Differ = differ](items, flags)
            adjacent_difference[Op = minus](items)
            kept(y, 0, flags, items)
            load_blocked_guarded(x, n, 7, items)
            flag_heads_after[Differ = differ](items, 2, flags)
            adjacent_difference_after[Op = minus](items, 2)
            kept(y, 1, flags, items)
            load_blocked_guarded(x, n, 7, items)
            flag_tails[Differ = differ](items, flags)
            adjacent_difference_right[Op = minus](items)
            kept(y, 2, flags, items)
            load_blocked_guarded(x, n, 7, items)
            flag_tails_before[Differ = differ](items, 3, flags)
            adjacent_difference_before[Op = minus](items, 3)
            kept(y, 3, flags, items)
"""


@cache
def neighbours(group: Group) -> Compiled:
    return compile_texts({"k.prism": NEIGHBOURS.format(group=group, N=N)}, "k.prism")


def check_neighbours(group: Group, n: int, plans: tuple[Plan, ...]) -> None:
    groups = group.count(BLOCKS)
    x = numbers("i32", groups * n, seed=n, low=1, high=3)
    rows = np.full((groups, group.size * N), 7, np.int32)
    rows[:, :n] = x.reshape(groups, n)
    column = np.zeros((groups, 1), np.int32)
    left, right = (
        np.hstack([column + 2, rows[:, :-1]]), np.hstack([rows[:, 1:], column + 3])
    )  # fmt: skip
    first, last = (np.arange(rows.shape[1]) == end for end in (0, rows.shape[1] - 1))
    expected = [
        1000 * (first | (rows != left)) + np.where(first, rows, rows - left),
        1000 * (rows != left) + rows - left,
        1000 * (last | (rows != right)) + np.where(last, rows, rows - right),
        1000 * (rows != right) + rows - right,
    ]
    for plan in plans:
        given = {"n": n, "X": x, "Y": np.zeros(4 * rows.size, np.int32)}
        found = neighbours(group).run(BLOCKS, given, plan=plan)["Y"].reshape(groups, 4, -1)
        assert np.array_equal(found, np.stack(expected, axis=1))


@pytest.mark.parametrize(("n", "plans"), trials(128 * N))
def test_neighbours(n: int, plans: tuple[Plan, ...]) -> None:
    check_neighbours(GROUPS[0], n, plans)


@pytest.mark.parametrize("group", [nightly(g, quick=g.size == 8) for g in GROUPS[1:]], ids=some)
def test_neighbours_in_groups(group: Group) -> None:
    check_neighbours(group, group.size * N, PLANS[1:2])


DECODE = """
from std.block import load_blocked_guarded
from std.runs import run_length_decode

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(n: int, room: int, X: ptr(const i32), L: ptr(const int), Y: ptr(i32), S: ptr(int)):
    g: int @ {group.perspective} = id({group.perspective})
    partition X as x @ {group.perspective} at g * n, L as l @ {group.perspective} at g * n:
        partition Y as y @ {group.perspective} at g * room, S as s @ {group.perspective} at g:
            group {group.perspective}:
                items: i32[{N}] @ thread[1]
                lengths: int[{N}] @ thread[1]
                load_blocked_guarded(x, n, 0, items)
                load_blocked_guarded(l, n, 0, lengths)
                all: int = run_length_decode[2](items, lengths, y)
                claim s as one @ thread[1]:
                    first thread[1]:
                        one[0] = all
"""


@cache
def decoder(group: Group) -> Compiled:
    return compile_texts({"k.prism": DECODE.format(group=group, N=N)}, "k.prism")


def check_decoder(group: Group, n: int, longest: int, plans: tuple[Plan, ...]) -> None:
    groups = group.count(BLOCKS)
    x = numbers("i32", groups * n, seed=n).reshape(groups, n)
    lengths = numbers("i32", groups * n, seed=n + 1, low=-2, high=longest).clip(0)
    lengths = lengths.reshape(groups, n)
    room = int(lengths.sum(axis=1).max(initial=0)) + 1
    expected = np.zeros((groups, room), np.int32)
    for group_of, (row, counts) in enumerate(zip(x, lengths, strict=True)):
        expected[group_of, : counts.sum()] = np.repeat(row, counts)
    for plan in plans:
        given = {"n": n, "room": room, "X": x.ravel(), "L": lengths.ravel()}
        empty = {"Y": np.zeros(expected.size, np.int32), "S": np.zeros(groups, np.int32)}
        found = decoder(group).run(BLOCKS, {**given, **empty}, plan=plan)
        assert np.array_equal(found["Y"].reshape(expected.shape), expected)
        assert np.array_equal(found["S"], lengths.sum(axis=1))


@pytest.mark.parametrize(("n", "plans"), trials(128 * N))
def test_decoded_runs(n: int, plans: tuple[Plan, ...]) -> None:
    check_decoder(GROUPS[0], n, 4 if n % 2 else 1, plans)


@pytest.mark.parametrize("group", [nightly(g, quick=g.size == 96) for g in GROUPS[1:]], ids=some)
def test_decoded_runs_of_groups(group: Group) -> None:
    check_decoder(group, group.size * N - 1, 9, PLANS[2:3])

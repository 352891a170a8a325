"""Coverage against the relation that it stands for, thread by thread."""

from __future__ import annotations

from random import Random

import pytest

from prismc.checker.sync.coverage import (
    NONE,
    Coverage,
    barrier,
    both,
    ranges_of,
    side_by_side,
    then,
    threads_in,
)

THREADS = 6
EVERYONE = (1 << THREADS) - 1


def pairs(coverage: Coverage) -> set[tuple[int, int]]:
    """All (earlier, later) in order, each thread after itself."""
    found = {(thread, thread) for thread in range(THREADS)}
    for sources, reach in coverage.classes:
        found |= {(s, w) for s in threads_in(sources) for w in threads_in(reach)}
    return found


def some(random: Random) -> Coverage:
    """What a few barriers of random units make, along random paths."""
    coverage = NONE
    for _ in range(random.randrange(4)):
        cut = random.randint(1, THREADS - 1)
        units = ((1 << cut) - 1, EVERYONE & ~((1 << cut) - 1))
        step = barrier(random.sample(units, random.randint(1, 2)))
        coverage = then(coverage, step) if random.random() < 0.8 else both(coverage, step)
    return coverage


@pytest.mark.parametrize("seed", range(60))
def test_operations_are_those_of_relations(seed: int) -> None:
    random = Random(seed)
    first, second = some(random), some(random)
    one, two = pairs(first), pairs(second)
    assert pairs(then(first, second)) == {(s, w) for s, m in one for n, w in two if m == n}
    assert pairs(both(first, second)) == one & two
    everyone = first.is_total(EVERYONE, EVERYONE)
    assert everyone == (len(one) == THREADS * THREADS)


@pytest.mark.parametrize("seed", range(60))
def test_uncovered_finds_a_pair_of_different_threads(seed: int) -> None:
    random = Random(seed)
    coverage = some(random)
    earlier, later = random.randint(1, EVERYONE), random.randint(1, EVERYONE)
    missing = {
        (s, w)
        for s in threads_in(earlier)
        for w in threads_in(later)
        if s != w and (s, w) not in pairs(coverage)
    }
    found = coverage.uncovered(earlier, later)
    if found is None:
        assert not missing
    else:
        assert {(s, w) for s in threads_in(found[0]) for w in threads_in(found[1])} & missing


def test_arms_side_by_side_keep_to_themselves() -> None:
    joined = side_by_side([barrier((0b0011,)), barrier((0b1100,))])
    assert joined.uncovered(0b0001, 0b0010) is None
    assert joined.uncovered(0b0001, 0b0100) == (0b0001, 0b0100)


def test_ranges_are_ascending_and_half_open() -> None:
    assert ranges_of(0) == ()
    assert ranges_of(0b1011_0001) == ((0, 1), (4, 6), (7, 8))

"""When two footprints meet: against all elements of small examples, and with symbols."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from prismc.checker.sync.footprints import Footprint, Point, footprint_of
from prismc.checker.sync.forms import GRID_WIDE, Atom, Form
from prismc.checker.sync.meetings import FAR, Between, Meeting, meet
from prismc.source.record import replace

THREADS = 4
LOOP, OUTER = 7, 5
HERE = Between()


def atom(
    name: str,
    *,
    loops: tuple[int, ...] = (),
    step: int = 0,
    width: int = GRID_WIDE,
    below: int = 0,
) -> Atom:
    return Atom(name=name, order=ord(name), width=width, loops=loops, step=step, below=below)


def at(form: Form, rows: Form | None = None, *, lanes: int = 1) -> Footprint:
    point = Point(counters=(), form=form, threads=0b1111, rows=rows or {})
    return footprint_of((point,), (), lanes, is_certain=True)


def met(first: Footprint, second: Footprint, between: Between = HERE) -> Meeting:
    return meet(first, second, between, {}, width=THREADS, assume_rows=False)


def threads_that_meet(meeting: Meeting) -> set[tuple[int, int]]:
    return {
        (s, w)
        for first, second in meeting.classes
        for s, w in product(range(THREADS), repeat=2)
        if s != w and first >> s & 1 and second >> w & 1
    }


# --------------------------------------------------------------------------- counted loops


def counted(random: Random) -> tuple[Footprint, list[tuple[int, ...]]]:
    """Elements of each thread for three iterations of a loop."""
    elements = [tuple(random.randrange(6) for _ in range(THREADS)) for _ in range(3)]
    points = tuple(
        Point(counters=(number,), form={(): offsets}, threads=0b1111, rows={})
        for number, offsets in enumerate(elements)
    )
    return footprint_of(points, (LOOP,), 1, is_certain=True), elements


BETWEEN = {
    "same": (HERE, lambda i, j: i == j),
    "previous": (Between(loop=LOOP), lambda i, j: i == j - 1),
    "earlier": (Between(loop=LOOP, least=2, most=FAR), lambda i, j: i <= j - 2),
    "ended": (Between(ended=frozenset({LOOP})), lambda i, j: True),
}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", BETWEEN)
def test_counted_iterations_meet_as_their_elements_do(seed: int, name: str) -> None:
    random = Random(seed)
    (first, mine), (second, other) = counted(random), counted(random)
    between, fits = BETWEEN[name]
    expected = {
        (s, w)
        for i, j in product(range(3), repeat=2)
        if fits(i, j)
        for s, w in product(range(THREADS), repeat=2)
        if s != w and mine[i][s] == other[j][w]
    }
    meeting = met(first, second, between)
    assert threads_that_meet(meeting) == expected
    assert meeting.is_exact


# --------------------------------------------------------------------------- symbols


def test_a_symbol_cancels_in_one_iteration_only() -> None:
    k = atom("k", loops=(LOOP,))
    mine = at({(k,): 1, (): (0, 1, 2, 3)})
    assert met(mine, mine).classes == ()
    assert not met(mine, mine, Between(loop=LOOP)).is_exact
    assert met(mine, mine, Between(loop=LOOP)).classes == ((0b1111, 0b1111),)


def test_a_symbol_of_few_threads_does_not_cancel() -> None:
    mine = at({(atom("w", width=2),): 1, (): (0, 1, 2, 3)})
    assert met(mine, mine).classes == ((0b1111, 0b1111),)


@pytest.mark.parametrize(
    ("step", "meets"),
    [(4, False), (-4, False), (3, True), (-3, True), (8, False)],
)
def test_a_counter_moves_by_its_step(step: int, meets: bool) -> None:
    k = atom("k", loops=(LOOP,), step=step)
    mine = at({(k,): 1, (): (0, 1, 2, 3)})
    meeting = met(mine, mine, Between(loop=LOOP))
    assert bool(meeting.classes) == meets
    if meets:
        assert threads_that_meet(meeting) == {(3, 0) if step > 0 else (0, 3)}


def test_a_counter_of_an_ended_loop_may_be_anything() -> None:
    k = atom("k", loops=(OUTER, LOOP), step=4)
    mine = at({(k,): 1, (): (0, 1, 2, 3)})
    ended = Between(loop=OUTER, ended=frozenset({LOOP}))
    assert met(mine, mine, ended).classes == ((0b1111, 0b1111),)


def test_rows_need_a_bound() -> None:
    n = atom("n")
    form: Form = {(n,): (0, 0, 1, 1), (): (0, 1, 0, 1)}
    assert met(at(form), at(form)).classes == ((0b1111, 0b1111),)
    assert met(at(form, {(n,): 2}), at(form, {(n,): 2})).classes == ()
    assert met(at(form, {(n,): (1, 2, 1, 2)}), at(form, {(n,): 2})).classes == ()
    assert met(at(form, {(n,): 1}), at(form, {(n,): 2})).classes == ((0b1111, 0b1111),)


def test_lanes_reach_beyond_the_index() -> None:
    apart = at({(): (0, 2, 4, 6)}, lanes=2)
    assert met(apart, apart).classes == ()
    meeting = met(at({(): (0, 2, 4, 6)}, lanes=3), apart)
    assert threads_that_meet(meeting) == {(0, 1), (1, 2), (2, 3)}


def test_an_unknown_footprint_meets_everything() -> None:
    unknown = Footprint(threads=0b0011, is_certain=False)
    assert met(unknown, at({(): 0})).classes == ((0b0011, 0b1111),)


# --------------------------------------------------------------------------- runs of elements


def in_runs(random: Random) -> Footprint:
    """Runs of a few elements each, at multiples of their length behind the same rest, and where a
    counter adds to them at multiples of a power of two."""
    lanes, rest = random.choice((2, 4, 8)), random.randrange(2)
    starts = tuple(rest + lanes * random.randrange(6) for _ in range(THREADS))
    factor = random.choice((0, 2, 8, 16))
    counter: Form = {(atom("k", loops=(LOOP,), step=1),): factor} if factor else {}
    return at({**counter, (): starts}, lanes=lanes)


@pytest.mark.parametrize("between", [HERE, BETWEEN["previous"][0], BETWEEN["ended"][0]])
@pytest.mark.parametrize("seed", range(60))
def test_runs_meet_as_their_elements_do(seed: int, between: Between) -> None:
    random = Random(seed)
    first, second = in_runs(random), in_runs(random)
    assert min(first.grain, second.grain) > 1
    meeting = met(first, second, between)
    one_by_one = met(*(replace(each, grain=1, rest=0) for each in (first, second)), between)
    assert set(meeting.classes) == set(one_by_one.classes)
    assert (meeting.is_exact, meeting.element) == (one_by_one.is_exact, one_by_one.element)


# --------------------------------------------------------------------------- unknown multiples

FEW = range(-4, 5)


@pytest.mark.parametrize("seed", range(60))
def test_what_meets_by_multiples_of_symbols_is_found(seed: int) -> None:
    random = Random(seed)
    alone = [atom("a", width=1), atom("b", width=0)]

    def sum_of_symbols() -> tuple[Footprint, list[int], tuple[int, ...]]:
        factors = [random.choice((0, 4, 6, 8, 12)) for _ in alone]
        offsets = tuple(random.randrange(12) for _ in range(THREADS))
        form: Form = {(each,): f for each, f in zip(alone, factors, strict=True) if f}
        return at({**form, (): offsets}, lanes=random.choice((1, 2))), factors, offsets

    (first, mine, starts), (second, other, ends) = sum_of_symbols(), sum_of_symbols()
    meeting = met(first, second)
    reached = {f * i + g * j for f, g in [mine] for i, j in product(FEW, FEW)}
    others = {f * i + g * j for f, g in [other] for i, j in product(FEW, FEW)}
    expected = {
        (s, w)
        for s, w in product(range(THREADS), repeat=2)
        if s != w
        and any(
            starts[s] + lane - ends[w] - lane_of_other + x in others
            for lane in range(first.lanes)
            for lane_of_other in range(second.lanes)
            for x in reached
        )
    }
    assert expected == threads_that_meet(meeting)
    assert not (meeting.classes and meeting.is_exact and any((*mine, *other)))


@pytest.mark.parametrize("seed", range(60))
def test_what_meets_by_symbols_below_a_bound_is_found(seed: int) -> None:
    random = Random(seed)
    few, multiple = atom("f", width=1, below=random.choice((2, 3))), atom("m", width=1)
    step, factor = random.choice((1, 2)), random.choice((4, 5, 6, 8))
    offsets = tuple(random.randrange(12) for _ in range(THREADS))
    one = at({(few,): step, (multiple,): factor, (): offsets})
    reached = [{(start + step * n) % factor for n in range(few.below)} for start in offsets]
    expected = {
        (s, w)
        for s, w in product(range(THREADS), repeat=2)
        if s != w and not reached[s].isdisjoint(reached[w])
    }
    meeting = met(one, one)
    assert expected <= threads_that_meet(meeting)
    if step == 1:
        assert expected == threads_that_meet(meeting)
    assert not (meeting.classes and meeting.is_exact)


def test_symbols_below_bounds_are_spread_from_the_least_coefficient_on() -> None:
    few = [atom(name, width=1, below=2) for name in "ab"]
    apart = at({(few[0],): 1, (few[1],): 8, (): (0, 2, 4, 6)})
    assert met(apart, apart).classes == ()
    beside = at({(few[0],): 1, (few[1],): 1, (): (0, 3, 6, 9)})
    assert met(beside, beside).classes == ()
    over = at({(few[0],): 1, (few[1],): 1, (): (0, 2, 4, 6)})
    assert threads_that_meet(met(over, over)) == {
        (s, w) for s, w in product(range(THREADS), repeat=2) if abs(s - w) == 1
    }


def test_own_steps_keep_threads_apart() -> None:
    own = [atom(name, width=1, loops=(LOOP,), step=1) for name in "ij"]
    mine, other = (at({(each,): 4, (): (0, 1, 2, 3)}) for each in own)
    assert met(mine, other).classes == ()
    assert met(mine, mine, Between(loop=LOOP)).classes == ()
    shifted = at({(own[1],): 4, (): (1, 2, 3, 4)})
    assert threads_that_meet(met(mine, shifted)) == {(1, 0), (2, 1), (3, 2), (0, 3)}


def test_an_own_step_and_a_counter_of_all() -> None:
    own, k = atom("i", width=1, loops=(OUTER, LOOP), step=1), atom("k", loops=(OUTER,), step=1)
    mine = at({(own,): 4, (k,): 6, (): (0, 1, 2, 3)})
    around = Between(loop=OUTER, ended=frozenset({LOOP}))
    assert threads_that_meet(met(mine, mine, around)) == {(0, 2), (2, 0), (1, 3), (3, 1)}
    later = Between(loop=OUTER, least=2, most=2, ended=frozenset({LOOP}))
    assert met(mine, mine, later).classes == ()

"""Warp-wide instructions, lane by lane, against the pseudocode of the PTX ISA."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pytest

from emulator.semantics import oracle
from emulator.semantics.harness import as_tuple, bound, special_floats
from emulator.semantics.oracle import NAN, integer, value, wrap
from prismc.emulator.semantics.registry import Kind, dtype_of, operand_types

WARPS = 12
FULL = 0xFFFFFFFF
Warp = list[int]


def run(opcode: str, active: Sequence[Sequence[bool]], *operands: Sequence[Sequence[Any]]) -> Any:
    """Results as one list of warps a destination."""
    form, row, operation = bound(opcode)
    assert row.kind is Kind.WARP
    types = operand_types(form, row.sources)
    arrays = [
        np.array(operand, dtype=dtype_of(name))
        for operand, name in zip(operands, types, strict=False)
    ]
    results = as_tuple(operation(np.array(active, dtype=bool), *arrays))
    for result, name in zip(results, operand_types(form, row.results), strict=True):
        assert result.dtype == dtype_of(name), (opcode, result.dtype)
        assert result.shape == (len(active), 32)
    return tuple(result.tolist() for result in results)


def words(seed: int, bits: int = 32, few: int = 0) -> list[Warp]:
    """Random registers; with `few` only that many different values."""
    generator = random.Random(seed)
    pool = [generator.getrandbits(bits) for _ in range(few)]
    return [
        [generator.choice(pool) if few else generator.getrandbits(bits) for _ in range(32)]
        for _ in range(WARPS)
    ]


def everyone() -> list[list[bool]]:
    return [[True] * 32 for _ in range(WARPS)]


def some(seed: int) -> list[list[bool]]:
    """Warps that are whole, single lanes, halves and random."""
    generator = random.Random(seed)
    warps = [[True] * 32, [lane == 7 for lane in range(32)], [lane < 16 for lane in range(32)]]
    while len(warps) < WARPS:
        warps.append([generator.random() < 0.6 for _ in range(32)])
        warps[-1][generator.randrange(32)] = True
    return warps


def masks(active: Sequence[Sequence[bool]], shared: bool, seed: int) -> list[Warp]:
    """Membermasks that each executing lane belongs to, one a warp or one a lane."""
    generator = random.Random(seed)
    found = []
    for warp in active:
        executing = sum(1 << lane for lane in range(32) if warp[lane])
        if shared:
            found.append([executing | generator.getrandbits(32)] * 32)
        else:
            low = sum(1 << lane for lane in range(32) if warp[lane] and lane % 2)
            found.append([low if lane % 2 else executing & ~low for lane in range(32)])
    return found


def members(active: Sequence[bool], mask: int) -> list[int]:
    return [lane for lane in range(32) if active[lane] and mask >> lane & 1]


def check(
    opcode: str,
    active: list[list[bool]],
    operands: list[list[Any]],
    expected: Callable[[Sequence[bool], list[Any], int], tuple[Any, ...]],
) -> None:
    """`expected(active, operands of the warp, lane)` gives each executing lane's results."""
    results = run(opcode, active, *operands)
    for warp in range(len(active)):
        inputs = [operand[warp] for operand in operands]
        for lane in range(32):
            if active[warp][lane]:
                got = tuple(result[warp][lane] for result in results)
                want = expected(active[warp], inputs, lane)
                assert got == want, (opcode, warp, lane, got, want)


def shuffled(mode: str) -> Callable[[Sequence[bool], list[Any], int], tuple[Any, ...]]:
    def expected(_: Sequence[bool], inputs: list[Any], lane: int) -> tuple[int, bool]:
        a, b, c = inputs[0], inputs[1][lane] & 31, inputs[2][lane]
        clamp, segment = c & 31, c >> 8 & 31
        last = (lane & segment) | (clamp & ~segment & 31)
        first = lane & segment
        match mode:
            case "up":
                j, inside = lane - b, lane - b >= last
            case "down":
                j, inside = lane + b, lane + b <= last
            case "bfly":
                j, inside = lane ^ b, (lane ^ b) <= last
            case _:
                j = first | (b & ~segment & 31)
                inside = j <= last
        return a[j if inside else lane], inside

    return expected


CONTROLS = [0x0000, 0x001F, 0x1800, 0x181F, 0x1C03, 0x1C1F, 0x100F, 0x1E01, 0x1F00, 0x000B]


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles_of_one_distance(mode: str) -> None:
    """Every distance with every kind of segment and clamp, alike in all lanes."""
    a = words(1)
    for b in (*range(33), 0xFFFFFFFF):
        for c in CONTROLS:
            operands = [a[:1], [[b] * 32], [[c] * 32], [[FULL] * 32]]
            check(f"shfl.sync.{mode}.b32", everyone()[:1], operands, shuffled(mode))


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles_that_differ_by_lane(mode: str) -> None:
    generator = random.Random(5)
    controls = [[generator.choice(CONTROLS) for _ in range(32)] for _ in range(WARPS)]
    operands = [words(1), words(2), controls, [[FULL] * 32] * WARPS]
    check(f"shfl.sync.{mode}.b32", some(3), operands, shuffled(mode))
    check(f"shfl.{mode}.b32", everyone(), operands[:3], shuffled(mode))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("likely", [0.0, 0.05, 0.5, 0.95, 1.0])
def test_votes(shared: bool, likely: float) -> None:
    generator = random.Random(likely)
    flags = [[generator.random() < likely for _ in range(32)] for _ in range(WARPS)]
    active = some(4)
    mask = masks(active, shared, 6)
    decisions: dict[str, Callable[[list[bool]], bool]] = {
        "all": all,
        "any": any,
        "uni": lambda found: all(found) or not any(found),
    }
    for name, decide in decisions.items():

        def voted(
            warp: Sequence[bool], inputs: list[Any], lane: int, d: Any = decide
        ) -> tuple[bool]:
            return (d([inputs[0][each] for each in members(warp, inputs[1][lane])]),)

        check(f"vote.sync.{name}.pred", active, [flags, mask], voted)
        check(
            f"vote.{name}.pred",
            active,
            [flags],
            lambda warp, inputs, lane, f=voted: f(warp, [inputs[0], [FULL] * 32], lane),
        )

    def counted(warp: Sequence[bool], inputs: list[Any], lane: int) -> tuple[int]:
        return (sum(1 << each for each in members(warp, inputs[1][lane]) if inputs[0][each]),)

    check("vote.sync.ballot.b32", active, [flags, mask], counted)
    check(
        "vote.ballot.b32",
        active,
        [flags],
        lambda warp, inputs, lane: counted(warp, [inputs[0], [FULL] * 32], lane),
    )


def test_activemask() -> None:
    check(
        "activemask.b32",
        some(9),
        [],
        lambda warp, _, __: (sum(1 << lane for lane in range(32) if warp[lane]),),
    )


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("few", [1, 2, 5, 0])
def test_matches(width: int, shared: bool, few: int) -> None:
    active = some(10)
    operands = [words(11, width, few), masks(active, shared, 12)]

    def same(warp: Sequence[bool], inputs: list[Any], lane: int) -> tuple[int]:
        alike = [m for m in members(warp, inputs[1][lane]) if inputs[0][m] == inputs[0][lane]]
        return (sum(1 << m for m in alike),)

    def one(warp: Sequence[bool], inputs: list[Any], lane: int) -> tuple[int, bool]:
        everybody = sum(1 << m for m in members(warp, inputs[1][lane]))
        (alike,) = same(warp, inputs, lane)
        return (everybody, True) if alike == everybody else (0, False)

    check(f"match.any.sync.b{width}", active, operands, same)
    check(f"match.all.sync.b{width}", active, operands, one)


REDUCTIONS: dict[str, Callable[[list[int]], int]] = {
    "and.b32": lambda found: reduce(lambda x, y: x & y, found),
    "or.b32": lambda found: reduce(lambda x, y: x | y, found),
    "xor.b32": lambda found: reduce(lambda x, y: x ^ y, found),
    "add.u32": lambda found: wrap(sum(found), 32),
    "add.s32": lambda found: wrap(sum(found), 32),
    "min.u32": min,
    "max.u32": max,
    "min.s32": lambda found: min(found, key=lambda bits: integer(bits, "s32")),
    "max.s32": lambda found: max(found, key=lambda bits: integer(bits, "s32")),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("shared", [True, False])
def test_redux(name: str, shared: bool) -> None:
    active = some(13)
    operands = [words(14), masks(active, shared, 15)]

    def reduced(warp: Sequence[bool], inputs: list[Any], lane: int) -> tuple[int]:
        return (REDUCTIONS[name]([inputs[0][m] for m in members(warp, inputs[1][lane])]),)

    check(f"redux.sync.{name}", active, operands, reduced)


@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("modifier", ["", ".abs", ".NaN", ".abs.NaN"])
@pytest.mark.parametrize("pool", ["numbers", "mixed", "nans", "zeros"])
def test_redux_of_floats(name: str, modifier: str, pool: str) -> None:
    specials = special_floats("f32")
    nans = [bits for bits in specials if value(bits, "f32") == NAN]
    choices = {
        "numbers": [bits for bits in specials if bits not in nans],
        "mixed": specials,
        "nans": nans,
        "zeros": [0, 1 << 31],
    }[pool]
    generator = random.Random(pool)
    numbers = [[generator.choice(choices) for _ in range(32)] for _ in range(WARPS)]
    active = some(16)

    def real(bits: int) -> tuple[Any, int]:
        number = value(bits, "f32")
        return float(number) if isinstance(number, str) else number, -(bits >> 31)

    def reduced(warp: Sequence[bool], inputs: list[Any], lane: int) -> tuple[int]:
        found = [inputs[0][m] for m in members(warp, inputs[1][lane])]
        if "abs" in modifier:
            found = [bits & 0x7FFFFFFF for bits in found]
        real_ones = [bits for bits in found if value(bits, "f32") != NAN]
        if not real_ones or ("NaN" in modifier and len(real_ones) < len(found)):
            return (0x7FFFFFFF,)
        return ((min if name == "min" else max)(real_ones, key=real),)

    for shared in (True, False):
        operands = [numbers, masks(active, shared, 17)]
        check(f"redux.sync.{name}{modifier}.f32", active, operands, reduced)


@pytest.mark.parametrize("shared", [True, False])
def test_elect(shared: bool) -> None:
    active = some(18)

    def elected(warp: Sequence[bool], inputs: list[Any], lane: int) -> tuple[int, bool]:
        leader = min(members(warp, inputs[0][lane]))
        return leader, lane == leader

    check("elect.sync", active, [masks(active, shared, 19)], elected)


def test_the_largest_numbers_are_no_nans() -> None:
    """The float reduction ranks patterns; infinities must stay inside the ranks."""
    for bits in (oracle.infinity("f32"), oracle.infinity("f32") | 1 << 31):
        for name in ("min", "max"):
            operands = [[[bits] * 32], [[FULL] * 32]]
            (results,) = run(f"redux.sync.{name}.f32", [[True] * 32], *operands)
            assert results[0] == [bits] * 32

"""Warp-wide register instructions: shuffles, votes, matches, reductions, election.

PTX ISA 9.0, 9.7.9.6 (shfl.sync) and 9.7.13 (vote, match, activemask, redux, elect). Arrays are
`[warps, 32]`; `active` says which lanes execute. What an inactive lane would contribute is
undefined in the ISA: a shuffle copies what its register holds, the others leave it out. Threads of
one warp that name different masks each get the answer for their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from prismc.emulator.semantics.lanes import Lanes, integers, required, unsigned
from prismc.emulator.semantics.patterns import is_nan
from prismc.emulator.semantics.registry import Form, Kind, Operation, instruction

LANE = np.arange(32, dtype=np.int32)
_LANE_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


def ballot(flags: Lanes) -> Lanes:
    """bool `[..., 32]` as one u32 `[..., 1]`, lane 0 lowest."""
    packed = np.packbits(flags, axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint32)


def _everywhere(values: Lanes, like: Lanes) -> Lanes:
    """One value a warp, given to each of its lanes."""
    return np.broadcast_to(values, like.shape).copy()


def _source_lanes(mode: str, b: Lanes, c: Lanes) -> tuple[Lanes, Lanes]:
    """Where each lane reads from, and whether that is in range, as 9.7.9.6 computes it."""
    value, clamp = (b & 31).astype(np.int32), (c & 31).astype(np.int32)
    segment = (c >> 8 & 31).astype(np.int32)
    outside = ~segment
    last = (LANE & segment) | (clamp & outside)
    match mode:
        case "up":
            source = LANE - value
            in_range = source >= last
        case "down":
            source = LANE + value
            in_range = source <= last
        case "bfly":
            source = LANE ^ value
            in_range = source <= last
        case _:
            source = (LANE & segment) | (value & outside)
            in_range = source <= last
    return np.where(in_range, source, LANE), in_range


@instruction(
    "shfl",
    types="b32",
    kind=Kind.WARP,
    sources="b32 b32 b32 b32",
    results="b32 pred",
    optional=1,
    modifiers="sync up down bfly idx",
)
def shuffle(form: Form) -> Operation:
    """Each lane takes a register of another (9.7.9.6, shfl.sync).

    b is a lane or a distance; c has the clamp in bits 4..0 and the segment mask in bits 12..8. A
    lane that would read out of range keeps its own value, and its predicate is false.
    """
    mode = required(form, "up", "down", "bfly", "idx")

    def shuffled(active: Lanes, a: Lanes, b: Lanes, c: Lanes, *mask: Lanes) -> Any:
        if (b == b.flat[0]).all() and (c == c.flat[0]).all():
            source, in_range = _source_lanes(mode, b.flat[0], c.flat[0])
            return a.take(source, axis=1), _everywhere(in_range, a)
        source, in_range = _source_lanes(mode, b, c)
        return np.take_along_axis(a, source, axis=1), in_range

    return shuffled


class Votes(NamedTuple):
    """Who takes part in a vote, and which of them said yes; a bit a lane, u32 `[warps, 32]`."""

    members: Lanes
    yes: Lanes


def _votes(active: Lanes, flags: Lanes, mask: tuple[Lanes, ...]) -> Votes:
    members, yes = ballot(active), ballot(active & flags)
    if not mask:
        return Votes(_everywhere(members, active), _everywhere(yes, active))
    return Votes(members & mask[0], yes & mask[0])


_VOTES: dict[str, Callable[[Votes], Lanes]] = {
    "all": lambda votes: votes.yes == votes.members,
    "any": lambda votes: votes.yes != 0,
    "uni": lambda votes: (votes.yes == 0) | (votes.yes == votes.members),
}


@instruction(
    "vote",
    types="pred",
    kind=Kind.WARP,
    sources="pred b32",
    optional=1,
    modifiers="sync all any uni",
)
def vote(form: Form) -> Operation:
    """Whether all, any, or all alike of the members' predicates hold (9.7.13.9, vote.sync)."""
    decide = _VOTES[required(form, *_VOTES)]
    return lambda active, flags, *mask: decide(_votes(active, flags, mask))


@instruction(
    "vote",
    types="b32",
    kind=Kind.WARP,
    sources="pred b32",
    results="b32",
    optional=1,
    modifiers="sync ballot",
)
def vote_ballot(form: Form) -> Operation:
    """The members' predicates, a bit a lane (9.7.13.9, vote.sync.ballot)."""
    required(form, "ballot")
    return lambda active, flags, *mask: _votes(active, flags, mask).yes


@instruction("activemask", types="b32", kind=Kind.WARP, sources="")
def active_mask(form: Form) -> Operation:
    """The lanes that execute this, a bit a lane (9.7.13.11, activemask)."""
    return lambda active: _everywhere(ballot(active), active)


def _equals(active: Lanes, a: Lanes, mask: Lanes) -> Lanes:
    """For each lane the members that hold the same value, a bit a lane."""
    same = (a[:, :, None] == a[:, None, :]) & active[:, None, :]
    return ballot(same)[..., 0] & mask


@instruction(
    "match.any",
    types="b32 b64",
    kind=Kind.WARP,
    sources="T b32",
    results="b32",
    modifiers="sync any",
)
def match_any(form: Form) -> Operation:
    """The members that hold the same value as this lane (9.7.13.10, match.sync)."""
    return _equals


@instruction(
    "match.all",
    types="b32 b64",
    kind=Kind.WARP,
    sources="T b32",
    results="b32 pred",
    modifiers="sync all",
)
def match_all(form: Form) -> Operation:
    """All members, and true, if they all hold one value; else 0, false (9.7.13.10, match.sync)."""

    def matched(active: Lanes, a: Lanes, mask: Lanes) -> tuple[Lanes, Lanes]:
        members = ballot(active) & mask
        same = _equals(active, a, mask) == members
        return np.where(same, members, np.uint32(0)), same

    return matched


def _reduced(
    active: Lanes, values: Lanes, mask: Lanes, operation: np.ufunc, identity: Any
) -> Lanes:
    """The members' values joined by `operation`, for each lane by its own mask."""
    first = active.argmax(axis=1)[:, None]
    shared = np.take_along_axis(mask, first, axis=1)
    if ((mask == shared) | ~active).all():
        members = active & (shared & _LANE_BITS != 0)
        joined = operation.reduce(np.where(members, values, identity), axis=1, keepdims=True)
        return _everywhere(joined, values)
    members = active[:, None, :] & (mask[:, :, None] & _LANE_BITS != 0)
    return operation.reduce(np.where(members, values[:, None, :], identity), axis=2)


_BITWISE: dict[str, tuple[np.ufunc, int]] = {
    "and": (np.bitwise_and, 0xFFFFFFFF),
    "or": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
}


@instruction("redux", types="b32", kind=Kind.WARP, sources="T b32", modifiers="sync and or xor")
def reduce_bits(form: Form) -> Operation:
    """The members' registers joined bit by bit (9.7.13.12, redux.sync)."""
    operation, identity = _BITWISE[required(form, *_BITWISE)]
    start = np.uint32(identity)
    return lambda active, a, mask: _reduced(active, a, mask, operation, start)


@instruction(
    "redux", types="s32 u32", kind=Kind.WARP, sources="T b32", modifiers="sync add min max"
)
def reduce_integers(form: Form) -> Operation:
    """The members' sum modulo 2**32, least or greatest (9.7.13.12, redux.sync)."""
    view = integers(form.types[0])
    limits = np.iinfo(np.int32) if form.types[0] == "s32" else np.iinfo(np.uint32)
    name = required(form, "add", "min", "max")
    operation = {"add": np.add, "min": np.minimum, "max": np.maximum}[name]
    identity = limits.dtype.type({"add": 0, "min": limits.max, "max": limits.min}[name])

    def reduced(active: Lanes, a: Lanes, mask: Lanes) -> Lanes:
        return unsigned(_reduced(active, view(a), mask, operation, identity)).astype(np.uint32)

    return reduced


@instruction(
    "redux", types="f32", kind=Kind.WARP, sources="T b32", modifiers="sync min max abs NaN"
)
def reduce_floats(form: Form) -> Operation:
    """The members' least or greatest number; -0 is below +0 (9.7.13.12, redux.sync).

    NaNs are left out, or, with `.NaN`, make the result the canonical NaN; so do only NaNs.
    """
    least = required(form, "min", "max") == "min"
    operation = np.minimum if least else np.maximum
    canonical, sign = np.uint32(0x7FFFFFFF), np.uint32(0x80000000)
    # Patterns in the order of their numbers; the ends of the range belong to NaNs.
    beyond = np.uint32(0xFFFFFFFF if least else 0)

    def reduced(active: Lanes, a: Lanes, mask: Lanes) -> Lanes:
        a = a & ~sign if form.has("abs") else a
        nan = is_nan(a, "f32")
        rank = np.where(nan, beyond, a ^ np.where(a & sign != 0, np.uint32(0xFFFFFFFF), sign))
        chosen = _reduced(active, rank, mask, operation, beyond)
        bits = chosen ^ np.where(chosen & sign != 0, sign, np.uint32(0xFFFFFFFF))
        poisoned = chosen == beyond
        if form.has("NaN"):
            poisoned |= _reduced(active, nan, mask, np.logical_or, False)
        return np.where(poisoned, canonical, bits)

    return reduced


@instruction("elect", types="", kind=Kind.WARP, sources="b32", results="b32 pred", modifiers="sync")
def elect(form: Form) -> Operation:
    """The lowest member's lane, and true in that lane alone (9.7.13.14, elect.sync)."""

    def elected(active: Lanes, mask: Lanes) -> tuple[Lanes, Lanes]:
        members = ballot(active) & mask
        lowest = np.bitwise_count((members & (~members + np.uint32(1))) - np.uint32(1))
        leader = lowest.astype(np.uint32)
        return leader, leader == LANE

    return elected

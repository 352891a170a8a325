"""Atomics and reductions (PTX ISA 9.7.13.6, atom, and 9.7.13.7, red).

Lanes that hit one address take turns in lane order, each seeing what the one before it left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from prismc.emulator.decode import AddressOf, Decoded, Decoder, Source
from prismc.emulator.execute.access import packed_source, space_of
from prismc.emulator.execute.qualifiers import qualifiers_of
from prismc.emulator.execute.reach import Reach
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.scopes import Qualifiers, Scope, Strength
from prismc.emulator.semantics.registry import UNSIGNED, Lanes, bits_of
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.source.record import replace

# new = update(old, b, c): arrays of the memory's unsigned dtype, element by element.
Update = Callable[[Lanes, Lanes, Lanes], Lanes]

_NAMES = frozenset({"and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"})
_KNOWN = _NAMES | frozenset({"noftz", "v2", "v4", "v8"})
_FLOATS: dict[str, type[np.floating[Any]]] = {
    "f16": np.float16, "f16x2": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
# Up to so many lanes at one address take their turns all addresses at once.
_ROUNDS = 64


def open_atomic(decoder: Decoder, site: Instruction) -> Decoded:
    """`atom`: the old value goes to a register."""
    destinations = decoder.destinations(site.operands[0], site)
    return Decoded(step=_step(decoder, site, destinations, site.operands[1:]))


def open_reduction(decoder: Decoder, site: Instruction) -> Decoded:
    """`red`: an atomic without result."""
    return Decoded(step=_step(decoder, site, (), site.operands))


def _step(
    decoder: Decoder, site: Instruction, destinations: tuple[int | None, ...], operands: Any
) -> Step:
    names = [m for m in site.form.modifiers if m in _NAMES]
    if len(names) != 1 or len(site.form.types) != 1:
        decoder.refuse(site, "expected one operation and one type")
    name, type_name = names[0], site.form.types[0]
    bits = bits_of(type_name)
    if bits not in (16, 32, 64):
        decoder.refuse(site, f"atomics of {bits} bits are not supported")
    qualifiers = _strong(qualifiers_of(decoder, site, _KNOWN))
    where = decoder.address(operands[0], site)
    values = tuple(
        tuple(decoder.source(item, type_name, site) for item in decoder.elements(operand))
        for operand in operands[1 : 3 if name == "cas" else 2]
    )
    update = update_of(name, type_name, flush=qualifiers.space != "shared")
    if update is None:
        decoder.refuse(site, f"`.{name}` of .{type_name} is not supported")
    width = bits // 8
    size = width * qualifiers.count
    reach = Reach(
        decoder.launch,
        site,
        space_of(decoder, operands[0], qualifiers),
        size,
        size,
        writes=True,
    )
    return _atomic_step(
        decoder, site, where, reach, width, values, destinations, update, qualifiers
    )


def _strong(qualifiers: Qualifiers) -> Qualifiers:
    """Atomics without an order are relaxed, without a scope `.gpu` (PTX ISA 9.7.13.6)."""
    strength = max(qualifiers.strength, Strength.RELAXED)
    scope = qualifiers.scope or Scope.GPU
    return replace(qualifiers, strength=strength, scope=scope)


def _atomic_step(
    decoder: Decoder,
    site: Instruction,
    where: AddressOf,
    reach: Reach,
    width: int,
    values: tuple[tuple[Source, ...], ...],
    destinations: tuple[int | None, ...],
    update: Update,
    qualifiers: Qualifiers,
) -> Step:
    launch = decoder.launch
    watch = launch.watch
    dtype = UNSIGNED[8 * width]
    extends = [None if d is None else decoder.extend(d, site.form.types[0]) for d in destinations]
    shift = width.bit_length() - 1

    def step(run: Run) -> None:
        operands = [
            [run.spread(packed_source(run, source)) for source in group] for group in values
        ]
        addresses = run.spread(where.packed(run))
        olds = [np.zeros(run.count, dtype) for _ in values[0]]
        for place in reach.places(run, addresses):
            chosen = slice(None) if place.chosen is None else place.chosen
            changed = False
            view, index = place.region.view(width), place.offsets >> shift
            for k, old in enumerate(olds):
                b = operands[0][k][chosen]
                c = operands[1][k][chosen] if len(operands) > 1 else b
                old[chosen] = found = take_turns(view, index + k, b, c, update)
                changed |= bool((view[index + k] != found).any())
            launch.progress += changed
            if watch is not None:
                watch.atomic(run, site, place, reach.size, qualifiers)
        for destination, extend, old in zip(destinations, extends, olds, strict=False):
            if destination is not None:
                run.write_packed(destination, old if extend is None else extend(old))

    return step


def take_turns(view: Lanes, index: Lanes, b: Lanes, c: Lanes, update: Update) -> Lanes:
    """Updates `view[index]` lane by lane; returns what each lane found there."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    if first.all():
        old: Lanes = view[index]
        view[index] = update(old, b, c)
        return old
    starts = np.flatnonzero(first)
    turn = np.arange(len(index)) - np.repeat(starts, np.diff(np.append(starts, len(index))))
    found = np.empty(len(index), view.dtype)
    if int(turn.max()) < _ROUNDS:
        for number in range(int(turn.max()) + 1):
            lanes = order[turn == number]
            found[lanes] = view[index[lanes]]
            view[index[lanes]] = update(found[lanes], b[lanes], c[lanes])
        return found
    for group in np.split(order, starts[1:]):
        _queue(view, int(index[group[0]]), group, b, c, update, found)
    return found


def _queue(
    view: Lanes, at: int, group: Lanes, b: Lanes, c: Lanes, update: Update, found: Lanes
) -> None:
    """All lanes of one address, one after the other; in one go if the operation allows it."""
    accumulate = getattr(update, "accumulate", None)
    if accumulate is not None:
        states = accumulate(np.concatenate((view[at : at + 1], b[group])))
        found[group], view[at] = states[:-1], states[-1]
        return
    for lane in group:
        state = view[at : at + 1].copy()
        found[lane] = state[0]
        view[at] = update(state, b[lane : lane + 1], c[lane : lane + 1])[0]


class _Fold:
    """An update by a NumPy function of old and b, seen as a type; it can run along a queue."""

    def __init__(self, function: np.ufunc, dtype: np.dtype[Any]) -> None:
        self.function = function
        self.dtype = dtype

    def __call__(self, old: Lanes, b: Lanes, c: Lanes) -> Lanes:
        result: Lanes = self.function(old.view(self.dtype), b.view(self.dtype))
        return result.view(old.dtype)

    def accumulate(self, states: Lanes) -> Lanes:
        # Without a type NumPy would sum small integers in 64 bits.
        result: Lanes = self.function.accumulate(states.view(self.dtype), dtype=self.dtype)
        return result.view(states.dtype)


def update_of(name: str, type_name: str, *, flush: bool) -> Update | None:
    """The function of an atomic operation on a type; None if there is none.

    `flush`: `add.f32` outside of shared memory takes subnormals for zero (PTX ISA 9.7.13.6).
    """
    if name == "exch":
        return lambda old, b, c: b
    if name == "cas":
        return lambda old, b, c: np.where(old == b, c, old)
    if name in ("inc", "dec"):
        return _increment if name == "inc" else _decrement
    if name in ("and", "or", "xor"):
        functions = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
        return _Fold(functions[name], np.dtype(UNSIGNED[bits_of(type_name)]))
    if type_name.startswith("bf16"):
        return _brain_float(name)
    return _arithmetic(name, type_name, flush=flush)


def _arithmetic(name: str, type_name: str, *, flush: bool) -> Update | None:
    """`add`, `min` and `max`; NaN gives way to a number in `min` and `max`."""
    is_float = type_name in _FLOATS
    functions = {"add": np.add, "min": np.fmin if is_float else np.minimum,
                 "max": np.fmax if is_float else np.maximum}  # fmt: skip
    if name not in functions or type_name[0] == "b":
        return None
    if is_float:
        dtype = np.dtype(_FLOATS[type_name])
    else:
        sign = "i" if type_name[0] == "s" else "u"
        dtype = np.dtype(f"{sign}{bits_of(type_name) // 8}")
    if name == "add" and type_name == "f32" and flush:
        return _add_flushed
    return _Fold(functions[name], dtype)


def _increment(old: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """0 from b on, else one more."""
    return np.where(old >= b, 0, old + 1).astype(old.dtype)


def _decrement(old: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """b from 0 or above b, else one less."""
    return np.where((old == 0) | (old > b), b, old - 1).astype(old.dtype)


def _flushed(bits: Lanes) -> Lanes:
    """Subnormal f32 as zeros of their sign."""
    tiny = (bits & np.uint32(0x7F800000)) == 0
    return np.where(tiny, bits & np.uint32(0x80000000), bits)


def _add_flushed(old: Lanes, b: Lanes, c: Lanes) -> Lanes:
    total = _flushed(old).view(np.float32) + _flushed(b).view(np.float32)
    return _flushed(total.view(np.uint32))


def _brain_float(name: str) -> Update | None:
    """bf16 and bf16x2, element by element, rounded to nearest even."""
    functions = {"add": np.add, "min": np.fmin, "max": np.fmax}
    if name not in functions:
        return None
    function = functions[name]

    def update(old: Lanes, b: Lanes, c: Lanes) -> Lanes:
        wide = [(v.view(np.uint16).astype(np.uint32) << 16).view(np.float32) for v in (old, b)]
        bits = function(*wide).view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
        nan = (bits & 0x7FFFFFFF) > 0x7F800000
        return np.where(nan, 0x7FFF, rounded).astype(np.uint16).view(old.dtype)

    return update

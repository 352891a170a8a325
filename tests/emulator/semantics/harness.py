"""Runs one instruction form on lists of bit patterns, and makes operands worth trying."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from emulator.semantics import oracle
from prismc.emulator.semantics import everything
from prismc.emulator.semantics.registry import (
    Form,
    Instruction,
    dtype_of,
    find,
    operand_types,
    parse_form,
)

__all__ = ["everything"]
SEEN: set[str] = set()


def bound(opcode: str) -> tuple[Form, Instruction, Callable[..., Any]]:
    """The form, its row and its operation; the opcode counts as tested."""
    form = parse_form(opcode)
    row = find(form)
    SEEN.add(opcode)
    return form, row, row.bind(form)


def run(opcode: str, *operands: Sequence[int] | Sequence[bool], extra: Sequence[str] = ()) -> Any:
    """Lanes-kind results as lists: a list for one result, a tuple of lists for more.

    `extra` are the types of operands beyond the declared ones (the carry in).
    """
    form, row, operation = bound(opcode)
    types = (*operand_types(form, row.sources)[: len(operands) - len(extra)], *extra)
    assert len(types) == len(operands), (opcode, types)
    arrays = [
        np.array(operand, dtype=dtype_of(name))
        for operand, name in zip(operands, types, strict=True)
    ]
    before = [array.copy() for array in arrays]
    with np.errstate(all="ignore"):
        results = operation(*arrays)
        check_broadcast(opcode, operation, arrays)
    for array, old in zip(arrays, before, strict=True):
        assert (array == old).all(), f"{opcode} writes into a source"
    expected = operand_types(form, row.results)
    if not isinstance(results, tuple):
        check_result(opcode, results, expected[0], len(operands[0]))
        return results.tolist()
    for result, name in zip(results, expected, strict=False):
        check_result(opcode, result, name, len(operands[0]))
    return tuple(result.tolist() for result in results)


def check_broadcast(opcode: str, operation: Callable[..., Any], arrays: Sequence[Any]) -> None:
    """One value for all lanes, as `[1]`, must do what a whole array of it does."""
    for place, array in enumerate(arrays):
        short, full = list(arrays), list(arrays)
        short[place] = array[:1]
        full[place] = np.broadcast_to(array[:1], array.shape).copy()
        for got, want in zip(as_tuple(operation(*short)), as_tuple(operation(*full)), strict=True):
            same = np.broadcast_to(got, want.shape).tobytes() == want.tobytes()
            assert same, f"{opcode}: operand {place} as one value"


def as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def check_result(opcode: str, result: Any, type_name: str, lanes: int) -> None:
    assert result.dtype == dtype_of(type_name), (opcode, result.dtype, type_name)
    assert result.shape == (lanes,), (opcode, result.shape)


def compare(
    opcode: str,
    expected: Callable[..., Any],
    operands: Sequence[Sequence[Any]],
    extra: Sequence[str] = (),
    nan: str = "",
) -> None:
    """Asserts that each lane gives what `expected` says for its operands.

    With `nan` a float format, an expected `oracle.NAN` accepts every NaN of that format.
    """
    results = run(opcode, *operands, extra=extra)
    lanes = zip(*results, strict=True) if isinstance(results, tuple) else results
    for got, inputs in zip(lanes, zip(*operands, strict=True), strict=True):
        want = expected(*inputs)
        if want == oracle.NAN:
            assert oracle.value(got, nan) == oracle.NAN, describe(opcode, inputs, got, want)
        else:
            assert got == want, describe(opcode, inputs, got, want)


def describe(opcode: str, inputs: Iterable[Any], got: Any, want: Any) -> str:
    return f"{opcode}({', '.join(map(show, inputs))}) = {show(got)}, not {show(want)}"


def show(item: Any) -> str:
    return hex(item) if isinstance(item, int) and not isinstance(item, bool) else repr(item)


def integers(width: int, count: int, seed: int = 0) -> list[int]:
    """Edge patterns of a width, then random ones of every length."""
    generator = random.Random(f"{width} {seed}")
    top = 1 << (width - 1)
    edges = [0, 1, 2, 3, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, top >> 1, top | 1]
    generator.shuffle(edges)
    rest = [generator.getrandbits(generator.randint(1, width)) for _ in range(count)]
    flips = [bits ^ (2 * top - 1) if generator.random() < 0.3 else bits for bits in rest]
    return (edges + flips)[: max(count, len(edges))]


def pairs(values: Sequence[int], times: int = 2) -> list[tuple[int, ...]]:
    """Every combination of the values with itself, as one list an operand."""
    columns: list[tuple[int, ...]] = []
    count = len(values)
    for place in range(times):
        step = count**place
        columns.append(tuple(values[index // step % count] for index in range(count**times)))
    return columns


def special_floats(name: str) -> list[int]:
    """Zeros, subnormals, the ends of every range, ones, infinities and NaNs, of both signs."""
    layout = oracle.LAYOUTS[name]
    one = layout.bias << layout.fraction
    least = 1 << layout.fraction
    top = oracle.largest(name)
    patterns = [0, 1, 2, least - 1, least, least + 1, top - 1, top]
    patterns += [one - 1, one, one + 1, one + least, (one - least) | 1, one + (least >> 1)]
    if not layout.top_is_number:
        patterns += [oracle.infinity(name), oracle.infinity(name) | least >> 1]
    sign = 1 << (layout.width - 1)
    return patterns + [pattern | sign for pattern in patterns]


def random_floats(name: str, count: int, seed: int = 0, spread: int | None = None) -> list[int]:
    """Random patterns; `spread` keeps exponents that near to 0, and thins out the fraction bits."""
    layout = oracle.LAYOUTS[name]
    generator = random.Random(f"{name} {seed}")
    found = []
    for _ in range(count):
        fraction = generator.getrandbits(layout.fraction)
        if generator.random() < 0.4:
            fraction &= -1 << generator.randint(0, layout.fraction)
        if spread is None:
            field = generator.randint(0, (1 << layout.exponent) - 2)
        else:
            field = layout.bias + generator.randint(-spread, spread)
            field = min(max(field, 0), (1 << layout.exponent) - 2)
        sign = generator.getrandbits(1) << (layout.width - 1)
        found.append(sign | field << layout.fraction | fraction)
    return found


def operand_columns(name: str, arity: int, count: int, seed: int = 0) -> list[list[int]]:
    """Float operands: all specials met with each other, random ones near and far, and near ties."""
    specials = special_floats(name)
    columns: list[list[int]] = [list(column) for column in pairs(specials, min(arity, 2))]
    while len(columns) < arity:
        generator = random.Random(f"{name} {seed} {len(columns)}")
        columns.append([generator.choice(specials) for _ in columns[0]])
    for place, column in enumerate(columns):
        column += random_floats(name, count, seed * 17 + place, spread=3)
        column += random_floats(name, count, seed * 17 + place + 5, spread=40)
        column += random_floats(name, count, seed * 17 + place + 11)
    return columns

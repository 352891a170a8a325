"""Every registered form, with every modifier and pair of modifiers that it allows, works.

The values are other files' business. Here: a form binds or is refused, nothing else; what it
returns has the declared types and shapes; no value of an operand makes it fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from emulator.semantics.harness import as_tuple, check_broadcast
from prismc.emulator.semantics import everything
from prismc.emulator.semantics.registry import (
    Form,
    Instruction,
    Kind,
    Operation,
    Refused,
    dtype_of,
    find,
    operand_types,
    parse_form,
    registered,
)

ROWS = [
    (row, types) for row in registered() for types in row.types if row.name not in ("mma", "call")
]
LANES = 96


def forms(row: Instruction, types: str) -> Iterator[tuple[Form, Operation]]:
    """All forms of up to three modifiers that bind."""
    name, *fixed = row.name.split(".")
    rest = sorted(row.modifiers - set(fixed))
    count = 2 if len(rest) > 8 else 3
    for size in range(count + 1):
        for modifiers in combinations(rest, size):
            form = Form(name, (*fixed, *modifiers), tuple(types.split(".")) if types else ())
            if find(form) is not row:
                continue
            try:
                yield form, row.bind(form)
            except Refused:
                continue


def operands(form: Form, row: Instruction, shape: tuple[int, ...], count: int) -> list[np.ndarray]:
    """All bits random; every third value an edge of its type."""
    generator = np.random.default_rng(len(str(form)))
    found = []
    for name in operand_types(form, row.sources)[:count]:
        dtype = dtype_of(name)
        if dtype == np.bool_:
            found.append(generator.random(shape) < 0.5)
            continue
        values = (
            generator.integers(0, 1 << dtype.itemsize * 8, shape, dtype, endpoint=False)
            if dtype.itemsize < 8
            else generator.integers(0, (1 << 64) - 1, shape, dtype)
        )
        edges = np.array([0, 1, 1 << dtype.itemsize * 8 - 1, (1 << dtype.itemsize * 8) - 1], dtype)
        values[..., ::3] = generator.choice(edges, values[..., ::3].shape)
        found.append(values)
    return found


@pytest.mark.parametrize(("row", "types"), ROWS, ids=lambda item: getattr(item, "name", item))
def test_every_form_runs_on_every_value(row: Instruction, types: str) -> None:
    bound = list(forms(row, types))
    assert bound, f"no form of {row.name}.{types} binds"
    for form, operation in bound:
        if row.kind in (Kind.ROWS_IN, Kind.ROWS_OUT):
            continue
        carry = [np.arange(LANES) % 2 == 0] if form.name in ("addc", "subc", "madc") else []
        for count in range(len(row.sources) - row.optional, len(row.sources) + 1):
            try:
                run(form, row, operation, count, carry)
            except Refused:
                # A predicate to combine with, but no modifier that says how.
                assert row.optional


def run(
    form: Form, row: Instruction, operation: Operation, count: int, carry: list[np.ndarray]
) -> None:
    shape = (3, 32) if row.kind is Kind.WARP else (LANES,)
    arrays = [*operands(form, row, shape, count), *carry]
    before = [array.tobytes() for array in arrays]
    if row.kind is Kind.WARP:
        active = np.random.default_rng(1).random(shape) < 0.7
        active[:, 3] = True
        arrays.insert(0, active)
        before.insert(0, active.tobytes())
    with np.errstate(all="ignore"):
        results = as_tuple(operation(*arrays))
        if row.kind is Kind.LANES:
            check_broadcast(str(form), operation, arrays)
    assert [array.tobytes() for array in arrays] == before, form
    expected = operand_types(form, row.results)
    declared = [*expected, "pred"] if form.has("cc") else list(expected)
    assert [result.dtype for result in results] == [dtype_of(name) for name in declared], form
    assert all(result.shape == shape for result in results), form


def test_a_modifier_that_no_form_has_is_refused() -> None:
    for row in everything.MODULES and registered():
        form = Form(row.name.partition(".")[0], ("nonsense",), tuple(row.types[0].split(".")))
        with pytest.raises(Refused):
            find(form)


@pytest.mark.parametrize(
    "opcode",
    ["add.u8", "add.sat.u32", "mul.s32", "mul.wide.s64", "fma.f32", "setp.f32", "setp.lo.f32",
     "add.ftz.f64", "min.relu.u32", "shf.l.b32", "shfl.sync.b32", "vote.sync.pred", "vote.sync.b32",
     "redux.sync.s32", "redux.sync.add.b32", "testp.f32", "szext.u32", "frobnicate.b32",
     "fma.rn.ftz.bf16", "div.f64", "sqrt.f32", "dp2a.u32.u32", "mad24.s32", "add.cc.u16"],
)  # fmt: skip
def test_forms_that_do_not_exist_are_refused(opcode: str) -> None:
    form = parse_form(opcode)
    with pytest.raises(Refused):
        find(form).bind(form)

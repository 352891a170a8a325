"""Comparing and selecting: set, setp, selp, slct.

PTX ISA 9.0, 9.3.1 (comparisons), 9.7.6 and 9.7.7 (set, setp, selp, slct).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from prismc.emulator.semantics.lanes import (
    Lanes,
    constant,
    elements,
    floats,
    integers,
    joined,
    required,
    scalar_of,
)
from prismc.emulator.semantics.patterns import flush
from prismc.emulator.semantics.registry import Form, Operation, bits_of, instruction

_FLOATS = ("f16", "bf16", "f32", "f64")
_INTEGERS = "b16 b32 b64 u16 u32 u64 s16 s32 s64"

_RELATIONS: dict[str, Operation] = {
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),
    "nan": lambda a, b: (a != a) | (b != b),
}
_INTEGER_RELATIONS: dict[str, Operation] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
_COMBINE: dict[str, Operation] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}

# The modifiers that each group of source types allows: relations, and how to combine.
_JOINS = " ".join(_COMBINE)
_FLOAT_MODIFIERS = f"{' '.join(_RELATIONS)} {_JOINS}"
_SCALAR_GROUPS = {
    "b16 b32 b64": f"eq ne {_JOINS}",
    "s16 s32 s64": f"eq ne lt le gt ge {_JOINS}",
    "u16 u32 u64": f"{' '.join(_INTEGER_RELATIONS)} {_JOINS}",
    "bf16 f64": _FLOAT_MODIFIERS,
    "f16 f32": f"{_FLOAT_MODIFIERS} ftz",
}


def comparison(form: Form, type_name: str) -> Operation:
    """The form's relation on bit patterns of a scalar type; the result is bool.

    `lt` and its like are false, `ltu` and its like true, when an operand is a NaN (9.3.1.2).
    """
    if type_name not in _FLOATS:
        view, compare = integers(type_name), _INTEGER_RELATIONS[required(form, *_INTEGER_RELATIONS)]
        return lambda a, b: compare(view(a), view(b))
    see, compare = floats(type_name), _RELATIONS[required(form, *_RELATIONS)]
    if form.has("ftz"):
        return lambda a, b: compare(see(flush(a, type_name)), see(flush(b, type_name)))
    return lambda a, b: compare(see(a), see(b))


def _combined(form: Form, result: Lanes, predicate: tuple[Lanes, ...]) -> Lanes:
    """The relation's result joined with the predicate operand, where there is one."""
    if not predicate:
        return result
    return _COMBINE[required(form, *_COMBINE)](result, predicate[0])


def _comparing(
    name: str, groups: dict[str, str], sources: str, results: str = "T"
) -> Callable[[Callable[[Form], Operation]], Callable[[Form], Operation]]:
    """Registers one binder for groups of types, each with the modifiers it allows."""

    def register(bind: Callable[[Form], Operation]) -> Callable[[Form], Operation]:
        for types, modifiers in groups.items():
            instruction(
                name,
                types=types,
                sources=sources,
                results=results,
                optional=1,
                modifiers=modifiers,
            )(bind)
        return bind

    return register


@_comparing("setp", _SCALAR_GROUPS, sources="T T pred", results="pred pred")
def set_predicate(form: Form) -> Operation:
    """p = (a R b) op c and q = !(a R b) op c (9.7.6.2 and 9.7.7.2, setp)."""
    compare = comparison(form, form.types[0])

    def predicates(a: Lanes, b: Lanes, *c: Lanes) -> tuple[Lanes, Lanes]:
        result = compare(a, b)
        return _combined(form, result, c), _combined(form, ~result, c)

    return predicates


@_comparing(
    "setp",
    {"bf16x2": _FLOAT_MODIFIERS, "f16x2": f"{_FLOAT_MODIFIERS} ftz"},
    sources="T T pred",
    results="pred pred",
)
def set_predicate_pair(form: Form) -> Operation:
    """p and q are the results of the low and the high halves (9.7.7.2, setp)."""
    compare = comparison(form, scalar_of(form.types[0]))

    def predicates(a: Lanes, b: Lanes, *c: Lanes) -> tuple[Lanes, Lanes]:
        result = compare(elements(a, 16), elements(b, 16))
        return _combined(form, result[..., 0], c), _combined(form, result[..., 1], c)

    return predicates


def _truth(type_name: str) -> Any:
    """What `set` writes for true: 1.0 in a float type, all ones in an integer type."""
    if type_name in _FLOATS:
        one = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF << 52}[type_name]
        return constant(one, bits_of(type_name))
    return constant(-1, bits_of(type_name))


def _cross(results: str, sources: str) -> str:
    """All pairs `result.source` of two lists of types."""
    return " ".join(f"{first}.{second}" for first in results.split() for second in sources.split())


_SET_RESULTS = "u16 s16 u32 s32 f16 bf16 f32"


@_comparing(
    "set",
    {_cross(_SET_RESULTS, types): modifiers for types, modifiers in _SCALAR_GROUPS.items()},
    sources="T1 T1 pred",
)
def set_value(form: Form) -> Operation:
    """All ones, or 1.0, if (a R b) op c, else 0 (9.7.6.1 and 9.7.7.1, set)."""
    compare, true = comparison(form, form.types[1]), _truth(form.types[0])
    false = true.dtype.type(0)

    def value(a: Lanes, b: Lanes, *c: Lanes) -> Lanes:
        return np.where(_combined(form, compare(a, b), c), true, false)

    return value


@_comparing(
    "set",
    {
        _cross("u32 s32 bf16x2", "bf16x2"): _FLOAT_MODIFIERS,
        _cross("u32 s32 f16x2", "f16x2"): f"{_FLOAT_MODIFIERS} ftz",
    },
    sources="T1 T1 pred",
)
def set_value_pair(form: Form) -> Operation:
    """Each half of the result from the halves of the operands (9.7.7.1, set).

    A `.u32` or `.s32` result has 0xffff in each half that is true.
    """
    compare = comparison(form, scalar_of(form.types[1]))
    true = _truth(scalar_of(form.types[0])) if "x2" in form.types[0] else constant(-1, 16)
    false = true.dtype.type(0)

    def value(a: Lanes, b: Lanes, *c: Lanes) -> Lanes:
        result = compare(elements(a, 16), elements(b, 16))
        predicate = tuple(each[..., None] for each in c)
        return joined(np.where(_combined(form, result, predicate), true, false), 32)

    return value


_MOVABLE = f"{_INTEGERS} f32 f64"


@instruction("selp", types=_MOVABLE, sources="T T pred")
def select(form: Form) -> Operation:
    """a if the predicate is true, else b (9.7.6.3, selp)."""
    return lambda a, b, predicate: np.where(predicate, a, b)


@instruction("slct", types=_cross(_MOVABLE, "s32"), sources="T0 T0 T1")
@instruction("slct", types=_cross(_MOVABLE, "f32"), sources="T0 T0 T1", modifiers="ftz")
def select_by_sign(form: Form) -> Operation:
    """a if c >= 0, else b; a NaN selects b, -0.0 selects a (9.7.6.4, slct)."""
    if form.types[1] == "s32":
        return lambda a, b, c: np.where(c.view(np.int32) >= 0, a, b)
    if form.has("ftz"):
        return lambda a, b, c: np.where(flush(c, "f32").view(np.float32) >= 0, a, b)
    return lambda a, b, c: np.where(c.view(np.float32) >= 0, a, b)

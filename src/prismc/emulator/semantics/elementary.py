"""Approximate functions: rsqrt, sin, cos, lg2, ex2, tanh, and the coarse f64 reciprocals.

PTX ISA 9.0, 9.7.3.14 to 9.7.3.22 and 9.7.4.9, 9.7.4.10. Each is computed in float64 and rounded
once to its type, well inside the error that the ISA allows; the corner cases are the ISA's tables.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.semantics.floats import RECIPROCAL, ROUNDINGS, arithmetic
from prismc.emulator.semantics.formats import FORMATS, round_values, widen
from prismc.emulator.semantics.lanes import Lanes, elementwise, required, scalar_of, unsigned
from prismc.emulator.semantics.patterns import flush, is_nan
from prismc.emulator.semantics.registry import Form, Operation, instruction

_HALVES = "f16 f16x2 bf16 bf16x2"


def _function(form: Form, compute: Operation) -> Operation:
    """`compute` on the values of the form's scalar type, with `.ftz` before and after."""
    required(form, "approx")
    scalar = scalar_of(form.types[0])

    def rounded(a: Lanes) -> Lanes:
        if form.has("ftz"):
            a = flush(a, scalar)
        values = compute(widen(a, scalar))
        if scalar == "f32":
            result = unsigned(values.astype(np.float32))
        else:
            result = round_values(values, FORMATS[scalar])
        return flush(result, scalar) if form.has("ftz") else result

    return elementwise(rounded, form.types[0])


@instruction("rsqrt", types="f32", modifiers="approx ftz")
def reciprocal_root(form: Form) -> Operation:
    """1 / sqrt(a), relative error up to 2**-22.9 allowed (9.7.3.16, rsqrt)."""
    return _function(form, lambda a: 1 / np.sqrt(a))


@instruction("sin", types="f32", modifiers="approx ftz")
def sine(form: Form) -> Operation:
    """Sine of an angle in radians, absolute error up to 2**-20.5 allowed (9.7.3.18, sin)."""
    return _function(form, np.sin)


@instruction("cos", types="f32", modifiers="approx ftz")
def cosine(form: Form) -> Operation:
    """Cosine of an angle in radians, absolute error up to 2**-20.5 allowed (9.7.3.19, cos)."""
    return _function(form, np.cos)


@instruction("lg2", types="f32", modifiers="approx ftz")
def logarithm(form: Form) -> Operation:
    """Logarithm to base 2, error up to 2**-22 allowed (9.7.3.20, lg2)."""
    return _function(form, np.log2)


@instruction("ex2", types="f32", modifiers="approx ftz")
@instruction("ex2", types="f16 f16x2", modifiers="approx")
@instruction("ex2", types="bf16 bf16x2", modifiers="approx ftz")
def exponential(form: Form) -> Operation:
    """2**a; 2 ulp allowed in f32, a relative 2**-9.9 in f16, 2**-7 in bf16 (9.7.3.21, 9.7.4.10)."""
    return _function(form, np.exp2)


@instruction("tanh", types=f"f32 {_HALVES}", modifiers="approx")
def hyperbolic_tangent(form: Form) -> Operation:
    """Hyperbolic tangent; relative error up to 2**-11 allowed in f32 (9.7.3.22, 9.7.4.9, tanh)."""
    return _function(form, np.tanh)


@instruction("rcp", types="f64", modifiers="rn rz rm rp approx ftz")
def reciprocal_double(form: Form) -> Operation:
    """1 / a in f64, rounded, or from and to the upper 32 bits (9.7.3.13 and 9.7.3.14, rcp)."""
    if required(form, *ROUNDINGS, "approx") == "approx":
        return _upper_words(form, lambda a: 1 / a)
    return arithmetic(form, RECIPROCAL)


@instruction("rsqrt", types="f64", modifiers="approx ftz")
def reciprocal_root_double(form: Form) -> Operation:
    """1 / sqrt(a) in f64; `.ftz` from and to the upper 32 bits (9.7.3.16 and 9.7.3.17, rsqrt)."""
    required(form, "approx")
    if form.has("ftz"):
        return _upper_words(form, lambda a: 1 / np.sqrt(a))
    return lambda a: unsigned(1 / np.sqrt(a.view(np.float64)))


def _upper_words(form: Form, compute: Operation) -> Operation:
    """A function of the upper 32 bits of an f64, whose result has the lower 32 bits zero.

    Subnormals count as zeros; a NaN becomes 0x7fffffff00000000.
    """
    required(form, "ftz")
    upper = np.uint64(0xFFFFFFFF00000000)
    canonical = np.uint64(0x7FFFFFFF00000000)

    def rounded(a: Lanes) -> Lanes:
        result = flush(unsigned(compute(flush(a & upper, "f64").view(np.float64))) & upper, "f64")
        return np.where(is_nan(result, "f64"), canonical, result)

    return rounded

"""Float instructions that round nothing: testp, copysign, abs, neg, min, max.

PTX ISA 9.0, 9.7.3 (f32, f64) and 9.7.4 (f16, bf16 and their packed forms).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from prismc.emulator.semantics.formats import FORMATS
from prismc.emulator.semantics.lanes import (
    Lanes,
    constant,
    elementwise,
    floats,
    required,
    scalar_of,
    unsigned,
)
from prismc.emulator.semantics.patterns import any_nan, flush, is_nan
from prismc.emulator.semantics.registry import Form, Operation, bits_of, instruction


@instruction(
    "testp",
    types="f32 f64",
    results="pred",
    modifiers="finite infinite number notanumber normal subnormal",
)
def test_property(form: Form) -> Operation:
    """What kind of number a float is; zeros count as normal (9.7.3.1, testp)."""
    scalar = form.types[0]
    target = FORMATS[scalar]
    magnitude = constant((1 << (target.width - 1)) - 1, target.width)
    infinity = constant(target.largest + 1, target.width)
    least = constant(1 << (target.precision - 1), target.width)

    tests: dict[str, Operation] = {
        "finite": lambda size: size < infinity,
        "infinite": lambda size: size == infinity,
        "number": lambda size: size <= infinity,
        "notanumber": lambda size: size > infinity,
        "normal": lambda size: ((size >= least) & (size < infinity)) | (size == 0),
        "subnormal": lambda size: (size > 0) & (size < least),
    }
    test = tests[required(form, *tests)]
    return lambda a: test(a & magnitude)


def _sign_bit(type_name: str) -> Any:
    return constant(1 << (bits_of(type_name) - 1), bits_of(type_name))


@instruction("copysign", types="f32 f64", sources="T T")
def copy_sign(form: Form) -> Operation:
    """b with the sign of a (9.7.3.2, copysign)."""
    sign = _sign_bit(form.types[0])
    return lambda a, b: (a & sign) | (b & ~sign)


@instruction("abs", types="f64 bf16 bf16x2")
@instruction("abs", types="f32 f16 f16x2", modifiers="ftz")
def absolute(form: Form) -> Operation:
    """a without its sign, also of a NaN (9.7.3.9 and 9.7.4.6, abs)."""
    scalar = scalar_of(form.types[0])
    sign = _sign_bit(scalar)
    return elementwise(_flushing(form, scalar, lambda a: a & ~sign), form.types[0])


@instruction("neg", types="f64 bf16 bf16x2")
@instruction("neg", types="f32 f16 f16x2", modifiers="ftz")
def negate(form: Form) -> Operation:
    """a with the other sign, also of a NaN (9.7.3.10 and 9.7.4.5, neg)."""
    scalar = scalar_of(form.types[0])
    sign = _sign_bit(scalar)
    return elementwise(_flushing(form, scalar, lambda a: a ^ sign), form.types[0])


def _flushing(form: Form, scalar: str, operation: Operation) -> Operation:
    if not form.has("ftz"):
        return operation
    return lambda *sources: operation(*(flush(source, scalar) for source in sources))


_EXTREMES = "NaN xorsign abs"


@instruction("min", types="f64", sources="T T")
@instruction("min", types="f32", sources="T T T", optional=1, modifiers=f"{_EXTREMES} ftz")
@instruction("min", types="f16 f16x2", sources="T T", modifiers=f"{_EXTREMES} ftz")
@instruction("min", types="bf16 bf16x2", sources="T T", modifiers=_EXTREMES)
def minimum(form: Form) -> Operation:
    """The lesser float; -0 is below +0 (9.7.3.11 and 9.7.4.7, min).

    A NaN gives way to a number, or, with `.NaN`, makes the result the canonical NaN. `.abs`
    compares magnitudes; `.xorsign` gives the result the product's sign.
    """
    return _extreme(form, np.fmin, np.minimum, np.bitwise_or)


@instruction("max", types="f64", sources="T T")
@instruction("max", types="f32", sources="T T T", optional=1, modifiers=f"{_EXTREMES} ftz")
@instruction("max", types="f16 f16x2", sources="T T", modifiers=f"{_EXTREMES} ftz")
@instruction("max", types="bf16 bf16x2", sources="T T", modifiers=_EXTREMES)
def maximum(form: Form) -> Operation:
    """The greater float; modifiers as for `min` (9.7.3.12 and 9.7.4.8, max)."""
    return _extreme(form, np.fmax, np.maximum, np.bitwise_and)


def _extreme(
    form: Form, choose: Operation, spreading: Operation, of_equals: Operation
) -> Operation:
    """`choose` lets a NaN give way, `spreading` passes it on.

    `of_equals` joins the patterns of two equal numbers: they differ only if they are zeros.
    """
    scalar = scalar_of(form.types[0])
    see, canonical = floats(scalar), constant(FORMATS[scalar].nan, bits_of(scalar))
    choose = spreading if form.has("NaN") else choose
    sign = _sign_bit(scalar)

    def narrowed(values: Lanes) -> Lanes:
        return (unsigned(values) >> 16).astype(np.uint16) if scalar == "bf16" else unsigned(values)

    def of_two(a: Lanes, b: Lanes) -> Lanes:
        first, second = see(a), see(b)
        result = choose(first, second)
        chosen, equal = narrowed(result), first == second
        if equal.any():
            chosen = np.where(equal, of_equals(a, b), chosen)
        return np.where(np.isnan(result), canonical, chosen) if any_nan(result) else chosen

    def of_all(*sources: Lanes) -> Lanes:
        sizes = [source & ~sign for source in sources] if form.has("abs") else list(sources)
        result = sizes[0]
        for size in sizes[1:]:
            result = of_two(result, size)
        if form.has("xorsign"):
            signed = result | ((sources[0] ^ sources[1]) & sign)
            result = np.where(is_nan(result, scalar), result, signed)
        return result

    return elementwise(_flushing(form, scalar, of_all), form.types[0])

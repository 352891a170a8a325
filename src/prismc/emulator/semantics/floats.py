"""Float arithmetic: add, sub, mul, fma, mad, div, rcp, sqrt with every rounding and modifier.

PTX ISA 9.0, 9.7.3 (f32, f64), 9.7.4 (f16, bf16 and their packed forms), 9.7.5 (mixed precision).
Rounding to nearest in f16, f32 and f64 is NumPy's own. Everything else is computed with the exact
error beside it (`exact`) and rounded once (`formats`).

A NaN that f16, bf16 or f32 arithmetic makes is unspecified (9.7.3): here always the canonical one,
as on the hardware. In f64 a NaN operand is passed on, quiet, the first one if there are several.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prismc.emulator.semantics import exact
from prismc.emulator.semantics.formats import FORMATS, round_pair, widen
from prismc.emulator.semantics.lanes import (
    Lanes,
    constant,
    elementwise,
    floats,
    required,
    scalar_of,
    unsigned,
)
from prismc.emulator.semantics.patterns import (
    any_nan,
    flush,
    is_nan,
    rectify,
    saturate,
    upper_bits,
)
from prismc.emulator.semantics.registry import Form, Operation, bits_of, instruction
from prismc.source.record import Record

ROUNDINGS = ("rn", "rz", "rm", "rp")
_DIRECTED = " ".join(ROUNDINGS)


class Arithmetic(Record):
    """One operation in the ways it can be computed.

    `native` works on values of an IEEE type and rounds to nearest. `narrow` takes float64 values
    of at most 24 significant bits and returns the exact pair; `wide` any finite float64 values,
    with the exponent apart. `addends` are what the operation adds, for the sign of an exact zero.
    """

    native: Operation
    narrow: Callable[..., exact.Pair]
    wide: Callable[..., exact.Scaled]
    addends: Callable[..., tuple[Lanes, Lanes]] | None = None


def _native_multiply_add(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    if a.dtype == np.float64:
        return _fused_double(a, b, c)
    if a.dtype == np.float32:
        return _fused_single(a, b, c)
    # 22 bits of product and 11 of addend meet in 53 bits, or the smaller is below a half ulp.
    double = np.float64
    return (a.astype(double) * b.astype(double) + c.astype(double)).astype(a.dtype)


def _fused_single(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """fma of float32: the product is exact in float64, so only the addition rounds.

    Rounding twice differs from once only if the first lands on a tie of the second, or in the
    subnormal range, where ties lie elsewhere; those lanes are done again, rounded to odd.
    """
    product = a.astype(np.float64) * b
    total = product + c
    result = total.astype(np.float32)
    tie = total.view(np.uint64) & np.uint64(0x1FFFFFFF) == 0x10000000
    tie |= result.view(np.uint32) << 1 < 0x01000001
    tie &= result != 0
    if not tie.any():
        return result
    addend = np.broadcast_to(c, tie.shape)[tie].astype(np.float64)
    odd = exact.to_odd(*exact.two_sum(np.broadcast_to(product, tie.shape)[tie], addend))
    result[tie] = odd.astype(np.float32)
    return result


def _fused_double(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    result, doubtful = exact.likely_fused_double(a, b, c)
    if doubtful.any():
        operands = (np.broadcast_to(each, doubtful.shape)[doubtful] for each in (a, b, c))
        result[doubtful] = _fused_double_with_care(*operands)
    return result


def _fused_double_with_care(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    result, trusted = exact.fused_double(a, b, c)
    if trusted.all():
        return result
    rest = ~trusted
    operands = [each[rest] for each in (a, b, c)]
    high, low, exponent = exact.scaled_multiply_add(*operands)
    # An exact zero takes the sign that the plain sum gives it.
    rounded = round_pair(high, low, FORMATS["f64"], "rn", exponent).view(np.float64)
    result[rest] = np.where(high == 0, operands[0] * operands[1] + operands[2], rounded)
    return result


ADD = Arithmetic(
    native=np.add, narrow=exact.add, wide=exact.scaled_add, addends=lambda a, b: (a, b)
)
SUBTRACT = Arithmetic(
    native=np.subtract,
    narrow=exact.subtract,
    wide=exact.scaled_subtract,
    addends=lambda a, b: (a, -b),
)
MULTIPLY = Arithmetic(native=np.multiply, narrow=exact.multiply, wide=exact.scaled_multiply)
MULTIPLY_ADD = Arithmetic(
    native=_native_multiply_add,
    narrow=exact.multiply_add,
    wide=exact.scaled_multiply_add,
    addends=lambda a, b, c: (a * b, c),
)
DIVIDE = Arithmetic(native=np.divide, narrow=exact.divide, wide=exact.scaled_divide)
SQUARE_ROOT = Arithmetic(native=np.sqrt, narrow=exact.square_root, wide=exact.scaled_square_root)
RECIPROCAL = Arithmetic(
    native=lambda a: 1 / a,
    narrow=lambda a: exact.divide(np.ones_like(a), a),
    wide=lambda a: exact.scaled_divide(np.ones_like(a), a),
)


def arithmetic(form: Form, operation: Arithmetic) -> Operation:
    """The operation that `form` asks for, on bit patterns of its first type."""
    scalar = scalar_of(form.types[0])
    rounding = form.one_of(*ROUNDINGS, default="rn")
    compute = _with_limits(form, scalar, _rounded(operation, scalar, rounding))
    return elementwise(compute, form.types[0])


def _rounded(operation: Arithmetic, scalar: str, rounding: str) -> Operation:
    if rounding == "rn" and scalar == "f64":
        return _double(operation.native)
    if rounding == "rn" and scalar != "bf16":
        return _single_or_half(operation.native, scalar)
    if scalar == "f64":
        return _directed_double(operation, rounding)
    target = FORMATS[scalar]
    if rounding == "rn":
        return _brain(operation)

    def narrow(*sources: Lanes) -> Lanes:
        values = [widen(source, scalar) for source in sources]
        high, low = operation.narrow(*values)
        result = round_pair(high, low, target, rounding)
        return _zero_sign(operation, rounding, values, high, result)

    return narrow


def _single_or_half(native: Operation, scalar: str) -> Operation:
    view = floats(scalar)
    canonical = constant(FORMATS[scalar].nan, bits_of(scalar))

    def compute(*sources: Lanes) -> Lanes:
        result = native(*map(view, sources))
        bits = unsigned(result)
        if scalar == "f32" and not any_nan(result):
            return bits
        return np.where(is_nan(bits, scalar), canonical, bits)

    return compute


def _double(native: Operation) -> Operation:
    """The NaN of an invalid operation is the one that the hardware makes."""
    default = np.uint64(0xFFF8000000000000)
    quiet = np.uint64(0x0008000000000000)

    def compute(*sources: Lanes) -> Lanes:
        values = [source.view(np.float64) for source in sources]
        result = native(*values)
        bits = unsigned(result)
        if not any_nan(result):
            return bits
        nan: Lanes = default
        for value, source in zip(reversed(values), reversed(sources), strict=True):
            nan = np.where(np.isnan(value), source | quiet, nan)
        return np.where(np.isnan(result), nan, bits)

    return compute


def _brain(operation: Arithmetic) -> Operation:
    """bf16 rounded to nearest: an f32 rounded to odd first, whose upper half is then rounded."""

    def compute(*sources: Lanes) -> Lanes:
        values = [widen(source, "bf16") for source in sources]
        bits = upper_bits(exact.to_odd_single(*operation.narrow(*values)), 16)
        return bits.astype(np.uint16)

    return compute


def _directed_double(operation: Arithmetic, rounding: str) -> Operation:
    plain = _double(operation.native)

    def directed(*sources: Lanes) -> Lanes:
        values = [source.view(np.float64) for source in sources]
        high, low, exponent = operation.wide(*values)
        finite = high != 0
        for value in values:
            finite &= np.isfinite(value)
        rounded = round_pair(high, low, FORMATS["f64"], rounding, exponent)
        # An exact zero, an infinity and a NaN need no rounding.
        result = np.where(finite, rounded, plain(*sources))
        return _zero_sign(operation, rounding, values, high, result)

    return directed


def _zero_sign(
    operation: Arithmetic, rounding: str, values: list[Lanes], high: Lanes, result: Lanes
) -> Lanes:
    """Rounding down, an exactly zero sum is -0 unless both addends are +0 (IEEE 754, 6.3)."""
    if rounding != "rm" or operation.addends is None:
        return result
    first, second = operation.addends(*values)
    negative = (high == 0) & (np.signbit(first) | np.signbit(second))
    sign = result.dtype.type(1 << (result.itemsize * 8 - 1))
    return np.where(negative, sign, result)


def _with_limits(form: Form, scalar: str, compute: Operation) -> Operation:
    """`compute` between the flushes, clamps and replacements that the form's modifiers ask for."""
    if form.has("ftz"):
        compute = _flushed(compute, scalar)
    after = {"sat": saturate, "relu": rectify}.get(form.one_of("sat", "relu"))
    if after is not None:
        compute = _followed(compute, after, scalar)
    return _without_outside(compute, scalar) if form.has("oob") else compute


def _flushed(compute: Operation, scalar: str) -> Operation:
    return lambda *sources: flush(compute(*(flush(each, scalar) for each in sources)), scalar)


def _followed(compute: Operation, after: Callable[[Lanes, str], Lanes], scalar: str) -> Operation:
    return lambda *sources: after(compute(*sources), scalar)


def _without_outside(compute: Operation, scalar: str) -> Operation:
    """`.oob`: an operand that is the NaN of an element out of bounds makes the result +0.

    That NaN is 0xffff (CUDA driver API: `CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA`).
    """

    def inside(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        outside = (a == 0xFFFF) | (b == 0xFFFF)
        return np.where(outside, a.dtype.type(0), compute(a, b, c))

    return inside


@instruction("add", types="f64", sources="T T", modifiers=_DIRECTED)
@instruction("add", types="f32", sources="T T", modifiers=f"{_DIRECTED} ftz sat")
@instruction("add", types="f32x2", sources="T T", modifiers=f"{_DIRECTED} ftz")
@instruction("add", types="f16 f16x2", sources="T T", modifiers="rn ftz sat")
@instruction("add", types="bf16 bf16x2", sources="T T", modifiers="rn")
def add(form: Form) -> Operation:
    """Sum (PTX ISA 9.0, 9.7.3.3 and 9.7.4.1, add)."""
    return arithmetic(form, ADD)


@instruction("sub", types="f64", sources="T T", modifiers=_DIRECTED)
@instruction("sub", types="f32", sources="T T", modifiers=f"{_DIRECTED} ftz sat")
@instruction("sub", types="f32x2", sources="T T", modifiers=f"{_DIRECTED} ftz")
@instruction("sub", types="f16 f16x2", sources="T T", modifiers="rn ftz sat")
@instruction("sub", types="bf16 bf16x2", sources="T T", modifiers="rn")
def subtract(form: Form) -> Operation:
    """Difference (PTX ISA 9.0, 9.7.3.4 and 9.7.4.2, sub)."""
    return arithmetic(form, SUBTRACT)


@instruction("mul", types="f64", sources="T T", modifiers=_DIRECTED)
@instruction("mul", types="f32", sources="T T", modifiers=f"{_DIRECTED} ftz sat")
@instruction("mul", types="f32x2", sources="T T", modifiers=f"{_DIRECTED} ftz")
@instruction("mul", types="f16 f16x2", sources="T T", modifiers="rn ftz sat")
@instruction("mul", types="bf16 bf16x2", sources="T T", modifiers="rn")
def multiply(form: Form) -> Operation:
    """Product (PTX ISA 9.0, 9.7.3.5 and 9.7.4.3, mul)."""
    return arithmetic(form, MULTIPLY)


@instruction("mad", types="f64", sources="T T T", modifiers=_DIRECTED)
@instruction("mad", types="f32", sources="T T T", modifiers=f"{_DIRECTED} ftz sat")
@instruction("fma", types="f64", sources="T T T", modifiers=_DIRECTED)
@instruction("fma", types="f32", sources="T T T", modifiers=f"{_DIRECTED} ftz sat")
@instruction("fma", types="f32x2", sources="T T T", modifiers=f"{_DIRECTED} ftz")
@instruction("fma", types="f16 f16x2", sources="T T T", modifiers="rn ftz sat relu oob")
@instruction("fma", types="bf16 bf16x2", sources="T T T", modifiers="rn relu oob")
def multiply_add(form: Form) -> Operation:
    """a * b + c rounded once (PTX ISA 9.0, 9.7.3.6, 9.7.3.7 and 9.7.4.4, fma and mad)."""
    required(form, *ROUNDINGS)
    return arithmetic(form, MULTIPLY_ADD)


@instruction("add", types="f32.f16 f32.bf16", sources="T1 T0", modifiers=f"{_DIRECTED} sat")
def add_mixed(form: Form) -> Operation:
    """Sum of a narrower operand and an f32 (PTX ISA 9.0, 9.7.5.1, add)."""
    return _mixed(form, ADD, 1)


@instruction("sub", types="f32.f16 f32.bf16", sources="T1 T0", modifiers=f"{_DIRECTED} sat")
def subtract_mixed(form: Form) -> Operation:
    """Difference of a narrower operand and an f32 (PTX ISA 9.0, 9.7.5.2, sub)."""
    return _mixed(form, SUBTRACT, 1)


@instruction("fma", types="f32.f16 f32.bf16", sources="T1 T1 T0", modifiers=f"{_DIRECTED} sat")
def multiply_add_mixed(form: Form) -> Operation:
    """a * b + c of narrower factors and an f32 addend (PTX ISA 9.0, 9.7.5.3, fma)."""
    return _mixed(form, MULTIPLY_ADD, 2)


def _mixed(form: Form, operation: Arithmetic, narrower: int) -> Operation:
    view, compute = floats(form.types[1]), arithmetic(form, operation)

    def mixed(*sources: Lanes) -> Lanes:
        widened = (unsigned(view(each).astype(np.float32)) for each in sources[:narrower])
        return compute(*widened, *sources[narrower:])

    return mixed


@instruction("div", types="f64", sources="T T", modifiers=_DIRECTED)
@instruction("div", types="f32", sources="T T", modifiers=f"{_DIRECTED} approx full ftz")
def divide(form: Form) -> Operation:
    """Quotient (PTX ISA 9.0, 9.7.3.8, div).

    `.full` allows 2 ulp and is correctly rounded here. `.approx` is too, save where the ISA says
    what else it gives: for |b| above 2**126 a zero, or a NaN if a is infinite.
    """
    required(form, *ROUNDINGS, "approx", "full")
    compute = arithmetic(form, DIVIDE)
    return _approximate_quotient(compute) if form.has("approx") else compute


def _approximate_quotient(compute: Operation) -> Operation:
    def quotient(a: Lanes, b: Lanes) -> Lanes:
        size = b & np.uint32(0x7FFFFFFF)
        large = (size > 0x7E800000) & (size < 0x7F800000)
        infinite = a & np.uint32(0x7FFFFFFF) == 0x7F800000
        zero = np.where(infinite, np.uint32(0x7FFFFFFF), (a ^ b) & np.uint32(0x80000000))
        return np.where(large & ~is_nan(a, "f32"), zero, compute(a, b))

    return quotient


@instruction("rcp", types="f32", sources="T", modifiers=f"{_DIRECTED} approx ftz")
def reciprocal_single(form: Form) -> Operation:
    """1 / a; `.approx` allows 1 ulp (PTX ISA 9.0, 9.7.3.13, rcp)."""
    required(form, *ROUNDINGS, "approx")
    return arithmetic(form, RECIPROCAL)


@instruction("sqrt", types="f64", sources="T", modifiers=_DIRECTED)
@instruction("sqrt", types="f32", sources="T", modifiers=f"{_DIRECTED} approx ftz")
def square_root(form: Form) -> Operation:
    """Square root; `.approx` allows a relative 2**-23 (PTX ISA 9.0, 9.7.3.15, sqrt)."""
    required(form, *ROUNDINGS, "approx")
    return arithmetic(form, SQUARE_ROOT)

"""Conversions between every pair of scalar types, and the packed narrow float formats.

PTX ISA 9.0, 9.7.9.21 (cvt) and 9.7.9.22 (cvt.pack); 6.5.1 (scalar conversions).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from prismc.emulator.semantics.floats import ROUNDINGS
from prismc.emulator.semantics.formats import FORMATS, encode, round_values, widen
from prismc.emulator.semantics.lanes import (
    FLOATS,
    SIGNED,
    Lanes,
    constant,
    elements,
    floats,
    integers,
    is_signed,
    joined,
    required,
    scalar_of,
    unsigned,
)
from prismc.emulator.semantics.patterns import any_nan, flush, is_nan, rectify, saturate, upper_bits
from prismc.emulator.semantics.registry import (
    Form,
    Operation,
    Refused,
    bits_of,
    dtype_of,
    instruction,
)

_INTEGERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
_FLOATS = ("f16", "bf16", "f32", "f64")
_TO_INTEGRAL: dict[str, Operation] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_IRND = " ".join(_TO_INTEGRAL)
_FRND = " ".join(ROUNDINGS)


def _cross(results: tuple[str, ...], sources: tuple[str, ...]) -> str:
    return " ".join(f"{result}.{source}" for result in results for source in sources)


@instruction("cvt", types=_cross(_INTEGERS, _INTEGERS), sources="T1", modifiers="sat")
def integer_to_integer(form: Form) -> Operation:
    """Sign or zero extension, or the low bits; `.sat` clamps to the result's range."""
    result, source = form.types
    view, dtype = integers(source), dtype_of(result)
    if form.has("sat"):
        low, high = _range_within(result, source)
        return lambda a: np.clip(view(a), low, high).astype(dtype)
    return lambda a: view(a).astype(dtype)


def _range_within(result: str, source: str) -> tuple[int, int]:
    """The limits of `result`, as far as `source` can hold them."""
    (low, high), (least, most) = _limits(result), _limits(source)
    return max(low, least), min(high, most)


def _limits(type_name: str) -> tuple[int, int]:
    bits = bits_of(type_name)
    if is_signed(type_name):
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


@instruction("cvt", types=_cross(_FLOATS, _INTEGERS), sources="T1", modifiers=f"{_FRND} sat")
def integer_to_float(form: Form) -> Operation:
    """The integer rounded once; `.sat` clamps to [0, 1]."""
    result, source = form.types
    rounding = required(form, *ROUNDINGS)
    view = integers(source)
    dtype = {"f32": np.float32, "f64": np.float64}.get(result) if rounding == "rn" else None

    def converted(a: Lanes) -> Lanes:
        if dtype is not None:
            return unsigned(view(a).astype(dtype))
        wide = view(a).astype(SIGNED[64] if is_signed(source) else np.uint64)
        negative = wide < 0
        size = unsigned(np.where(negative, -wide, wide))
        return encode(negative, size, np.zeros(a.shape, np.int64), FORMATS[result], rounding)

    return _limited(form, result, converted)


@instruction("cvt", types=_cross(_INTEGERS, ("f32",)), sources="T1", modifiers=f"{_IRND} ftz sat")
@instruction(
    "cvt", types=_cross(_INTEGERS, ("f16", "bf16", "f64")), sources="T1", modifiers=f"{_IRND} sat"
)
def float_to_integer(form: Form) -> Operation:
    """Rounded to an integer and clamped to the result's range, `.sat` or not.

    A NaN gives 0, or, if the source is .f64 or the result has 64 bits, the top bit alone.
    """
    result, source = form.types
    round_to_integral = _TO_INTEGRAL[required(form, *_TO_INTEGRAL)]
    bits, dtype = bits_of(result), dtype_of(result)
    of_nan = dtype.type(1 << (bits - 1) if source == "f64" or bits == 64 else 0)
    clamped = _clamped_64(result) if bits == 64 else _clamped(result)

    def converted(a: Lanes) -> Lanes:
        whole = round_to_integral(widen(flush(a, source) if form.has("ftz") else a, source))
        if not any_nan(whole):
            return clamped(whole)
        nan = np.isnan(whole)
        return np.where(nan, of_nan, clamped(np.where(nan, 0.0, whole)))

    return converted


def _clamped(type_name: str) -> Operation:
    """Integral float64 values as a type of 32 bits or fewer, whose limits are floats too."""
    low, high = map(float, _limits(type_name))
    dtype = dtype_of(type_name)
    return lambda whole: np.clip(whole, low, high).astype(np.int64).astype(dtype)


def _clamped_64(type_name: str) -> Operation:
    """As a float the upper limit of a 64-bit type is the power of two above it."""
    low, high = _limits(type_name)
    least, most = np.uint64(low % (1 << 64)), np.uint64(high)
    dtype = np.int64 if is_signed(type_name) else np.uint64

    def clamped(whole: Lanes) -> Lanes:
        inside = (whole > low) & (whole < high)
        value = unsigned(np.where(inside, whole, 0.0).astype(dtype))
        return np.where(inside, value, np.where(whole >= high, most, least))

    return clamped


@instruction("cvt", types="f32.f32", sources="T1", modifiers=f"{_IRND} ftz sat")
@instruction("cvt", types="f16.f16 bf16.bf16 f64.f64", sources="T1", modifiers=f"{_IRND} sat")
def float_to_itself(form: Form) -> Operation:
    """A copy, or the value rounded to an integral one; `.ftz` flushes before and after."""
    scalar = form.types[0]
    integral = form.one_of(*_TO_INTEGRAL)
    convert = _integral(_TO_INTEGRAL[integral], scalar) if integral else lambda a: a
    return _limited(form, scalar, _flushed(form, convert))


def _integral(to_integral: Operation, scalar: str) -> Operation:
    see = floats(scalar)
    if scalar == "bf16":
        return lambda a: (unsigned(to_integral(see(a))) >> 16).astype(np.uint16)
    return lambda a: unsigned(to_integral(see(a)))


@instruction(
    "cvt", types="f16.f32 bf16.f32", sources="T1", modifiers=f"{_FRND} ftz sat satfinite relu"
)
@instruction(
    "cvt", types="f32.f16 f32.bf16 f32.f64 f64.f32", sources="T1", modifiers=f"{_FRND} ftz sat"
)
@instruction(
    "cvt", types="f16.bf16 f16.f64 bf16.f16 bf16.f64 f64.f16 f64.bf16", sources="T1",
    modifiers=f"{_FRND} sat",
)  # fmt: skip
def float_to_float(form: Form) -> Operation:
    """Widened exactly, or narrowed with one rounding.

    `.ftz` flushes f32 sources and results. `.satfinite` clamps to the largest finite number.
    """
    return _limited(form, form.types[0], _flushed(form, _converter(form)))


def _converter(form: Form) -> Operation:
    result, source = form.types
    finite = form.has("satfinite")
    if bits_of(result) > bits_of(source):
        see, dtype = floats(source), FLOATS[result]
        return lambda a: unsigned(see(a).astype(dtype))
    rounding = required(form, *ROUNDINGS)
    if rounding == "rn" and not finite:
        if (result, source) == ("bf16", "f32"):
            return lambda a: upper_bits(a, 16).astype(np.uint16)
        if result != "bf16":
            return _native(result, source)
    target = FORMATS[result]
    return lambda a: round_values(widen(a, source), target, rounding, finite)


def _native(result: str, source: str) -> Operation:
    """NumPy's casts round to nearest, each once."""
    see, dtype = floats(source), FLOATS[result]
    canonical = constant(FORMATS[result].nan, bits_of(result))

    def converted(a: Lanes) -> Lanes:
        value = unsigned(see(a).astype(dtype))
        return np.where(is_nan(value, result), canonical, value)

    return converted


def _flushed(form: Form, convert: Operation) -> Operation:
    """With `.ftz`, `convert` between flushes of what is f32."""
    if not form.has("ftz"):
        return convert
    result, source = form.types

    def flushing(a: Lanes) -> Lanes:
        value = convert(flush(a, source) if source == "f32" else a)
        return flush(value, result) if result == "f32" else value

    return flushing


def _limited(form: Form, result: str, convert: Operation) -> Operation:
    """`convert`, then `.sat` or `.relu`."""
    if form.has("sat"):
        return lambda *sources: saturate(convert(*sources), result)
    if form.has("relu"):
        return lambda *sources: rectify(convert(*sources), result)
    return convert


@instruction("cvt", types="tf32.f32", sources="T1", modifiers="rna rn rz satfinite relu")
def single_to_tf32(form: Form) -> Operation:
    """An f32 with 10 bits of fraction; the lower 13 bits of the register are zero.

    `.rna`, to nearest with ties away from zero, is what most code uses.
    """
    rounding = required(form, "rna", "rn", "rz")
    finite = form.has("satfinite")
    if rounding == "rz" or finite:
        target = FORMATS["tf32"]
        return _rectified(form, lambda a: round_values(widen(a, "f32"), target, rounding, finite))
    to_even = rounding == "rn"
    return _rectified(form, lambda a: upper_bits(a, 13, to_even) << np.uint32(13))


def _rectified(form: Form, convert: Operation) -> Operation:
    """`.relu` on tf32, whose register reads as an f32."""
    if not form.has("relu"):
        return convert

    def rectified(a: Lanes) -> Lanes:
        value = convert(a)
        negative = value & np.uint32(0x80000000) != 0
        return np.where(negative & ~is_nan(value, "f32"), np.uint32(0), value)

    return rectified


_PACKED_HALVES = "f16x2.f32 bf16x2.f32"


@instruction("cvt", types=_PACKED_HALVES, sources="T1 T1", modifiers="rn rz satfinite relu")
def singles_to_pair(form: Form) -> Operation:
    """Two f32: the first operand becomes the upper half, the second the lower."""
    result = scalar_of(form.types[0])
    convert = float_to_float(Form("cvt", form.modifiers, (result, "f32")))

    def packed(a: Lanes, b: Lanes) -> Lanes:
        return convert(a).astype(np.uint32) << 16 | convert(b)

    return packed


_BYTE_PAIRS = ("e4m3x2", "e5m2x2")


@cache
def _byte_table(target: str, source: str, relu: bool) -> Lanes:
    """The 8-bit float of every pattern of a 16-bit format, clamped to the finite ones."""
    with np.errstate(invalid="ignore"):
        values = widen(np.arange(1 << 16).astype(np.uint16), source)
        if relu:
            values = np.where(values <= 0, 0.0, values)
        return round_values(values, FORMATS[target], "rn", finite=True)


@instruction(
    "cvt", types=_cross(_BYTE_PAIRS, ("f32",)), sources="T1 T1", modifiers="rn satfinite relu"
)
def singles_to_bytes(form: Form) -> Operation:
    """Two f32 as 8-bit floats: the first operand becomes the upper byte, the second the lower."""
    required(form, "rn")
    table = _byte_table(scalar_of(form.types[0]), "bf16", form.has("relu"))

    def converted(a: Lanes) -> Lanes:
        # The upper half, with a last bit that says whether anything is below: rounded to odd.
        return table.take((a >> 16) | (a & np.uint32(0xFFFF) != 0))

    return lambda a, b: converted(a).astype(np.uint16) << 8 | converted(b)


@instruction(
    "cvt",
    types=_cross(_BYTE_PAIRS, ("f16x2", "bf16x2")),
    sources="T1",
    modifiers="rn satfinite relu",
)
def pair_to_bytes(form: Form) -> Operation:
    """Two packed halves as two packed 8-bit floats, in their places."""
    required(form, "rn")
    table = _byte_table(scalar_of(form.types[0]), scalar_of(form.types[1]), form.has("relu"))
    return lambda a: joined(table.take(elements(a, 16)), 16)


@instruction("cvt", types=_cross(("f16x2",), _BYTE_PAIRS), sources="T1", modifiers="rn relu")
def bytes_to_pair(form: Form) -> Operation:
    """Two packed 8-bit floats as two packed f16, in their places; every value is exact."""
    required(form, "rn")
    every = widen(np.arange(256).astype(np.uint8), scalar_of(form.types[1]))
    table = round_values(every, FORMATS["f16"])
    if form.has("relu"):
        table = rectify(table, "f16")
    return lambda a: joined(table.take(elements(a, 8)), 32)


@instruction(
    "cvt.pack",
    types="s16.s32 u16.s32",
    sources="T1 T1",
    results="b32",
    modifiers="pack sat",
)
@instruction(
    "cvt.pack",
    types="s8.s32.b32 u8.s32.b32 s4.s32.b32 u4.s32.b32",
    sources="T1 T1 T2",
    results="b32",
    modifiers="pack sat",
)
def pack(form: Form) -> Operation:
    """Two clamped integers side by side, b lowest, and below the top the low bits of c."""
    if not form.has("sat"):
        raise Refused(f"`{form}`: without `.sat`")
    bits = bits_of(form.types[0])
    low, high = _limits(form.types[0])

    def part(a: Lanes) -> Lanes:
        return unsigned(np.clip(a.view(np.int32), low, high)) & np.uint32((1 << bits) - 1)

    def packed(a: Lanes, b: Lanes, *c: Lanes) -> Lanes:
        both = part(a) << bits | part(b)
        return both | c[0] << 2 * bits if c else both

    return packed

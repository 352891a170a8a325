"""What the functions and operators of tests compute, with NumPy.

`prismc.checker.host` tells how each is called and what comes out; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from prismc.checker.host.operators import apply_number, combine_numbers
from prismc.driver.running import DTYPES, Array, from_bf16, to_bf16

# Integers that `random` makes are below this: few enough that sums stay exact.
RANDOM_BELOW = 100


def random_array(name: str, shape: tuple[int, ...], seeds: tuple[int, int]) -> Array:
    """Floats from -1 to 1, integers from 0 to 99, or bools; the same for the same seeds."""
    generator = np.random.default_rng(seeds)
    dtype = DTYPES[name]
    if dtype.kind == "f":
        return stored(name, generator.uniform(-1.0, 1.0, shape))
    most = 2 if dtype.kind == "b" else RANDOM_BELOW
    return generator.integers(0, most, shape).astype(dtype)


def made(maker: str, name: str, shape: tuple[int, ...]) -> Array:
    """`zeros`, `ones`, `iota` or `empty`; `empty` holds what no kernel is likely to leave."""
    dtype = DTYPES[name]
    match maker:
        case "zeros":
            return np.zeros(shape, dtype)
        case "ones":
            return stored(name, np.ones(shape))
        case "iota":
            return stored(name, np.arange(int(np.prod(shape))).reshape(shape))
        case _:
            unlikely = np.nan if dtype.kind == "f" else dtype.kind == "b" or 0x55
            return np.full(shape, unlikely, dtype)


def stored(name: str, values: Array) -> Array:
    """Values as a Prism type holds them; bf16 and tf32 are float32 with fewer bits."""
    with np.errstate(all="ignore"):
        array: Array = np.asarray(values).astype(DTYPES[name])
    if name == "bf16":
        return from_bf16(to_bf16(array)).reshape(array.shape)
    if name == "tf32":
        # To nearest, ties away from zero, as `cvt.rna.tf32.f32` (PTX ISA 9.7.9.21).
        bits = np.ascontiguousarray(array).view(np.uint32)
        rounded = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
        return np.where(np.isfinite(array), rounded.view(np.float32).reshape(array.shape), array)
    return array


def converted(name: str, value: Any) -> Any:
    """`f32(x)` of an array or a number. Integers wrap, floats lose their fraction."""
    if isinstance(value, np.ndarray):
        if DTYPES[name].kind in "iu" and value.dtype.kind == "f":
            value = np.trunc(value)
        return stored(name, value)
    kind = DTYPES[name].kind
    if kind == "f":
        return float(value)
    return bool(value) if kind == "b" else int(value)


# --------------------------------------------------------------------------- operators


def combined(sign: str, left: Any, right: Any) -> Any:
    """`left sign right`. Raises ArithmeticError, ValueError or TypeError where it has no value."""
    if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
        return combine_numbers(sign, left, right)
    with np.errstate(all="ignore"):
        left, right = _same_type(left, right)
        if sign in ("/", "%") and left.dtype.kind in "iu":
            return _divided(sign, left, right)
        function = np.fmod if sign == "%" else _OPERATORS[sign]
        return np.asarray(function(left, right))


def _same_type(left: Any, right: Any) -> tuple[Array, Array]:
    """Both as arrays; a number takes the type of the array. Raises OverflowError."""
    if not isinstance(left, np.ndarray):
        return np.asarray(left, right.dtype), right
    return left, right if isinstance(right, np.ndarray) else np.asarray(right, left.dtype)


def _divided(sign: str, left: Array, right: Array) -> Array:
    """Integers divided as C does. Raises ZeroDivisionError."""
    if not np.all(right):
        raise ZeroDivisionError("a division by 0")
    rest = np.fmod(left, right)
    return np.asarray(rest if sign == "%" else (left - rest) // right)


_OPERATORS: Mapping[str, Callable[[Array, Array], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "&": np.bitwise_and,
    "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift, ">>": np.right_shift,
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal,
}  # fmt: skip


def applied(sign: str, value: Any) -> Any:
    """`-x`, `+x`, `~x`, `not x`."""
    if not isinstance(value, np.ndarray):
        return apply_number(sign, value)
    function = {"-": np.negative, "~": np.invert, "not": np.logical_not, "+": np.positive}[sign]
    return np.asarray(function(value))


# --------------------------------------------------------------------------- functions


def near(found: Any, wanted: Any, rtol: float = 1e-3) -> Any:
    """Which elements are near enough, relative to the largest magnitude that is wanted."""
    is_array = isinstance(found, np.ndarray) or isinstance(wanted, np.ndarray)
    found, wanted = np.asarray(found), np.asarray(wanted)
    sizes = np.abs(wanted[np.isfinite(wanted)]).astype(np.float64)
    scale = float(sizes.max()) if sizes.size else 0.0
    with np.errstate(all="ignore"):
        is_near = np.isclose(
            found.astype(np.float64),
            wanted.astype(np.float64),
            rtol=rtol,
            atol=rtol * scale,
            equal_nan=True,
        )
    return np.asarray(is_near) if is_array else bool(is_near)


def _kept(function: Callable[..., Any]) -> Callable[..., Array]:
    """A function of NumPy whose result has its first argument's type."""

    def kept(value: Any, *more: Any, **named: Any) -> Any:
        if not isinstance(value, np.ndarray):
            found = function(value, *more, **named)
            return type(value)(found) if isinstance(value, int) else float(found)
        with np.errstate(all="ignore"):
            return np.asarray(function(value, *more, **named)).astype(value.dtype)

    return kept


def _float_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of floats: of a number it is a number."""

    def of_floats(value: Any) -> Any:
        with np.errstate(all="ignore"):
            found = function(value if isinstance(value, np.ndarray) else float(value))
        if isinstance(value, np.ndarray):
            return np.asarray(found)
        return bool(found) if isinstance(found, np.bool_ | bool) else float(found)

    return of_floats


def _positions(function: Callable[..., Any]) -> Callable[..., Array]:
    def positions(value: Array, **named: Any) -> Array:
        return np.asarray(function(value, **named)).astype(np.int32)

    return positions


def _extreme(function: Callable[..., Any], pairwise: Callable[..., Any]) -> Callable[..., Any]:
    """`max(x)`, `max(x, axis = 1)`, `max(a, b)`."""

    def extreme(*values: Any, **named: Any) -> Any:
        if len(values) == 1:
            return np.asarray(function(values[0], **named))
        left, right = values
        if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
            return np.asarray(pairwise(*_same_type(left, right)))
        return type(combine_numbers("+", left, right))(pairwise(left, right))

    return extreme


def _where(condition: Array, left: Any, right: Any) -> Array:
    return np.where(condition, *_same_type(left, right))


def _bincount(values: Array, size: int) -> Array:
    """How often each number below `size` is there. Raises ValueError for others."""
    if values.size and (int(values.min()) < 0 or int(values.max()) >= size):
        raise ValueError(f"a number that is not below {size}")
    return np.bincount(values.astype(np.int64), minlength=size).astype(np.int32)


def _take(value: Array, indices: Array) -> Array:
    """Elements, or rows, by their numbers. Raises IndexError."""
    if indices.size and int(indices.min()) < 0:
        raise IndexError(f"index {int(indices.min())} into {value.shape[0]}")
    return np.take(value, indices, axis=0)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{
        name: _float_function(getattr(np, name))
        for name in ("sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil", "isnan", "isinf")
    },
    **{
        name: _kept(getattr(np, name))
        for name in ("abs", "sum", "prod", "mean", "any", "all", "cumsum", "sort")
    },
    "max": _extreme(np.max, np.maximum),
    "min": _extreme(np.min, np.minimum),
    "argmax": _positions(np.argmax),
    "argmin": _positions(np.argmin),
    "where": _where,
    "reshape": lambda value, *shape: value.reshape(shape),
    "transpose": lambda value: value.T.copy(),
    "matmul": lambda left, right: np.asarray(np.matmul(left, right)),
    "outer": lambda left, right: np.outer(left, right),
    "bincount": _bincount,
    "take": _take,
    "size": lambda value: int(value.size),
    "near": near,
}

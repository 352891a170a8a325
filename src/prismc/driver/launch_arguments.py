"""The arguments of a launch as a command line names them: `n=4096`, `A=randn(64, 64)`, `x=@x.npy`.

| value | stands for |
|---|---|
| `12`, `-1.5`, `true` | a scalar |
| `zeros(S)`, `ones(S)` | an array of shape S |
| `arange(S)` | 0, 1, 2, ... |
| `randn(S)`, `rand(S)` | normal with deviation 1, uniform in [0, 1) |
| `randint(low, high, S)` | integers from low to high - 1 |
| `@file.npy` | what NumPy saved |

S are extents, separated by commas: numbers, or names of scalar arguments. Everything is checked
against the kernel's signature before anything runs. 16-bit brain floats are rounded to nearest.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.checker.types import typed
from prismc.checker.types.model import PointerType, ScalarType, VectorType
from prismc.checker.types.show import show
from prismc.emulator.host import Argument, Buffer
from prismc.hardware.scalars import BF16, Kind, Scalar
from prismc.source.record import Record

Array = npt.NDArray[Any]

_CALL = re.compile(r"([a-z]+)\s*\((.*)\)", re.DOTALL)
_LARGEST = 1 << 31  # bytes of one array


class ArgumentError(Exception):
    """Arguments that do not fit the kernel's signature; the text says which and why."""


class _Filling(Record):
    """What a word makes: `leads` numbers stand before the shape; `make` fills the array."""

    leads: int
    make: Callable[[np.random.Generator, tuple[int, ...], Sequence[float]], Array]


_FILLINGS = {
    "zeros": _Filling(leads=0, make=lambda _, shape, __: np.zeros(shape)),
    "ones": _Filling(leads=0, make=lambda _, shape, __: np.ones(shape)),
    "arange": _Filling(leads=0, make=lambda _, s, __: np.arange(int(np.prod(s))).reshape(s)),
    "randn": _Filling(leads=0, make=lambda random, shape, _: random.standard_normal(shape)),
    "rand": _Filling(leads=0, make=lambda random, shape, _: random.random(shape)),
    "randint": _Filling(
        leads=2, make=lambda random, shape, ends: random.integers(int(ends[0]), int(ends[1]), shape)
    ),
}


def make_arguments(
    kernel: typed.Instance, texts: Sequence[str], seed: int = 0
) -> tuple[Argument, ...]:
    """The arguments in the kernel's order, from one `NAME=VALUE` for each parameter.

    Random arrays depend on `seed` and on the parameter's name alone. Raises ArgumentError.
    """
    given = _by_name(kernel, texts)
    scalars = {
        parameter.name: _scalar(parameter, parameter.type.scalar, given[parameter.name])
        for parameter in kernel.parameters
        if isinstance(parameter.type, ScalarType)
    }
    arguments: list[Argument] = []
    for parameter in kernel.parameters:
        if parameter.name in scalars:
            arguments.append(_scalar_argument(parameter, scalars[parameter.name]))
        elif isinstance(parameter.type, PointerType):
            random = np.random.default_rng((seed, zlib.crc32(parameter.name.encode())))
            arguments.append(_buffer(parameter, given[parameter.name], scalars, random))
        else:
            raise _wrong(parameter, f"there is no way yet to write a {show(parameter.type)}")
    return tuple(arguments)


def _by_name(kernel: typed.Instance, texts: Sequence[str]) -> dict[str, str]:
    names = [parameter.name for parameter in kernel.parameters]
    given: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not value:
            raise ArgumentError(f"{text!r} is not of the form NAME=VALUE, as in `--arg n=128`")
        if name not in names:
            known = ", ".join(names) or "none"
            raise ArgumentError(
                f"kernel `{kernel.name}` has no parameter `{name}`; it has: {known}"
            )
        if name in given:
            raise ArgumentError(f"`{name}` is given twice")
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing:
        raise ArgumentError(f"kernel `{kernel.name}` needs `--arg` for: {', '.join(missing)}")
    return given


def _wrong(parameter: typed.Variable, reason: str) -> ArgumentError:
    return ArgumentError(f"`{parameter.name}`: {reason}")


# --------------------------------------------------------------------------- scalars


def _scalar(parameter: typed.Variable, scalar: Scalar, text: str) -> int | float:
    if text in ("true", "false"):
        value: int | float = int(text == "true")
    else:
        value = _number(parameter, text)
    if scalar.is_float:
        return float(value)
    if isinstance(value, float):
        raise _wrong(parameter, f"{text} is no {scalar}")
    lowest = -(1 << scalar.bits - 1) if scalar.kind is Kind.SIGNED else 0
    highest = 1 if scalar.kind is Kind.BOOL else lowest + (1 << scalar.bits) - 1
    if not lowest <= value <= highest:
        raise _wrong(parameter, f"{text} does not fit {scalar}: {lowest} to {highest}")
    return value


def _number(parameter: typed.Variable, text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise _wrong(parameter, f"{text!r} is no number") from None


def _scalar_argument(parameter: typed.Variable, value: int | float) -> Argument:
    assert isinstance(parameter.type, ScalarType)
    scalar = parameter.type.scalar
    if scalar.is_float:
        return _stored(parameter, scalar, np.array(value)).tobytes()
    return int(value)


# --------------------------------------------------------------------------- arrays


def _buffer(
    parameter: typed.Variable,
    text: str,
    scalars: Mapping[str, int | float],
    random: np.random.Generator,
) -> Buffer:
    assert isinstance(parameter.type, PointerType)
    element = parameter.type.element
    lanes = element.lanes if isinstance(element, VectorType) else 1
    scalar = element.element if isinstance(element, VectorType) else None
    scalar = element.scalar if isinstance(element, ScalarType) else scalar
    if scalar is None:
        raise _wrong(parameter, f"there is no way yet to write a {show(parameter.type)}")
    if text.startswith("@"):
        array = _loaded(parameter, text[1:], scalar)
    else:
        array = _filled(parameter, text, scalar, scalars, random)
    if array.size % lanes:
        raise _wrong(parameter, f"{array.size} numbers are no whole {show(element)} elements")
    return Buffer(array=array, name=parameter.name)


def _filled(
    parameter: typed.Variable,
    text: str,
    scalar: Scalar,
    scalars: Mapping[str, int | float],
    random: np.random.Generator,
) -> Array:
    found = _CALL.fullmatch(text)
    filling = _FILLINGS.get(found[1]) if found else None
    if found is None or filling is None:
        words = ", ".join(f"`{word}(..)`" for word in _FILLINGS)
        raise _wrong(parameter, f"{text!r} is no array: write {words} or `@file.npy`")
    parts = [part.strip() for part in found[2].split(",")]
    leads = [float(_number(parameter, part)) for part in parts[: filling.leads]]
    extents = [_extent(parameter, part, scalars) for part in parts[filling.leads :]]
    if len(leads) < filling.leads or not extents:
        raise _wrong(parameter, f"`{found[1]}` lacks a shape")
    if int(np.prod(extents, dtype=object)) * scalar.size > _LARGEST:
        raise _wrong(parameter, f"{text} is larger than {_LARGEST} bytes")
    if found[1] == "randint" and leads[0] >= leads[1]:
        raise _wrong(parameter, "`randint(low, high, ..)` needs a low below high")
    return _stored(parameter, scalar, filling.make(random, tuple(extents), leads))


def _extent(parameter: typed.Variable, text: str, scalars: Mapping[str, int | float]) -> int:
    value = scalars.get(text)
    if value is None:
        value = _number(parameter, text)
    if not isinstance(value, int) or value < 0:
        raise _wrong(parameter, f"{text!r} is no extent: write numbers, or names of scalars")
    return value


def _loaded(parameter: typed.Variable, path: str, scalar: Scalar) -> Array:
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise _wrong(parameter, f"`{path}` cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise _wrong(parameter, f"`{path}` is no .npy file") from error
    wanted = element_dtype(scalar)
    if array.dtype != wanted:
        raise _wrong(parameter, f"`{path}` holds {array.dtype}, {scalar} is {wanted} in NumPy")
    return np.ascontiguousarray(array)


def element_dtype(scalar: Scalar) -> np.dtype[Any]:
    """The NumPy type of a scalar in memory; floats that NumPy lacks are integers of their size."""
    if scalar.kind is Kind.BOOL:
        return np.dtype(np.bool_)
    letter = {Kind.SIGNED: "i", Kind.UNSIGNED: "u", Kind.FLOAT: "f"}[scalar.kind]
    if scalar is BF16 or (scalar.bits == 8 and scalar.is_float):
        letter = "u"
    return np.dtype(f"<{letter}{scalar.size}")


def _stored(parameter: typed.Variable, scalar: Scalar, values: Array) -> Array:
    """Values as they stand in memory."""
    if scalar is BF16:
        return _brain_floats(values.astype(np.float32))
    if scalar.is_float and scalar.bits == 8 and np.any(values):
        raise _wrong(parameter, f"only zeros can be written as {scalar}; load others from a file")
    return values.astype(element_dtype(scalar))


def _brain_floats(values: Array) -> Array:
    """The upper halves of 32-bit floats, rounded to nearest, ties to even."""
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), np.uint64(0x7FC0), rounded).astype(np.uint16)

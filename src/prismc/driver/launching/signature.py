"""What a kernel takes, for whoever launches it: names, types, the shape of a launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.checker.results import CheckedProgram
from prismc.checker.types import typed
from prismc.checker.types.model import PointerType, ScalarType, Type, VectorType
from prismc.checker.types.show import show
from prismc.hardware.scalars import Kind, Scalar
from prismc.source.record import Record

# NumPy has no 16-bit brain floats and no 8-bit floats: such arrays are given as their bits.
_BITS = {"bf16": "uint16", "f8e4m3": "uint8", "f8e5m2": "uint8", "tf32": "float32"}


class Parameter(Record):
    """One parameter: an array of `dtype` elements (`lanes` of them an element of a vector type),
    or a scalar. `shown` is its type as a program writes it."""

    name: str
    dtype: npt.DTypeLike
    is_array: bool
    is_const: bool
    lanes: int
    shown: str


class KernelSignature(Record):
    """One kernel. `threads` a block, `shared` bytes of shared memory for a block."""

    name: str
    symbol: str
    parameters: tuple[Parameter, ...]
    threads: int
    shared: int


def kernel_signatures(checked: CheckedProgram) -> tuple[KernelSignature, ...]:
    """The kernels of a program, in order."""
    return tuple(
        KernelSignature(
            name=body.instance.name,
            symbol=symbol,
            parameters=tuple(_parameter(variable) for variable in body.instance.parameters),
            threads=body.instance.launch.threads,
            shared=checked.memory.need.get(symbol, 0),
        )
        for symbol, body in checked.program.bodies.items()
        if body.instance.is_kernel and body.instance.launch is not None
    )


def _parameter(variable: typed.Variable) -> Parameter:
    element, lanes = _element(variable.type)
    is_array = isinstance(variable.type, PointerType)
    return Parameter(
        name=variable.name,
        dtype=numpy_type(element),
        is_array=is_array,
        is_const=isinstance(variable.type, PointerType) and variable.type.is_const,
        lanes=lanes,
        shown=show(variable.type),
    )


def _element(of: Type) -> tuple[Scalar, int]:
    match of:
        case PointerType(element=element):
            return _element(element)
        case VectorType(element=scalar, lanes=lanes):
            return scalar, lanes
        case ScalarType(scalar=scalar):
            return scalar, 1
        case _:
            raise TypeError(f"a kernel parameter of type {show(of)}")


def numpy_type(scalar: Scalar) -> np.dtype[Any]:
    """The NumPy type that holds a scalar, or its bits where NumPy has none."""
    if scalar.name in _BITS:
        return np.dtype(_BITS[scalar.name])
    if scalar.kind is Kind.BOOL:
        return np.dtype(np.bool_)
    letter = {Kind.SIGNED: "i", Kind.UNSIGNED: "u", Kind.FLOAT: "f"}[scalar.kind]
    return np.dtype(f"{letter}{scalar.size}")

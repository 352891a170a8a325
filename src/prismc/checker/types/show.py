"""How types read in messages and in the dump: as they are written in the source."""

from __future__ import annotations

from prismc.checker.types.model import (
    ArrayType,
    ErrorType,
    FunctionType,
    LiteralType,
    PointerType,
    ScalarType,
    TensorMapType,
    Type,
    VectorType,
    VoidType,
)
from prismc.hardware.groups import Perspective
from prismc.hardware.orders import MemoryOrder


def show(of: Type) -> str:
    """A type as the source writes it."""
    match of:
        case ScalarType(scalar=scalar):
            return scalar.name
        case VectorType(element=element, lanes=lanes):
            return f"vec({element}, {lanes})"
        case ArrayType():
            return _array(of)
        case PointerType(element=element):
            qualifier = "const " if of.is_const else "atomic " if of.is_atomic else ""
            layout = f" layout {of.layout}" if of.layout else ""
            layout += f" mirrored in {of.mirrors} blocks" if of.mirrors > 1 else ""
            return f"{'async ' if of.is_async else ''}ptr({qualifier}{show(element)}){layout}"
        case TensorMapType(element=element, box=box):
            swizzle = f", {of.swizzle}" if of.swizzle else ""
            return f"tensor_map({element}[{', '.join(map(str, box))}]{swizzle})"
        case FunctionType(parameters=parameters, result=result):
            return f"fn({', '.join(map(show, parameters))}) -> {show(result)}"
        case LiteralType(is_float=is_float):
            return "float literal" if is_float else "int literal"
        case VoidType():
            return "nothing"
        case ErrorType():
            return "?"
        case _:
            raise TypeError(f"no text for {of!r}")


def _array(of: ArrayType) -> str:
    lengths = ""
    element: Type = of
    while isinstance(element, ArrayType):
        lengths += f"[{element.length}]"
        element = element.element
    return f"{'async ' if of.is_async else ''}{show(element)}{lengths}"


def word(value: object) -> str:
    """A generic argument as part of a symbol: `f32`, `thread32`, `m3`, `true`, a symbol."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return f"m{-value}" if value < 0 else str(value)
        case Perspective():
            return f"{value.level.name.lower()}{value.size}"
        case VectorType(element=element, lanes=lanes):
            return f"{element}x{lanes}"
        case MemoryOrder():
            return value.value
        case Type():
            return "".join(c if c.isalnum() else "_" for c in show(value)).strip("_")
        case _:
            return str(getattr(value, "symbol", value))


def show_argument(value: object) -> str:
    """A generic argument as messages show it."""
    match value:
        case bool():
            return "true" if value else "false"
        case Type():
            return show(value)
        case MemoryOrder():
            return value.value
        case _:
            return str(getattr(value, "name", value))

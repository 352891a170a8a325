"""From the checker's types to the IR's."""

from __future__ import annotations

from prismc.checker.types import model
from prismc.ir.types import ArrayType, MapType, PointerType, ScalarType, Space, Type, VectorType


def lower_element(of: model.Type) -> ScalarType | VectorType:
    """The type of something that an array or memory holds.

    Raises TypeError for other types.
    """
    match of:
        case model.ScalarType(scalar=scalar):
            return ScalarType(scalar=scalar)
        case model.VectorType(element=element, lanes=lanes):
            return VectorType(element=element, lanes=lanes)
        case _:
            raise TypeError(f"no element type: {of}")


def lower_array(of: model.ArrayType) -> ArrayType:
    """A register array; nested lengths become one shape."""
    shape: list[int] = []
    element: model.Type = of
    while isinstance(element, model.ArrayType):
        shape.append(element.length)
        element = element.element
    return ArrayType(element=lower_element(element), shape=tuple(shape))


def lower_pointer(of: model.PointerType, space: Space) -> PointerType:
    """A pointer into `space`; what it points to may be an array, whose elements it then counts."""
    element = of.element
    while isinstance(element, model.ArrayType):
        element = element.element
    return PointerType(element=lower_element(element), space=space, is_const=of.is_const)


def lower_type(of: model.Type) -> Type:
    """The type of a value that is no pointer."""
    if isinstance(of, model.ArrayType):
        return lower_array(of)
    if isinstance(of, model.TensorMapType):
        return MapType(element=of.element, box=of.box, swizzle=of.swizzle)
    return lower_element(of)

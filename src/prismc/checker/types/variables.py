"""How variables are read."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.model import ArrayType, PointerType, Type


def read_type(variable: typed.Variable) -> Type:
    """The type of an expression that names a variable: a shared array is used as a pointer."""
    if variable.kind is typed.VariableKind.SHARED and isinstance(variable.type, ArrayType):
        layout = variable.layout.symbol if variable.layout is not None else ""
        return PointerType(element=variable.type.element, layout=layout)
    return variable.type

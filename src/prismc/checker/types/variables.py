"""How variables are read."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.model import ArrayType, PointerType, Type
from prismc.hardware.groups import Level


def read_type(variable: typed.Variable) -> Type:
    """The type of an expression that names a variable: a shared array is used as a pointer."""
    if variable.kind is typed.VariableKind.SHARED and isinstance(variable.type, ArrayType):
        layout = variable.layout.symbol if variable.layout is not None else ""
        return PointerType(
            element=variable.type.element, layout=layout, mirrors=mirrors_of(variable)
        )
    return variable.type


def mirrors_of(variable: typed.Variable) -> int:
    """The blocks of a cluster that keep a copy of a shared array, all with the same content."""
    is_shared = variable.kind is typed.VariableKind.SHARED
    is_wide = variable.perspective.level is Level.BLOCK
    return variable.perspective.size if is_shared and is_wide else 1

"""What it costs to evaluate an expression that may not be needed."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.walk import expressions_in

_CHEAP_SIZE = 16


def is_cheap(expression: typed.Expression) -> bool:
    """Whether evaluating the expression without need costs next to nothing and touches nothing."""
    nodes = list(expressions_in(expression))
    return len(nodes) <= _CHEAP_SIZE and all(_is_cheap_node(node) for node in nodes)


def _is_cheap_node(node: typed.Expression) -> bool:
    match node:
        case typed.Binary(operator="/" | "%", right=right):
            return isinstance(right, typed.Constant) and right.value != 0
        case typed.Element(index=index):
            return isinstance(index, typed.Constant)
        case (
            typed.Constant()
            | typed.Read()
            | typed.Unary()
            | typed.Binary()
            | typed.Logical()
            | typed.Conditional()
            | typed.Convert()
            | typed.Bits()
            | typed.Component()
            | typed.MakeVector()
            | typed.Builtin()
            | typed.UnitIndex()
            | typed.UnitCount()
        ):
            return True
        case _:
            return False

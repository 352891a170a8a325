"""Pointers as lowering sees them: a base that never moves, and an offset that is only numbers.

`partition`, `claim` and pointer parameters make views; an access through one is an access through
its base at a substituted index (`docs/language.md`, "Lowering").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from prismc.checker.types.model import PointerType, Type
from prismc.checker.types.typed import IndexFunction, Variable
from prismc.ir.core import Value


class View(NamedTuple):
    """`view[i]` is `base[offset + i]`, or, through a map, its target's element `f(offset + i)`.

    `offset` is None for 0, else i32 or i64, in elements. With a `layout`, the symbol of a function,
    the base is the whole array's, and element `layout(offset + i)` is meant.
    """

    base: Value
    offset: Value | None = None
    through: IndexMap | None = None
    layout: str = ""


def layout_of(of: Type) -> str:
    """The symbol of the layout that a pointer's type names, "" without one."""
    return of.layout if isinstance(of, PointerType) else ""


# What a variable stands for: a scalar, vector or array is a value, a pointer a view.
Binding = Value | View


class IndexMap(NamedTuple):
    """`by i => e`: the function, the view that it indexes, and the values its body reads."""

    function: IndexFunction
    target: View
    values: Mapping[Variable, Binding | None]

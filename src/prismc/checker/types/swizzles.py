"""The built-in layouts as functions of the typed tree, one for each swizzle and element size."""

from __future__ import annotations

from collections.abc import Callable

from prismc.checker.types import typed
from prismc.checker.types.model import INT
from prismc.checker.types.signature import Result
from prismc.checker.types.walk import body_of
from prismc.hardware.groups import CONSTANT, Bound
from prismc.hardware.swizzles import PIECE_ROW, Swizzle
from prismc.source.span import Span

_BOUND = Bound(0, 0, 1, 1)


def swizzle_function(
    swizzle: Swizzle, size: int, symbol: str, at: Span, next_id: Callable[[], int]
) -> typed.Body:
    """`def symbol(i: int) -> int: return i ^ (i >> 3 & mask)` for elements of `size` bytes; `at` is
    the use that asks for it first."""
    index = typed.Variable(
        id=next_id(),
        name="i",
        type=INT,
        kind=typed.VariableKind.PARAMETER,
        perspective=CONSTANT,
        is_stated=False,
        bound=_BOUND,
        span=at,
    )
    instance = typed.Instance(
        symbol=symbol,
        name=swizzle.name,
        kind=typed.InstanceKind.EXPRESSION,
        bound=_BOUND,
        parameters=(index,),
        results=(Result(type=INT, perspective=CONSTANT, span=at),),
        threads=None,
        declared_shared=None,
        launch=None,
        effects=None,
        generics=(),
        origin=None,
        chain=(),
        span=at,
        requires_span=at,
        module="",
    )

    def read() -> typed.Expression:
        return typed.Read(id=next_id(), span=at, type=INT, variable=index)

    def number(value: int) -> typed.Expression:
        return typed.Constant(id=next_id(), span=at, type=INT, value=value)

    def operation(sign: str, left: typed.Expression, right: typed.Expression) -> typed.Expression:
        return typed.Binary(id=next_id(), span=at, type=INT, operator=sign, left=left, right=right)

    moved = read()
    if mask := swizzle.mask(size):
        row = operation(">>", read(), number(PIECE_ROW))
        moved = operation("^", moved, operation("&", row, number(mask)))
    back = typed.Return(id=next_id(), span=at, values=(moved,))
    return body_of(instance, (back,))

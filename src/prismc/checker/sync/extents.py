"""What of its memory an unsafe function touches, where its effects say so, at one call of it."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.sync.boxes import Corner
from prismc.checker.sync.evaluate import Evaluator
from prismc.checker.types import typed
from prismc.checker.types.effects import Extent
from prismc.checker.types.model import INT, PointerType, TensorMapType, size_of
from prismc.source.record import replace

Arguments = Mapping[typed.Variable, typed.Expression]


def extent_at(
    call: typed.Call, parameter: typed.Variable, evaluator: Evaluator, *, is_write: bool
) -> tuple[typed.Expression, int] | None:
    """The first element behind a pointer argument that a call touches, in the caller's terms, and
    how many; None for any."""
    of, extent = parameter.type, _extent(call, parameter, is_write=is_write)
    if extent is None or not isinstance(of, PointerType):
        return None
    arguments = _arguments(call)
    zero = typed.Constant(id=0, span=call.span, type=INT, value=0)
    element = zero if extent.element is None else _in_terms_of(extent.element, arguments)
    size = _in_terms_of(extent.bytes, arguments)
    bytes_ = None if size is None else evaluator.constant_of(size)
    of_element = size_of(of.element)
    if element is None or not bytes_ or bytes_ % of_element:
        return None
    return element, bytes_ // of_element


def corner_at(call: typed.Call, parameter: typed.Variable, *, is_write: bool) -> Corner | None:
    """The box of a tensor map's array that a call touches, in the caller's terms; None for any
    element."""
    effects, of = call.callee.effects, parameter.type
    if effects is None or not isinstance(of, TensorMapType):
        return None
    arguments = _arguments(call)
    for each in effects.boxes:
        if each.parameter is parameter and each.is_write == is_write:
            corner = [_in_terms_of(place, arguments) for place in each.corner]
            known = tuple(place for place in corner if place is not None)
            return Corner(places=known, box=of.box) if len(known) == len(of.box) else None
    return None


def block_at(
    call: typed.Call, parameter: typed.Variable, *, is_write: bool
) -> typed.Expression | None:
    """The block of the cluster whose memory a call touches behind a pointer argument, in the
    caller's terms; None if it is the caller's own."""
    extent = _extent(call, parameter, is_write=is_write)
    if extent is None or extent.block is None:
        return None
    return _in_terms_of(extent.block, _arguments(call)) or extent.block


def _extent(call: typed.Call, parameter: typed.Variable, *, is_write: bool) -> Extent | None:
    effects = call.callee.effects
    found = (
        each
        for each in (effects.extents if effects is not None else ())
        if each.parameter is parameter and each.is_write == is_write
    )
    return next(found, None)


def _arguments(call: typed.Call) -> Arguments:
    return dict(zip(call.callee.parameters, call.arguments, strict=True))


def _in_terms_of(expression: typed.Expression, arguments: Arguments) -> typed.Expression | None:
    """An expression over parameters as one over arguments; None where it is too involved."""
    match expression:
        case typed.Constant():
            return expression
        case typed.Read(variable=variable):
            return arguments.get(variable)
        case typed.Convert(operand=operand):
            inner = _in_terms_of(operand, arguments)
            return None if inner is None else replace(expression, operand=inner)
        case typed.Binary(left=left, right=right):
            first, second = (_in_terms_of(part, arguments) for part in (left, right))
            if first is None or second is None:
                return None
            return replace(expression, left=first, right=second)
        case _:
            return None

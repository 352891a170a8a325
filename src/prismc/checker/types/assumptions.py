"""Conditions that are taken for true: those of `@assume` and of `assume(..)`."""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.types import typed
from prismc.checker.types.call_errors import CallInCheck, NoAlignment
from prismc.checker.types.context import is_refused
from prismc.checker.types.model import BOOLEAN, INT
from prismc.checker.types.number_builtins import BuiltinCall
from prismc.checker.types.places import Places
from prismc.checker.types.walk import expressions_in
from prismc.diagnostics.problem import Related
from prismc.frontend import ast


class Assumptions(Places):
    """Reads conditions; what they may call is what `assert` may."""

    def assumption(self, node: ast.Expression, construct: str) -> typed.Expression:
        """A condition that is taken for true: a bool, `aligned(p, bytes)`, or, of element i,
        `aligned(p, i, bytes)`."""
        call = self.statement_builtin(node)
        if call is not None and call.name == "aligned":
            return self._alignment_of(call)
        condition = self.require_bool(node, construct)
        if is_refused(condition) or self.may_check(construct.strip("`@"), (condition,)):
            return condition
        return self.refused(node.span)

    def _alignment_of(self, call: BuiltinCall) -> typed.Expression:
        if not self.takes(call, 2, 3):
            return self.refused(call.span)
        first, *places = call.arguments
        pointer = self.pointer_argument(call, first)
        numbers = [self.require_integer(place, "an index") for place in places[:-1]]
        numbers.append(self._bytes(places[-1]))
        if pointer is None or any(is_refused(number) for number in numbers):
            return self.refused(call.span)
        wanted = numbers[-1]
        if isinstance(wanted, typed.Constant) and not is_alignment(int(wanted.value)):
            self.report(NoAlignment(at=wanted.span, bytes=int(wanted.value)))
            return self.refused(call.span)
        return typed.Builtin(
            id=self.id(),
            span=call.span,
            type=BOOLEAN,
            name="aligned",
            arguments=(pointer, *numbers),
        )

    def _bytes(self, node: ast.Expression) -> typed.Expression:
        """An alignment. A launch verifies a kernel's, and needs to know it."""
        if self.instance is None or not self.instance.is_kernel or self.is_unsafe:
            return self.require_integer(node, "an alignment")
        number = self.constant_integer(node, "an alignment")
        return self.refused(node.span) if number is None else self.constant(node.span, INT, number)

    def may_check(self, construct: str, values: Iterable[typed.Expression]) -> bool:
        """Whether what is checked calls nothing but expression functions: it is compiled out unless
        asked for, so that nothing else may depend on what it does."""
        for value in values:
            for part in expressions_in(value):
                if not isinstance(part, typed.Call | typed.Broadcast):
                    continue
                kind = part.callee.kind if isinstance(part, typed.Call) else None
                if kind is not typed.InstanceKind.EXPRESSION:
                    self.report(_call_in_check(construct, part))
                    return False
        return True


def _call_in_check(construct: str, call: typed.Call | typed.Broadcast) -> CallInCheck:
    if not isinstance(call, typed.Call):
        return CallInCheck(at=call.span, construct=construct, callee="broadcast")
    callee = call.callee
    message = f"`{callee.name}` is no expression function: it has a bound"
    bound = Related(at=callee.requires_span, message=message)
    return CallInCheck(at=call.span, construct=construct, callee=callee.name, related=(bound,))


def is_alignment(number: int) -> bool:
    """Whether memory can be aligned to so many bytes."""
    return 1 <= number <= 1 << 16 and number & (number - 1) == 0

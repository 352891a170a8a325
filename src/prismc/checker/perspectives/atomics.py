"""Whether atomic accesses are atomic among all the threads that may touch the element.

An access through a pointer may meet those of all threads that share the pointer, so its scope is at
least as broad. An atomic parameter may be given a broader pointer than it says: what its function
asks of it is judged where the function is called.
"""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.perspectives.aliases import pointer_variables
from prismc.checker.perspectives.data import Data
from prismc.checker.perspectives.errors import ScopeTooNarrow
from prismc.checker.perspectives.scope import Scope
from prismc.checker.types import typed
from prismc.checker.types.model import PointerType
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import BLOCK, Perspective

# By a function's symbol: the narrowest scope of the accesses behind each atomic parameter.
Scopes = Mapping[str, Mapping[typed.Variable, Perspective]]


class Atomics:
    """Judges the calls of one body; `scopes` is what the body asks of its own parameters."""

    def __init__(self, known: Scopes, scope: Scope, data: Data, sink: Sink) -> None:
        self.scopes: dict[typed.Variable, Perspective] = {}
        self._known = known
        self._scope = scope
        self._data = data
        self._sink = sink

    def judge(self, call: typed.Call) -> None:
        """Compare the scopes of what `call` does with the perspectives of its pointers."""
        callee = call.callee
        for parameter, argument in zip(callee.parameters, call.arguments, strict=False):
            asked = self._asked(callee, parameter)
            if asked is None or not isinstance(argument.type, PointerType):
                continue
            scope = asked if BLOCK.is_narrower_or_equal(asked) else BLOCK
            given = self._data.varies(argument)
            if given.is_narrower_or_equal(scope):
                self._ask(argument, scope)
            else:
                self._report(call, argument, given, asked)

    def _asked(self, callee: typed.Instance, parameter: typed.Variable) -> Perspective | None:
        if not isinstance(parameter.type, PointerType) or not parameter.type.is_atomic:
            return None
        if callee.kind is typed.InstanceKind.UNSAFE:
            return None if callee.effects is None else callee.effects.scope
        return self._known.get(callee.symbol, {}).get(parameter)

    def _ask(self, argument: typed.Expression, scope: Perspective) -> None:
        """Note what the caller has to grant; a narrower view is a piece of its own."""
        for variable in pointer_variables(argument):
            for root in self._scope.aliases.roots(variable):
                if _is_atomic(root) and root.perspective == variable.perspective:
                    self.scopes[root] = min(self.scopes.get(root, scope), scope)

    def _report(
        self, call: typed.Call, argument: typed.Expression, given: Perspective, asked: Perspective
    ) -> None:
        self._sink.report(
            ScopeTooNarrow(
                at=argument.span,
                callee=call.callee.name,
                scope=asked,
                given=given,
                related=tuple(
                    Related(
                        at=variable.span, message=f"`{variable.name}` is {variable.perspective}"
                    )
                    for variable in pointer_variables(argument)
                ),
            )
        )


def _is_atomic(variable: typed.Variable) -> bool:
    return isinstance(variable.type, PointerType) and variable.type.is_atomic

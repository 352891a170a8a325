"""The functions of the language itself, and conversions, which are called like functions."""

from __future__ import annotations

from collections.abc import Callable

from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    BadArgument,
)
from prismc.checker.types.context import is_refused
from prismc.checker.types.errors import (
    CannotConvert,
    LiteralDoesNotFit,
)
from prismc.checker.types.memory_builtins import MemoryBuiltins
from prismc.checker.types.model import (
    ERROR,
    INT,
    ErrorType,
    LiteralType,
    ScalarType,
    Type,
    size_of,
)
from prismc.checker.types.number_builtins import BuiltinCall
from prismc.checker.types.numbers import convert, is_convertible
from prismc.checker.types.show import show
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.hardware.scalars import U32
from prismc.source.span import Span


class Builtins(MemoryBuiltins):
    """One method a built-in; `_TABLE` names them."""

    def builtin(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """The typed form of a built-in's call that gives a value."""
        row = _TABLE.get(call.name)
        if row is None:
            self.report(
                BadArgument(
                    at=call.span,
                    function=call.name,
                    reason="it gives no value here",
                    advice=_STATEMENT_ADVICE.get(call.name, "put it on a line of its own"),
                )
            )
            return self.refused(call.span)
        least, most, build = row
        if not self.takes(call, least, most):
            return self.refused(call.span)
        return build(self, call, expected)

    def conversion(self, target: Type, call: BuiltinCall) -> typed.Expression:
        """`f32(x)`: by value, between any two scalars."""
        if not self.takes(call, 1, 1):
            return self.refused(call.span)
        value = self.expression(call.arguments[0])
        if is_refused(value) or isinstance(target, ErrorType):
            return self.refused(call.span)
        if not isinstance(target, ScalarType) or not isinstance(
            value.type, ScalarType | LiteralType
        ):
            self.report(
                CannotConvert(
                    at=call.span,
                    found=show(value.type),
                    target=show(target),
                    related=self.what_it_is(value),
                )
            )
            return self.refused(call.span)
        if isinstance(value, typed.Constant):
            return self._converted(value, target, call.span)
        value = self.settled(value)
        if value.type == target:
            return value
        return typed.Convert(id=self.id(), span=call.span, type=target, operand=value)

    def _converted(self, value: typed.Constant, target: ScalarType, at: Span) -> typed.Expression:
        if not is_convertible(value.value, target.scalar):
            self.report(
                LiteralDoesNotFit(
                    at=at,
                    value=f"{value.value:,}",
                    type=show(target),
                    advice="use a wider type, or a smaller number",
                )
            )
            return self.refused(at)
        return self.constant(at, target, convert(value.value, target.scalar))

    # ------------------------------------------------------------------ units

    def _unit_index(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        if self._refuses_units(call):
            return self.refused(call.span)
        if not call.arguments:
            of = self.destination
        else:
            of = self.perspective_of(call.arguments[0])
            if of is None:
                return self.refused(call.span)
        return typed.UnitIndex(
            id=self.id(), span=call.span, type=INT, of=of, within=self.bound.code
        )

    def _unit_count(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """Below the grid a constant: units inside the code perspective."""
        of = None if self._refuses_units(call) else self.perspective_of(call.arguments[0])
        if of is None:
            return self.refused(call.span)
        if len(call.arguments) == 2:
            return self._count_in_block(call, of)
        is_generic = self.instance is not None and bool(self.instance.generics)
        # One block of a block's code is refused with perspectives: the grid's number was meant.
        is_alone = of == self.bound.code and of.level is Level.BLOCK and not is_generic
        count = None if is_alone else self._units(of)
        if count is not None:
            return self.constant(call.span, INT, count)
        return typed.UnitCount(
            id=self.id(), span=call.span, type=INT, of=of, within=self.bound.code
        )

    def _count_in_block(self, call: BuiltinCall, of: Perspective) -> typed.Expression:
        """`count(of, block[1])`: units in a block, where its size is known."""
        within = self.perspective_of(call.arguments[1])
        threads = self.instance.threads if self.instance is not None else None
        if within is None:
            return self.refused(call.span)
        if within != BLOCK or of.level is not Level.THREAD:
            reason = "with two perspectives it counts threads of a block"
            advice = (
                "write `count(thread[n], block[1])`, or count in the code of the group itself: "
                "`const N: int = count(..)` before the code is narrowed"
            )
            return self._refuse(call, reason, advice)
        if threads is None or threads % of.size:
            reason = f"no kernel around fixes blocks of whole {of}"
            return self._refuse(call, reason, "call this function from a kernel's own code")
        return self.constant(call.span, INT, threads // of.size)

    def _units(self, of: Perspective) -> int | None:
        """How many units `of` the code perspective holds, if that is known and whole."""
        code = self.bound.code
        if code.level is of.level:
            whole = code.size
        elif code.level is Level.BLOCK:
            known = self.instance.threads if self.instance is not None else None
            whole = code.size * (known or self.bound.thread)
        else:
            return None
        return None if whole % of.size or code.level < of.level else whole // of.size

    def _refuses_units(self, call: BuiltinCall) -> bool:
        if self.is_trial and self.generics:
            return True
        if self.is_expression_function:
            self.forbid(call.span, f"`{call.name}`")
            return True
        return False

    # ------------------------------------------------------------------ bits and numbers

    # ------------------------------------------------------------------ vectors

    # ------------------------------------------------------------------ the rest

    def _size(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`size(T)`: bytes in memory."""
        of = self.type_of(call.arguments[0])
        if of is ERROR:
            return self.refused(call.span)
        return self.constant(call.span, INT, size_of(of))

    def _broadcast(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """The first thread's value, for all of what it is assigned to."""
        value = self.settled(self.expression(call.arguments[0], expected))
        if is_refused(value):
            return self.refused(call.span)
        if self.is_expression_function:
            self.forbid(call.span, "`broadcast`")
        to = self.destination or self.bound.code
        return typed.Broadcast(id=self.id(), span=call.span, type=value.type, operand=value, to=to)

    def _completion(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`completion()`: a shared address, where the function completes by an mbarrier."""
        effects = self.instance.effects if self.instance is not None else None
        if effects is None or effects.completes is not Completion.MBARRIER:
            return self._refuse(
                call,
                "nothing here completes by an mbarrier",
                "declare it: `@effects(.., completes(mbarrier, bytes = n))` of an `unsafe def`",
            )
        return typed.Builtin(
            id=self.id(), span=call.span, type=ScalarType(scalar=U32), name=call.name, arguments=()
        )

    def _layout_alone(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        return self._refuse(
            call, "a layout is no value", "compare it: `layout_of(p) == swizzle128`"
        )


_Build = Callable[[Builtins, BuiltinCall, Type | None], typed.Expression]

# Name, least and greatest number of arguments, method.
_TABLE: dict[str, tuple[int, int, _Build]] = {
    "id": (0, 1, Builtins._unit_index),
    "count": (1, 2, Builtins._unit_count),
    "bits": (1, 1, Builtins._bits),
    "min": (2, 2, Builtins._arithmetic),
    "max": (2, 2, Builtins._arithmetic),
    "abs": (1, 1, Builtins._arithmetic),
    "clamp": (3, 3, Builtins._arithmetic),
    "select": (3, 3, Builtins._select),
    "pack": (2, 4, Builtins._pack),
    "unpack": (1, 1, Builtins._unpack),
    "vec2": (2, 2, Builtins._vector_of),
    "vec4": (4, 4, Builtins._vector_of),
    "popc": (1, 1, Builtins._count_bits),
    "clz": (1, 1, Builtins._count_bits),
    "ctz": (1, 1, Builtins._count_bits),
    "log2": (1, 1, Builtins._count_bits),
    "size": (1, 1, Builtins._size),
    "completion": (0, 0, Builtins._completion),
    "layout_of": (1, 1, Builtins._layout_alone),
    "mirrors": (1, 1, Builtins._mirrors),
    "broadcast": (1, 1, Builtins._broadcast),
    "load_vec": (2, 2, Builtins._load_vector),
    "is_shared": (1, 1, Builtins._is_shared),
    "shared_address": (1, 2, Builtins._address),
    "address": (1, 2, Builtins._address),
    "descriptor": (2, 4, Builtins._descriptor),
}

_STATEMENT_ADVICE = {
    "outs": "it stands only inside `asm(..)`",
    "inouts": "it stands only inside `asm(..)`",
    "ins": "it stands only inside `asm(..)`",
    "aligned": "it stands only inside `@assume(..)`",
    "disjoint": "it stands only inside `assume(..)`",
}

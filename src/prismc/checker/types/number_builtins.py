"""Built-ins of numbers: the arguments have one type, literals adapt, constants fold."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.call_errors import BadArgument, WrongArgumentCount
from prismc.checker.types.context import is_boolean, is_refused
from prismc.checker.types.conversions import is_integer
from prismc.checker.types.model import ERROR, INT, LiteralType, ScalarType, Type, VectorType
from prismc.checker.types.number_folds import FOLDS, reinterpret
from prismc.checker.types.operators import Operators
from prismc.checker.types.show import show
from prismc.diagnostics.words import counted
from prismc.frontend import ast
from prismc.hardware.scalars import U8, U16, U32, U64
from prismc.source.record import Record
from prismc.source.span import Span

UNSIGNED = {8: U8, 16: U16, 32: U32, 64: U64}


class BuiltinCall(Record):
    """A call of a built-in: `name[generics](arguments)`."""

    name: str
    generics: tuple[ast.Expression, ...]
    arguments: tuple[ast.Expression, ...]
    span: Span


class NumberBuiltins(Operators):
    """Methods take the call and the type that is asked for, if any."""

    def takes(self, call: BuiltinCall, least: int, most: int) -> bool:
        """Whether the number of arguments is right; reports if not."""
        if least <= len(call.arguments) <= most:
            return True
        wanted = counted(most, "argument")
        if least != most:
            wanted = f"{least} to {wanted}"
        self.report(
            WrongArgumentCount(
                at=call.span, callee=call.name, wanted=wanted, given=len(call.arguments)
            )
        )
        return False

    def _refuse(self, call: BuiltinCall, reason: str, advice: str) -> typed.Expression:
        self.report(BadArgument(at=call.span, function=call.name, reason=reason, advice=advice))
        return self.refused(call.span)

    def _numbers(
        self, call: BuiltinCall, nodes: tuple[ast.Expression, ...], expected: Type | None
    ) -> list[typed.Expression] | None:
        """Arguments of one arithmetic type; literals take the type of the others."""
        values = [self.expression(node, expected) for node in nodes]
        if any(is_refused(value) for value in values):
            return None
        typed_values = [v for v in values if not isinstance(v.type, LiteralType)]
        if typed_values:
            target: Type = typed_values[0].type
        elif isinstance(expected, ScalarType) and not is_boolean(expected):
            target = expected
        else:
            target = max((self.settled(v).type for v in values), key=_is_float)
        values = [self.require_type(value, target) for value in values]
        if any(is_refused(value) for value in values):
            return None
        if not isinstance(target, ScalarType) or is_boolean(target):
            self._refuse(call, f"it takes numbers, not {show(target)}", "pass numbers of one type")
            return None
        return values

    def _arithmetic(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`min max abs clamp`: all of one type, which the result has."""
        values = self._numbers(call, call.arguments, expected)
        if values is None:
            return self.refused(call.span)
        return self._made(call, tuple(values), values[0].type)

    def _made(
        self, call: BuiltinCall, values: tuple[typed.Expression, ...], type_: Type
    ) -> typed.Expression:
        """The built-in's node, or its value where all arguments are known."""
        fold = FOLDS.get(call.name)
        constants = [value for value in values if isinstance(value, typed.Constant)]
        if fold is not None and len(constants) == len(values):
            first = constants[0].type
            assert isinstance(first, ScalarType)
            folded = fold(first.scalar, *(constant.value for constant in constants))
            return self.constant(call.span, type_, folded)
        return typed.Builtin(
            id=self.id(), span=call.span, type=type_, name=call.name, arguments=values
        )

    def _select(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`select(c, a, b)`: both values are evaluated."""
        condition = self.require_bool(call.arguments[0], "`select`")
        values = self._numbers(call, call.arguments[1:], expected)
        if values is None or is_refused(condition):
            return self.refused(call.span)
        return self._made(call, (condition, *values), values[0].type)

    def _count_bits(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`popc clz ctz log2` of an integer: an int."""
        value = self.settled(self.expression(call.arguments[0]))
        if is_refused(value):
            return self.refused(call.span)
        if not is_integer(value.type):
            return self._refuse(
                call, f"it takes an integer, not {show(value.type)}", "use `bits(..)` of a float"
            )
        if call.name == "log2" and isinstance(value, typed.Constant) and value.value <= 0:
            return self._refuse(call, "it takes a positive number", "pass 1 or more")
        if call.name == "log2" and not isinstance(value, typed.Constant):
            return self._log2(call, value)
        return self._made(call, (value,), INT)

    def _log2(self, call: BuiltinCall, value: typed.Expression) -> typed.Expression:
        """The position of the highest bit: what is above it are leading zeros."""
        assert isinstance(value.type, ScalarType)
        zeros = typed.Builtin(
            id=self.id(), span=call.span, type=INT, name="clz", arguments=(value,)
        )
        top = self.constant(call.span, INT, value.type.scalar.bits - 1)
        return self.combine("-", top, zeros, call.span, call.span)

    def _bits(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """Float to unsigned of its size; unsigned to the type that is asked for."""
        value = self.settled(self.expression(call.arguments[0]))
        if call.generics:
            expected = self.type_of(call.generics[0])
        if is_refused(value) or expected is ERROR:
            return self.refused(call.span)
        source = bit_count(value.type)
        if not source:
            words = f"it takes a number or a vector of 16 to 64 bits, not {show(value.type)}"
            return self._refuse(call, words, "pass a scalar")
        target = _bits_target(value.type, source, expected)
        if target is None:
            return self._refuse(
                call,
                f"{show(value.type)} has {source} bits, {show(expected or INT)} has not",
                f"ask for a type of {source} bits",
            )
        return self.reinterpreted(value, target, call.span)

    def reinterpreted(self, value: typed.Expression, target: Type, span: Span) -> typed.Expression:
        """The same bits as a value of another type of this size."""
        if value.type == target:
            return value
        if isinstance(value, typed.Constant) and isinstance(target, ScalarType):
            assert isinstance(value.type, ScalarType)
            folded = reinterpret(value.value, value.type.scalar, target.scalar)
            if folded is not None:
                return self.constant(span, target, folded)
        return typed.Bits(id=self.id(), span=span, type=target, operand=value)

    def bits_of(self, value: typed.Expression) -> typed.Expression:
        """A scalar as an unsigned integer of its size."""
        assert isinstance(value.type, ScalarType)
        unsigned = ScalarType(scalar=UNSIGNED[value.type.scalar.bits])
        return self.reinterpreted(value, unsigned, value.span)


def _is_float(of: Type) -> bool:
    return isinstance(of, ScalarType) and of.scalar.is_float


def bit_count(of: Type) -> int:
    """The bits of a number, or of a vector that an unsigned integer has room for; 0 of others."""
    if isinstance(of, VectorType):
        bits = of.lanes * of.element.bits
        return bits if bits in UNSIGNED else 0
    return 0 if not isinstance(of, ScalarType) or is_boolean(of) else of.scalar.bits


def _bits_target(source: Type, bits: int, expected: Type | None) -> Type | None:
    """The type of `bits`: as asked, else unsigned; None if the sizes differ."""
    if expected is not None and bit_count(expected):
        if bit_count(expected) == bits:
            return expected
        if not (is_integer(source) and is_integer(expected)):
            return None
    return ScalarType(scalar=UNSIGNED[bits])

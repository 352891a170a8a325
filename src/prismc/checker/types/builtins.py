"""The functions of the language itself, and conversions, which are called like functions."""

from __future__ import annotations

from collections.abc import Callable

from prismc.checker.errors import LayoutsUnsupported, TensorMapsUnsupported
from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    BadArgument,
    ForbiddenInExpressionFunction,
    NeedsUnsafe,
    WrongArgumentCount,
)
from prismc.checker.types.context import is_boolean, is_refused
from prismc.checker.types.conversions import is_integer
from prismc.checker.types.errors import (
    CannotConvert,
    NotAPointer,
)
from prismc.checker.types.model import (
    ERROR,
    INT,
    ErrorType,
    LiteralType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    size_of,
)
from prismc.checker.types.numbers import Number, convert, from_bits, to_bits
from prismc.checker.types.operators import Operators
from prismc.checker.types.show import show
from prismc.frontend import ast
from prismc.hardware.groups import Level, Perspective
from prismc.hardware.scalars import U8, U16, U32, U64, Kind, Scalar
from prismc.source.record import Record
from prismc.source.span import Span

_UNSIGNED = {8: U8, 16: U16, 32: U32, 64: U64}


class BuiltinCall(Record):
    """A call of a built-in: `name[generics](arguments)`."""

    name: str
    generics: tuple[ast.Expression, ...]
    arguments: tuple[ast.Expression, ...]
    span: Span
    name_span: Span


class Builtins(Operators):
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

    def takes(self, call: BuiltinCall, least: int, most: int) -> bool:
        """Whether the number of arguments is right; reports if not."""
        if least <= len(call.arguments) <= most:
            return True
        wanted = str(least) if least == most else f"{least} to {most}"
        self.report(
            WrongArgumentCount(
                at=call.span, callee=call.name, wanted=wanted, given=len(call.arguments)
            )
        )
        return False

    def conversion(self, target: Type, call: BuiltinCall) -> typed.Expression:
        """`f32(x)`: by value, between any two scalars."""
        if not self.takes(call, 1, 1):
            return self.refused(call.span)
        value = self.expression(call.arguments[0], target)
        if is_refused(value) or isinstance(target, ErrorType):
            return self.refused(call.span)
        if not isinstance(target, ScalarType) or not isinstance(
            value.type, ScalarType | LiteralType
        ):
            self.report(CannotConvert(at=call.span, found=show(value.type), target=show(target)))
            return self.refused(call.span)
        if isinstance(value, typed.Constant):
            return self.constant(call.span, target, convert(value.value, target.scalar))
        value = self.settled(value)
        if value.type == target:
            return value
        return typed.Convert(id=self.id(), span=call.span, type=target, operand=value)

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
        count = self._units(of)
        if count is not None:
            return self.constant(call.span, INT, count)
        return typed.UnitCount(
            id=self.id(), span=call.span, type=INT, of=of, within=self.bound.code
        )

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
            self._forbid(call, f"`{call.name}`")
            return True
        return False

    def _forbid(self, call: BuiltinCall, what: str) -> None:
        assert self.instance is not None
        self.report(
            ForbiddenInExpressionFunction(
                at=call.span,
                what=what,
                function=self.instance.name,
                related=self.note(self.instance.span, "it has no `@requires`"),
            )
        )

    # ------------------------------------------------------------------ bits and numbers

    def _bits(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """Float to unsigned of its size; unsigned to the type that is asked for."""
        value = self.settled(self.expression(call.arguments[0]))
        if call.generics:
            expected = self.type_of(call.generics[0])
        if is_refused(value) or expected is ERROR:
            return self.refused(call.span)
        if not isinstance(value.type, ScalarType) or is_boolean(value.type):
            return self._refuse(call, f"it takes a number, not {show(value.type)}", "pass a scalar")
        source = value.type.scalar
        target = _bits_target(source, expected)
        if target is None:
            return self._refuse(
                call,
                f"{show(value.type)} has {source.bits} bits, {show(expected or INT)} has not",
                f"ask for a type of {source.bits} bits",
            )
        if isinstance(value, typed.Constant):
            folded = _reinterpret(value.value, source, target)
            if folded is not None:
                return self.constant(call.span, ScalarType(scalar=target), folded)
        return typed.Bits(
            id=self.id(), span=call.span, type=ScalarType(scalar=target), operand=value
        )

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
        fold = _FOLDS.get(call.name)
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
        return self._made(call, (value,), INT)

    # ------------------------------------------------------------------ vectors

    def _vector_of(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`vec2(a, b)`, `vec4(a, b, c, d)`."""
        element = ScalarType(scalar=expected.element) if isinstance(expected, VectorType) else None
        values = self._numbers(call, call.arguments, element)
        if values is None:
            return self.refused(call.span)
        scalar = values[0].type
        assert isinstance(scalar, ScalarType)
        type_ = self.vector(scalar, len(values), _as_node(call))
        if not isinstance(type_, VectorType):
            return self.refused(call.span)
        return typed.MakeVector(id=self.id(), span=call.span, type=type_, elements=tuple(values))

    def _pack(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """Two 16-bit values (or four of 8 bits) as one u32, the first in the low bits."""
        values = self._numbers(call, call.arguments, None)
        if values is None:
            return self.refused(call.span)
        scalar = values[0].type
        assert isinstance(scalar, ScalarType)
        if scalar.scalar.bits * len(values) not in (32, 64):
            return self._refuse(
                call,
                f"{len(values)} values of {scalar.scalar} are not 32 or 64 bits",
                "pass two values of 16 bits, four of 8, or two of 32",
            )
        word = ScalarType(scalar=_UNSIGNED[scalar.scalar.bits * len(values)])
        return self._made(call, tuple(values), word)

    def _unpack(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`unpack[f16](x)`: the parts of a word as a vector, low bits first."""
        value = self.settled(self.expression(call.arguments[0]))
        part = self.type_of(call.generics[0]) if call.generics else None
        if part is None and isinstance(expected, VectorType):
            part = ScalarType(scalar=expected.element)
        if is_refused(value) or part is ERROR:
            return self.refused(call.span)
        if not isinstance(part, ScalarType) or not is_integer(value.type):
            return self._refuse(
                call,
                "it needs an unsigned word and the type of the parts",
                "write `unpack[f16](x)`",
            )
        assert isinstance(value.type, ScalarType)
        lanes = value.type.scalar.bits // part.scalar.bits
        type_ = self.vector(part, lanes, _as_node(call))
        if not isinstance(type_, VectorType):
            return self.refused(call.span)
        return self._made(call, (value,), type_)

    def _load_vector(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`load_vec[4](p, i)`: elements i to i + 3 in one access."""
        pointer = self.pointer_argument(call, call.arguments[0])
        index = self.require_integer(call.arguments[1], "an index")
        type_ = self.access_type(call, pointer)
        if type_ is None or pointer is None or is_refused(index):
            return self.refused(call.span)
        return typed.Load(id=self.id(), span=call.span, type=type_, pointer=pointer, index=index)

    def access_type(self, call: BuiltinCall, pointer: typed.Expression | None) -> VectorType | None:
        """The vector type of `load_vec[n]`, `store_vec[n]` and `load_into[n]`."""
        if len(call.generics) != 1:
            self._refuse(call, "it needs the number of elements", f"write `{call.name}[4](..)`")
            return None
        lanes = self.constant_integer(call.generics[0], "the number of elements")
        if lanes is None or pointer is None:
            return None
        assert isinstance(pointer.type, PointerType)
        element = pointer.type.element
        if not isinstance(element, ScalarType):
            self._refuse(call, f"its elements are {show(element)}", "use a pointer to scalars")
            return None
        type_ = self.vector(element, lanes, call.generics[0])
        return type_ if isinstance(type_, VectorType) else None

    def pointer_argument(self, call: BuiltinCall, node: ast.Expression) -> typed.Expression | None:
        """A pointer that may be read element by element; None after reporting."""
        value = self.expression(node)
        if is_refused(value):
            return None
        if isinstance(value.type, PointerType):
            return value
        self.report(NotAPointer(at=node.span, where=f"`{call.name}`", found=show(value.type)))
        self.is_failed = True
        return None

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
            self._forbid(call, "`broadcast`")
        to = self.destination or self.bound.code
        return typed.Broadcast(id=self.id(), span=call.span, type=value.type, operand=value, to=to)

    def _address(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`shared_address(p, i)` (u32) and `address(p, i)` (u64), for `asm` operands."""
        if not self.is_unsafe:
            self.report(NeedsUnsafe(at=call.span, what=f"{call.name}(..)"))
            return self.refused(call.span)
        pointer = self.pointer_argument(call, call.arguments[0])
        index = None
        if len(call.arguments) == 2:
            index = self.require_integer(call.arguments[1], "an index")
        if pointer is None or (index is not None and is_refused(index)):
            return self.refused(call.span)
        type_ = ScalarType(scalar=U32 if call.name == "shared_address" else U64)
        return typed.Address(
            id=self.id(),
            span=call.span,
            type=type_,
            kind=call.name,
            pointer=pointer,
            index=index,
        )

    def _completion(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        self.refuse_async(call.span, "`completion()`")
        return self.refused(call.span)

    def _layout_fact(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        self.report(LayoutsUnsupported(at=call.span, what=f"`{call.name}`"))
        return self.refused(call.span)

    def _descriptor(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        self.report(TensorMapsUnsupported(at=call.span))
        return self.refused(call.span)


def _as_node(call: BuiltinCall) -> ast.Expression:
    return ast.Boolean(id=-1, span=call.span, value=True)


def _is_float(of: Type) -> bool:
    return isinstance(of, ScalarType) and of.scalar.is_float


def _bits_target(source: Scalar, expected: Type | None) -> Scalar | None:
    """The type of `bits`: as asked, else unsigned; None if the sizes differ."""
    if isinstance(expected, ScalarType) and expected.scalar.kind is not Kind.BOOL:
        if expected.scalar.bits == source.bits:
            return expected.scalar
        if source.is_float or expected.scalar.is_float:
            return None
    return _UNSIGNED[source.bits]


def _reinterpret(value: Number, source: Scalar, target: Scalar) -> Number | None:
    pattern = to_bits(value, source)
    return None if pattern is None else from_bits(pattern, target)


def _trailing_zeros(scalar: Scalar, value: Number) -> Number:
    pattern = to_bits(value, scalar) or 0
    return scalar.bits if pattern == 0 else (pattern & -pattern).bit_length() - 1


# A built-in of constants is a constant: the scalar type of the first argument, then the values.
_FOLDS: dict[str, Callable[..., Number]] = {
    "min": lambda scalar, a, b: min(a, b),
    "max": lambda scalar, a, b: max(a, b),
    "abs": lambda scalar, a: convert(abs(a), scalar),
    "clamp": lambda scalar, x, low, high: min(max(x, low), high),
    "select": lambda scalar, condition, a, b: a if condition else b,
    "popc": lambda scalar, a: (to_bits(a, scalar) or 0).bit_count(),
    "clz": lambda scalar, a: scalar.bits - (to_bits(a, scalar) or 0).bit_length(),
    "ctz": _trailing_zeros,
    "log2": lambda scalar, a: a.bit_length() - 1,
}

_Build = Callable[[Builtins, BuiltinCall, Type | None], typed.Expression]

# Name, least and greatest number of arguments, method.
_TABLE: dict[str, tuple[int, int, _Build]] = {
    "id": (0, 1, Builtins._unit_index),
    "count": (1, 1, Builtins._unit_count),
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
    "layout_of": (1, 1, Builtins._layout_fact),
    "mirrors": (1, 1, Builtins._layout_fact),
    "broadcast": (1, 1, Builtins._broadcast),
    "load_vec": (2, 2, Builtins._load_vector),
    "shared_address": (1, 2, Builtins._address),
    "address": (1, 2, Builtins._address),
    "descriptor": (2, 2, Builtins._descriptor),
}

_STATEMENT_ADVICE = {
    "outs": "it stands only inside `asm(..)`",
    "inouts": "it stands only inside `asm(..)`",
    "ins": "it stands only inside `asm(..)`",
    "aligned": "it stands only inside `@assume(..)`",
    "disjoint": "it stands only inside `assume(..)`",
}

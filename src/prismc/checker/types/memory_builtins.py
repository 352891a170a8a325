"""Built-ins of vectors and pointers: one access for several elements, addresses for assembly."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.call_errors import NeedsUnsafe
from prismc.checker.types.context import is_refused
from prismc.checker.types.conversions import is_integer, root_variable
from prismc.checker.types.errors import NotAPointer
from prismc.checker.types.layout_errors import LayoutParts
from prismc.checker.types.model import (
    BOOLEAN,
    ERROR,
    INT,
    PointerType,
    ScalarType,
    TensorMapType,
    Type,
    VectorType,
)
from prismc.checker.types.number_builtins import UNSIGNED, BuiltinCall, NumberBuiltins
from prismc.checker.types.show import show
from prismc.checker.types.walk import expressions_in
from prismc.frontend import ast
from prismc.hardware.scalars import U32, U64
from prismc.hardware.swizzles import UNSWIZZLED
from prismc.source.span import Span

# Offsets of a matrix descriptor: 14 bits of 16-byte units (PTX ISA, "Matrix Descriptor Format").
_PIECE = 16
_MOST_OFFSET = 1 << 18


class MemoryBuiltins(NumberBuiltins):
    """Methods take the call and the type that is asked for, if any."""

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
        word = ScalarType(scalar=UNSIGNED[scalar.scalar.bits * len(values)])
        bits = scalar.scalar.bits
        parts = [self._at_bit(value, word, i * bits) for i, value in enumerate(values)]
        packed = parts[0]
        for part in parts[1:]:
            packed = self.combine("|", packed, part, call.span, call.span)
        return packed

    def _at_bit(self, value: typed.Expression, word: Type, bit: int) -> typed.Expression:
        """The bits of a value as part of a wider unsigned word, `bit` places up."""
        pattern = self.as_integer(self.bits_of(value), word)
        amount = self.constant(value.span, INT, bit)
        return self.combine("<<", pattern, amount, value.span, value.span) if bit else pattern

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
        if any(isinstance(inner, typed.Call) for inner in expressions_in(value)):
            return self._refuse(call, "it takes apart what is computed once", "use a variable")
        elements = tuple(self._from_bit(value, part, i * part.scalar.bits) for i in range(lanes))
        return typed.MakeVector(id=self.id(), span=call.span, type=type_, elements=elements)

    def _from_bit(self, word: typed.Expression, part: ScalarType, bit: int) -> typed.Expression:
        amount = self.constant(word.span, INT, bit)
        shifted = self.combine(">>", word, amount, word.span, word.span) if bit else word
        pattern = self.as_integer(shifted, ScalarType(scalar=UNSIGNED[part.scalar.bits]))
        return self.reinterpreted(pattern, part, word.span)

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
        if not self.require_plain(pointer, pointer.span):
            return None
        if not isinstance(element, ScalarType):
            self._refuse(call, f"its elements are {show(element)}", "use a pointer to scalars")
            return None
        type_ = self.vector(element, lanes, call.generics[0])
        if not isinstance(type_, VectorType) or not self.require_run(pointer, type_, call.span):
            return None
        return type_

    def require_run(self, pointer: typed.Expression, type_: VectorType, at: Span) -> bool:
        """Whether a vector access finds its elements side by side; reports if not."""
        assert isinstance(pointer.type, PointerType)
        layout = self.layouts.get(pointer.type.layout)
        if layout is None or layout.run % type_.lanes == 0:
            return True
        variable = root_variable(pointer)
        self.report(
            LayoutParts(
                at=at,
                name=layout.function.name,
                lanes=type_.lanes,
                run=layout.run,
                related=self.declared_here(variable) if variable is not None else (),
            )
        )
        return False

    def pointer_argument(self, call: BuiltinCall, node: ast.Expression) -> typed.Expression | None:
        """A pointer that may be read element by element; None after reporting."""
        value = self.expression(node)
        if is_refused(value):
            return None
        if isinstance(value.type, PointerType):
            return value
        self.report(
            NotAPointer(
                at=node.span,
                where=f"`{call.name}`",
                found=show(value.type),
                related=self.what_it_is(value),
            )
        )
        self.is_failed = True
        return None

    def _is_shared(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`is_shared(p)`: where p points, for text that is faster when it knows."""
        if not self.in_unsafe(call):
            return self.refused(call.span)
        pointer = self.pointer_argument(call, call.arguments[0])
        if pointer is None:
            return self.refused(call.span)
        return typed.Builtin(
            id=self.id(), span=call.span, type=BOOLEAN, name=call.name, arguments=(pointer,)
        )

    def _address(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`shared_address(p, i)` (u32) and `address(p, i)` (u64), for `asm` operands; `address(m)`
        of a tensor map."""
        if not self.in_unsafe(call):
            return self.refused(call.span)
        variable = self.variable_at(call.arguments[0])
        if variable is not None and isinstance(variable.type, TensorMapType):
            return self._map_address(call, variable)
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

    def in_unsafe(self, call: BuiltinCall) -> bool:
        """Whether what only `unsafe` may hold can stand here; reports if not."""
        if not self.is_unsafe:
            own = self.instance
            message = f"`{own.name}` is not `unsafe`" if own else ""
            related = self.note(own.span, message) if own else ()
            self.report(NeedsUnsafe(at=call.span, what=f"{call.name}(..)", related=related))
        return self.is_unsafe

    def _map_address(self, call: BuiltinCall, variable: typed.Variable) -> typed.Expression:
        if call.name != "address" or len(call.arguments) != 1:
            reason = "a tensor map has one address, and no elements"
            return self._refuse(call, reason, f"write `address({variable.name})`")
        return typed.Address(
            id=self.id(),
            span=call.span,
            type=ScalarType(scalar=U64),
            kind="map_address",
            pointer=self.read(call.arguments[0].span, variable),
            index=None,
        )

    def _descriptor(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`descriptor(p, i)`, and the two byte offsets where they are not those of rows as wide as
        the swizzle that follow one another."""
        if not self.in_unsafe(call):
            return self.refused(call.span)
        pointer = self.pointer_argument(call, call.arguments[0])
        index = self.require_integer(call.arguments[1], "an index")
        given = [self.constant_integer(node, "a byte offset") for node in call.arguments[2:]]
        if pointer is None or is_refused(index) or None in given:
            return self.refused(call.span)
        assert isinstance(pointer.type, PointerType)
        layout = self.layouts.get(pointer.type.layout)
        swizzle = layout.swizzle if layout is not None else None
        swizzle = swizzle or UNSWIZZLED
        known = [offset for offset in given if offset is not None]
        leading, stride = (*known, *(_PIECE, swizzle.period)[len(known) :])
        if not all(0 <= offset < _MOST_OFFSET and offset % _PIECE == 0 for offset in known):
            reason = f"byte offsets are multiples of {_PIECE} below {_MOST_OFFSET:,}"
            return self._refuse(call, reason, "choose a smaller tile")
        return typed.Descriptor(
            id=self.id(),
            span=call.span,
            type=ScalarType(scalar=U64),
            pointer=pointer,
            index=index,
            swizzle=swizzle,
            leading=leading,
            stride=stride,
        )

    def _mirrors(self, call: BuiltinCall, expected: Type | None) -> typed.Expression:
        """`mirrors(p)`: the blocks of the cluster that keep a copy of what p points to."""
        pointer = self.pointer_argument(call, call.arguments[0])
        if pointer is None:
            return self.refused(call.span)
        assert isinstance(pointer.type, PointerType)
        return self.constant(call.span, INT, pointer.type.mirrors)


def _as_node(call: BuiltinCall) -> ast.Expression:
    return ast.Boolean(id=-1, span=call.span, value=True)

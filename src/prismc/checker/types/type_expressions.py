"""Types and perspectives as the source writes them."""

from __future__ import annotations

from abc import abstractmethod

from prismc.checker.names.symbols import SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.context import Layout, Unknown
from prismc.checker.types.conversions import Conversions
from prismc.checker.types.errors import (
    BadArrayLength,
    BadPerspectiveSize,
    BadVector,
    NotAnOrder,
    NotAPerspective,
    NotAType,
    TypeNotAllowed,
)
from prismc.checker.types.layout_errors import BadTensorMap
from prismc.checker.types.model import (
    ERROR,
    ArrayType,
    ErrorType,
    PointerType,
    ScalarType,
    TensorMapType,
    Type,
    VectorType,
)
from prismc.checker.types.show import show
from prismc.diagnostics.problem import Related
from prismc.frontend import ast
from prismc.frontend.walk import find
from prismc.hardware.groups import SPELLINGS, Perspective
from prismc.hardware.orders import ORDERS, MemoryOrder
from prismc.hardware.scalars import ALIASES, SCALARS

SCALAR_TYPES: dict[str, Type] = {
    name: ScalarType(scalar=scalar) for name, scalar in (SCALARS | ALIASES).items()
}
_LANES = (2, 4, 8, 16)
_LARGEST_ACCESS = 16  # bytes of one vector access (PTX ISA, `ld`, `.v4` of 32 bits)
_LARGEST_SIZE = 1 << 31
# Limits of a tensor copy (CUDA driver API, `cuTensorMapEncodeTiled`).
_MOST_DIMENSIONS = 5
_LONGEST_BOX = 256
_BOX_ROW = 16  # bytes


def _box_reason(box: tuple[int, ...], size: int, width: int) -> str:
    """What is wrong with a box of elements of `size` bytes under a swizzle of `width` bytes; empty
    if nothing is (CUDA driver API, `cuTensorMapEncodeTiled`)."""
    row = box[-1] * size
    if len(box) > _MOST_DIMENSIONS:
        return f"a box has 1 to {_MOST_DIMENSIONS} dimensions, this one has {len(box)}"
    if not all(1 <= length <= _LONGEST_BOX for length in box):
        return f"the lengths of a box go from 1 to {_LONGEST_BOX}"
    if row % _BOX_ROW:
        return f"a row of the box has {row} bytes, no multiple of {_BOX_ROW}"
    if width and row > width:
        return f"a row of the box has {row} bytes, more than the swizzle's {width}"
    return ""


class TypeExpressions(Conversions):
    """Reads types and perspectives; what is wrong is reported and becomes ERROR or None."""

    def type_of(self, node: ast.Expression) -> Type:
        """The type that an expression names."""
        match node:
            case ast.Reference() | ast.Member():
                return self._named_type(node)
            case ast.Index():
                return self._array_type(node)
            case ast.PointerTypeExpression():
                return self._pointer_type(node)
            case ast.VectorTypeExpression():
                return self._vector_type(node)
            case ast.TensorMapTypeExpression():
                return self._tensor_map(node)
            case ast.QualifiedType(type=inner):
                self._not_allowed(node, node.qualifier, "here", f"leave `{node.qualifier}` out")
                return self.type_of(inner)
            case _:
                self.report(NotAType(at=node.span, what="this expression"))
                return ERROR

    def names_type(self, node: ast.Expression) -> bool:
        """Whether an expression stands for a type, without reporting anything."""
        match node:
            case ast.Reference(name=name):
                symbol = self.symbol_at(node)
                if symbol is None:
                    return False
                if symbol.kind is SymbolKind.BUILTIN:
                    return name in SCALAR_TYPES
                return isinstance(self.environment.get(symbol), Type)
            case ast.Index(value=value):
                return self.names_type(value)
            case (
                ast.PointerTypeExpression()
                | ast.VectorTypeExpression()
                | ast.TensorMapTypeExpression()
            ):
                return True
            case _:
                return False

    def _named_type(self, node: ast.Expression) -> Type:
        symbol = self.symbol_at(node)
        if symbol is None or symbol.kind is SymbolKind.UNKNOWN:
            self.is_failed = True
            return ERROR
        if symbol.kind is SymbolKind.BUILTIN and symbol.name in SCALAR_TYPES:
            return SCALAR_TYPES[symbol.name]
        binding = self.environment.get(symbol)
        if isinstance(binding, Type):
            return binding
        if isinstance(binding, Unknown):
            return ERROR
        note = self.note(symbol.span, f"`{symbol.name}` is declared here") if symbol.module else ()
        self.report(
            NotAType(at=node.span, what=f"`{symbol.name}`, a {symbol.kind.value},", related=note)
        )
        return ERROR

    def _not_allowed(self, node: ast.Node, what: str, where: str, advice: str) -> None:
        self.report(TypeNotAllowed(at=node.span, type=what, where=where, advice=advice))

    def _array_type(self, node: ast.Index) -> Type:
        """`f32[4][8]`: the outermost length stands first."""
        lengths: list[ast.Expression] = []
        base: ast.Expression = node
        while isinstance(base, ast.Index):
            if len(base.arguments) != 1 or base.named:
                advice = "write one length after another: `f32[4][8]`"
                self._not_allowed(base, "a shape", "outside `ptr(..)`", advice)
                return ERROR
            lengths.append(base.arguments[0])
            base = base.value
        element = self.type_of(base)
        for length_node in lengths:
            element = self._array_of(element, length_node, base)
        return element

    def _array_of(self, element: Type, node: ast.Expression, base: ast.Expression) -> Type:
        length = self.constant_integer(node, "an array's length")
        if length is None or element is ERROR:
            return ERROR
        if not isinstance(element, ScalarType | VectorType | ArrayType):
            advice = "make the elements scalars, vectors or arrays"
            self._not_allowed(base, show(element), "as an array's element", advice)
            return ERROR
        if not 1 <= length < _LARGEST_SIZE:
            notes = self.constants_of(node)
            self.report(BadArrayLength(at=node.span, length=length, related=notes))
            return ERROR
        return ArrayType(element=element, length=length)

    def _pointer_type(self, node: ast.PointerTypeExpression) -> Type:
        """The pointee's shape counts for indexing only: see `shape_of`."""
        pointee = node.element
        if isinstance(pointee, ast.Index):
            pointee = pointee.value
        element = self.type_of(pointee)
        if element is ERROR:
            return ERROR
        if not isinstance(element, ScalarType | VectorType):
            advice = "point to scalars or vectors, of which there may be any number"
            self._not_allowed(pointee, show(element), "behind a pointer", advice)
            return ERROR
        return PointerType(
            element=element,
            is_const=node.qualifier == "const",
            is_atomic=node.qualifier == "atomic",
        )

    def shape_of(self, node: ast.Expression) -> tuple[ast.Expression, ...]:
        """The lengths in `ptr(f32[M, N])`, as written; none for a pointer without a shape."""
        if isinstance(node, ast.QualifiedType):
            node = node.type
        if isinstance(node, ast.PointerTypeExpression) and isinstance(node.element, ast.Index):
            return node.element.arguments
        return ()

    def _vector_type(self, node: ast.VectorTypeExpression) -> Type:
        element = self.type_of(node.element)
        lanes = self.constant_integer(node.lanes, "a vector's length")
        if lanes is None or isinstance(element, ErrorType):
            return ERROR
        if not isinstance(element, ScalarType):
            self._not_allowed(node.element, show(element), "in a vector", "use a scalar type")
            return ERROR
        return self.vector(element, lanes, node)

    def vector(self, element: ScalarType, lanes: int, node: ast.Expression) -> Type:
        """A vector type of one aligned access, at most 16 bytes."""
        size = element.scalar.size * lanes
        if lanes not in _LANES or size > _LARGEST_ACCESS:
            self.report(BadVector(at=node.span, lanes=lanes, element=show(element), size=size))
            return ERROR
        return VectorType(element=element.scalar, lanes=lanes)

    # ------------------------------------------------------------------ tensor maps

    @abstractmethod
    def tensor_layout(self, node: ast.Expression, size: int) -> Layout | None:
        """The swizzle of elements of `size` bytes that a name stands for; None after reporting."""

    def _tensor_map(self, node: ast.TensorMapTypeExpression) -> Type:
        """`tensor_map(T[h, w], swizzle)`: the box is what one copy moves."""
        if not isinstance(node.box, ast.Index):
            reason, advice = (
                "a tensor map has a box",
                "write its lengths: `tensor_map(f32[16, 32])`",
            )
            self.report(BadTensorMap(at=node.span, reason=reason, advice=advice))
            return ERROR
        element = self.type_of(node.box.value)
        lengths = [self.constant_integer(length, "a box's length") for length in node.box.arguments]
        box = tuple(length for length in lengths if length is not None)
        if element is ERROR or len(box) != len(lengths):
            return ERROR
        if not isinstance(element, ScalarType):
            advice = "use a scalar type"
            self._not_allowed(node.box.value, show(element), "in a tensor map", advice)
            return ERROR
        layout = None
        if node.layout is not None:
            layout = self.tensor_layout(node.layout, element.scalar.size)
            if layout is None:
                return ERROR
        width = layout.swizzle.width if layout is not None and layout.swizzle is not None else 0
        reason = _box_reason(box, element.scalar.size, width)
        if reason:
            advice = "choose another box: a larger tile is several copies"
            self.report(BadTensorMap(at=node.box.span, reason=reason, advice=advice))
            return ERROR
        symbol = layout.function.symbol if layout is not None and width else ""
        return TensorMapType(element=element.scalar, box=box, layout=symbol)

    # ------------------------------------------------------------------ perspectives

    def perspective_of(self, node: ast.Expression) -> Perspective | None:
        """The perspective that an expression names, None after reporting (or if not known)."""
        if isinstance(node, ast.PerspectiveLiteral):
            return self._perspective_literal(node)
        binding = self.binding_at(node)
        if isinstance(binding, Perspective):
            return binding
        symbol = self.symbol_at(node)
        is_name = isinstance(node, ast.Reference | ast.Member)
        is_refused_name = is_name and (symbol is None or symbol.kind is SymbolKind.UNKNOWN)
        if isinstance(binding, Unknown) or is_refused_name:
            self.is_failed = True
            return None
        what = f"`{symbol.name}`" if symbol is not None else "this"
        note = self.note(symbol.span, "it is declared here") if symbol and symbol.module else ()
        self.report(NotAPerspective(at=node.span, what=what, related=note))
        return None

    def order_of(self, node: ast.Expression) -> MemoryOrder | None:
        """The memory order that an expression names, None after reporting (or if not known)."""
        binding = self.binding_at(node)
        symbol = self.symbol_at(node)
        if isinstance(binding, MemoryOrder):
            return binding
        if symbol is not None and symbol.kind is SymbolKind.BUILTIN and symbol.name in ORDERS:
            return ORDERS[symbol.name]
        is_name = isinstance(node, ast.Reference | ast.Member)
        if isinstance(binding, Unknown) or (is_name and symbol is None):
            self.is_failed = True
            return None
        if symbol is None or symbol.kind is not SymbolKind.UNKNOWN:
            what = f"`{symbol.name}`" if symbol is not None else "this"
            note = self.note(symbol.span, "it is declared here") if symbol and symbol.module else ()
            self.report(NotAnOrder(at=node.span, what=what, related=note))
        self.is_failed = True
        return None

    def names_order(self, node: ast.Expression) -> bool:
        """Whether an expression stands for a memory order, without reporting anything."""
        symbol = self.symbol_at(node)
        is_word = symbol is not None and symbol.kind is SymbolKind.BUILTIN and symbol.name in ORDERS
        return is_word or isinstance(self.binding_at(node), MemoryOrder)

    # ------------------------------------------------------------------ notes

    def constants_of(self, node: ast.Expression) -> tuple[Related, ...]:
        """Where the constants that an expression names are declared, with their values."""
        notes = {}
        for reference in find(node, ast.Reference):
            symbol, value = self.symbol_at(reference), self.shown_constant(reference)
            if symbol is not None and value and isinstance(symbol.node, ast.Constant):
                message = f"`{symbol.name}` is {value}, declared here"
                notes[symbol.name] = Related(at=symbol.span, message=message)
        return tuple(notes.values())

    def shown_constant(self, node: ast.Expression) -> str:
        """The value of a name in a condition; empty for what is no constant."""
        symbol = self.symbol_at(node)
        if symbol is not None and symbol.kind is SymbolKind.BUILTIN:
            return ""
        if self.names_perspective(node):
            return str(self.perspective_of(node))
        if self.names_type(node):
            return show(self.type_of(node))
        binding = self.environment.get(symbol) if symbol is not None else None
        if symbol is not None and binding is None and isinstance(symbol.node, ast.Constant):
            binding = self.program.constant(symbol)
        if not isinstance(binding, typed.Constant):
            return ""
        value = binding.value
        return str(value).lower() if isinstance(value, bool) else str(value)

    # ------------------------------------------------------------------ perspectives

    def names_perspective(self, node: ast.Expression) -> bool:
        """Whether an expression stands for a perspective, without reporting anything."""
        return isinstance(node, ast.PerspectiveLiteral) or isinstance(
            self.binding_at(node), Perspective
        )

    def _perspective_literal(self, node: ast.PerspectiveLiteral) -> Perspective | None:
        size = self.constant_integer(node.size, "the size of a perspective")
        if size is None:
            return None
        if not 1 <= size < _LARGEST_SIZE or (node.level == "grid" and size != 1):
            limit = "1, there is one grid" if node.level == "grid" else "1 or more"
            self.report(
                BadPerspectiveSize(
                    at=node.size.span,
                    level=node.level,
                    size=size,
                    limit=limit,
                    related=self.constants_of(node.size),
                )
            )
            return None
        unit = SPELLINGS[node.level]
        return Perspective(unit.level, unit.size * size)

    def stated(self, at: ast.At | None) -> Perspective | None:
        """`@ q`; None if nothing is stated or it was refused."""
        return None if at is None else self.perspective_of(at.perspective)

    def variable_at(self, node: ast.Expression) -> typed.Variable | None:
        """The variable that a plain name stands for."""
        binding = self.binding_at(node)
        return binding if isinstance(binding, typed.Variable) else None

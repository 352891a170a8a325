"""Operators: operand types, literals that adapt, folding."""

from __future__ import annotations

from abc import abstractmethod

from prismc.checker.types import typed
from prismc.checker.types.constant_errors import (
    ConstantDivisionByZero,
    ShiftOutOfRange,
)
from prismc.checker.types.context import UNKNOWN, is_refused
from prismc.checker.types.errors import (
    LiteralDoesNotFit,
    OperandsDiffer,
    OperatorNotForType,
    TypeMismatch,
)
from prismc.checker.types.fold import (
    COMPARISONS,
    fold_booleans,
    fold_floats,
    fold_integers,
    fold_unary,
)
from prismc.checker.types.model import BOOLEAN, LiteralType, ScalarType, Type, scalar_of
from prismc.checker.types.numbers import Number
from prismc.checker.types.operands import (
    advice_for,
    common_literal,
    compare_perspectives,
    folds_as_literal,
    is_integral,
    takes,
    unary_takes,
    wider_of,
)
from prismc.checker.types.show import show
from prismc.checker.types.type_expressions import TypeExpressions
from prismc.diagnostics.problem import Related
from prismc.frontend import ast
from prismc.hardware.scalars import Kind
from prismc.source.span import Span

_LITERAL_LIMIT = 1 << 128
_LITERAL_SHIFT = 128


class Operators(TypeExpressions):
    """Both sides of an operator have one type; nothing is converted silently."""

    def unary(self, node: ast.Unary, expected: Type | None) -> typed.Expression:
        """`-`, `+`, `~` and `not`."""
        if node.operator == "not":
            operand = self.require_bool(node.operand, "`not`")
        else:
            operand = self.expression(node.operand, expected)
        if is_refused(operand):
            return operand
        sign = node.operator
        if isinstance(operand, typed.Constant) and folds_as_literal(sign, operand.type):
            return self.constant(node.span, operand.type, fold_unary(sign, operand.value, None))
        operand = self.settled(operand)
        if is_refused(operand):
            return operand
        if sign != "not" and not unary_takes(sign, operand.type):
            return self._refuse_operator(node.span, sign, operand)
        if isinstance(operand, typed.Constant):
            value = fold_unary(sign, operand.value, scalar_of(operand.type))
            return self.constant(node.span, operand.type, value)
        if sign == "+":
            return operand
        return typed.Unary(
            id=self.id(), span=node.span, type=operand.type, operator=sign, operand=operand
        )

    def binary(self, node: ast.Binary, expected: Type | None) -> typed.Expression:
        """All operators with two sides, comparisons and `and`, `or` among them."""
        sign = node.operator
        if sign in ("and", "or"):
            return self._logical(node)
        if sign in COMPARISONS:
            expected = None
            compared = self._compare_compile_time(node)
            if compared is not None:
                return compared
        left = self.expression(node.left, expected)
        right = self.expression(node.right, None if sign in ("<<", ">>") else expected)
        return self.combine(sign, left, right, node.span, node.operator_span, node.right)

    def combine(
        self,
        sign: str,
        left: typed.Expression,
        right: typed.Expression,
        span: Span,
        sign_span: Span,
        written: ast.Expression | None = None,
    ) -> typed.Expression:
        """`left sign right`, folded if both are known; `written` is the right side in the text."""
        if is_refused(left) or is_refused(right):
            return self.refused(span)
        if sign in ("<<", ">>"):
            return self._shift(sign, left, right, span, written)
        met = self._meet(sign, left, right, sign_span)
        if met is None:
            return self.refused(span)
        left, right = met
        if not isinstance(left.type, LiteralType) and not takes(sign, left.type):
            return self._refuse_operator(sign_span, sign, left)
        if sign in ("/", "%") and self._divides_by_zero(sign, left.type, right, written):
            return self.refused(span)
        type_ = BOOLEAN if sign in COMPARISONS else left.type
        if isinstance(left, typed.Constant) and isinstance(right, typed.Constant):
            return self._folded(sign, left, right, type_, span)
        return typed.Binary(
            id=self.id(), span=span, type=type_, operator=sign, left=left, right=right
        )

    def _meet(
        self, sign: str, left: typed.Expression, right: typed.Expression, at: Span
    ) -> tuple[typed.Expression, typed.Expression] | None:
        """Both sides at one type: a literal takes the other's; two literals stay literals."""
        left_literal = isinstance(left.type, LiteralType)
        right_literal = isinstance(right.type, LiteralType)
        if left_literal and right_literal:
            if isinstance(left, typed.Constant) and isinstance(right, typed.Constant):
                return left, right
            left, right = self.settled(left), self.settled(right)
        elif left_literal:
            left = self.adapt(left, right.type) or left
        elif right_literal:
            right = self.adapt(right, left.type) or right
        if is_refused(left) or is_refused(right):
            return None
        if left.type == right.type:
            return left, right
        for side in (left, right):
            if not isinstance(side.type, ScalarType | LiteralType):
                self._refuse_operator(at, sign, side)
                return None
        self._report_operands(sign, left, right, at)
        return None

    def _report_operands(
        self, sign: str, left: typed.Expression, right: typed.Expression, at: Span
    ) -> None:
        wider = wider_of(left.type, right.type)
        self.report(
            OperandsDiffer(
                at=at,
                operator=sign,
                left=show(left.type),
                right=show(right.type),
                advice=f"convert one side: `{wider}(..)`" if wider else "use operands of one type",
                related=(
                    Related(at=left.span, message=f"this is {show(left.type)}"),
                    Related(at=right.span, message=f"this is {show(right.type)}"),
                ),
            )
        )

    def _refuse_operator(self, at: Span, sign: str, operand: typed.Expression) -> typed.Expression:
        self.report(
            OperatorNotForType(
                at=at,
                operator=sign,
                type=show(operand.type),
                advice=advice_for(sign, operand.type),
                related=self.what_it_is(operand),
            )
        )
        return self.refused(operand.span)

    def _divides_by_zero(
        self, sign: str, of: Type, right: typed.Expression, written: ast.Expression | None
    ) -> bool:
        """A constant divisor 0, except in float arithmetic, which has infinity."""
        if not isinstance(right, typed.Constant) or right.value != 0:
            return False
        if isinstance(of, LiteralType):
            is_float = of.is_float or isinstance(right.value, float)
        else:
            is_float = isinstance(of, ScalarType) and of.scalar.is_float
        if is_float:
            return False
        notes = self.constants_of(written) if written is not None else ()
        self.report(ConstantDivisionByZero(at=right.span, operator=sign, related=notes))
        return True

    def _folded(
        self,
        sign: str,
        left: typed.Constant,
        right: typed.Constant,
        type_: Type,
        span: Span,
    ) -> typed.Expression:
        if sign in COMPARISONS:
            return self.constant(span, BOOLEAN, COMPARISONS[sign](left.value, right.value))
        if isinstance(left.type, LiteralType) and isinstance(right.type, LiteralType):
            return self._folded_literals(sign, left, right, span)
        scalar = scalar_of(left.type)
        assert scalar is not None, "operators take scalars"
        value: Number
        if scalar.kind is Kind.BOOL:
            value = fold_booleans(sign, bool(left.value), bool(right.value))
        elif scalar.is_float:
            value = fold_floats(sign, float(left.value), float(right.value), scalar)
        else:
            value = fold_integers(sign, int(left.value), int(right.value), scalar)
        return self.constant(span, type_, value)

    def _folded_literals(
        self, sign: str, left: typed.Constant, right: typed.Constant, span: Span
    ) -> typed.Expression:
        assert isinstance(left.type, LiteralType)
        assert isinstance(right.type, LiteralType)
        is_float = left.type.is_float or right.type.is_float
        if not is_float:
            value = fold_integers(sign, int(left.value), int(right.value), None)
            if abs(value) >= _LITERAL_LIMIT:
                self.report(LiteralDoesNotFit(at=span, value="the result", type="128 bits"))
                return self.refused(span)
            return self.constant(span, left.type, value)
        if sign not in ("+", "-", "*", "/"):
            return self._refuse_operator(span, sign, self.settled(left))
        result = fold_floats(sign, float(left.value), float(right.value), None)
        return self.constant(span, LiteralType(is_float=True), result)

    def _shift(
        self,
        sign: str,
        left: typed.Expression,
        right: typed.Expression,
        span: Span,
        written: ast.Expression | None,
    ) -> typed.Expression:
        """Each side has a type of its own; the result has the left one's."""
        right = self.settled(right)
        if isinstance(left.type, LiteralType) and not isinstance(right, typed.Constant):
            left = self.settled(left)
        if is_refused(left) or is_refused(right):
            return self.refused(span)
        for side in (left, right):
            if not is_integral(side.type):
                return self._refuse_operator(side.span, sign, self.settled(side))
        scalar = scalar_of(left.type)
        bits = scalar.bits if scalar else _LITERAL_SHIFT
        if not isinstance(right, typed.Constant):
            return typed.Binary(
                id=self.id(), span=span, type=left.type, operator=sign, left=left, right=right
            )
        if not 0 <= right.value < bits:
            shown = show(left.type)
            amount = int(right.value)
            self.report(
                ShiftOutOfRange(
                    at=right.span,
                    amount=amount,
                    bits=bits,
                    last=bits - 1,
                    type=shown,
                    related=self.constants_of(written) if written is not None else (),
                )
            )
            return self.refused(span)
        if isinstance(left, typed.Constant):
            value = fold_integers(sign, int(left.value), int(right.value), scalar)
            return self.constant(span, left.type, value)
        return typed.Binary(
            id=self.id(), span=span, type=left.type, operator=sign, left=left, right=right
        )

    # ------------------------------------------------------------------ lazy operators

    def _logical(self, node: ast.Binary) -> typed.Expression:
        """A known left side that decides leaves the right one out."""
        left = self.require_bool(node.left, f"`{node.operator}`")
        if isinstance(left, typed.Constant):
            if bool(left.value) == (node.operator == "or"):
                return self.constant(node.span, BOOLEAN, bool(left.value))
            return self.require_bool(node.right, f"`{node.operator}`")
        right = self.require_bool(node.right, f"`{node.operator}`")
        if is_refused(left) or is_refused(right):
            return self.refused(node.span)
        return typed.Logical(
            id=self.id(),
            span=node.span,
            type=BOOLEAN,
            operator=node.operator,
            left=left,
            right=right,
        )

    def conditional(self, node: ast.Conditional, expected: Type | None) -> typed.Expression:
        """A known condition leaves the other side out."""
        condition = self.require_bool(node.condition, "`if .. else`")
        if isinstance(condition, typed.Constant):
            return self.expression(node.value if condition.value else node.otherwise, expected)
        value = self.expression(node.value, expected)
        otherwise = self.expression(node.otherwise, expected)
        if is_refused(condition) or is_refused(value) or is_refused(otherwise):
            return self.refused(node.span)
        value, otherwise = self._same_type(value, otherwise, expected)
        if is_refused(value) or is_refused(otherwise):
            return self.refused(node.span)
        return typed.Conditional(
            id=self.id(),
            span=node.span,
            type=value.type,
            value=value,
            condition=condition,
            otherwise=otherwise,
        )

    def _same_type(
        self, value: typed.Expression, otherwise: typed.Expression, expected: Type | None
    ) -> tuple[typed.Expression, typed.Expression]:
        literals = isinstance(value.type, LiteralType), isinstance(otherwise.type, LiteralType)
        if literals == (True, True):
            target = expected or common_literal(value.type, otherwise.type)
            one, other = self.adapt(value, target), self.adapt(otherwise, target)
            return one or self.settled(value), other or self.settled(otherwise)
        if literals[0]:
            value = self.require_type(value, otherwise.type)
        else:
            otherwise = self.require_type(otherwise, value.type)
        if not is_refused(value) and not isinstance(value.type, ScalarType):
            self.report(
                TypeMismatch(
                    at=value.span,
                    expected="a scalar",
                    found=show(value.type),
                    advice="choose between scalars, or use an `if` statement",
                )
            )
            value = self.refused(value.span)
        return value, otherwise

    # ------------------------------------------------------------------ types, perspectives

    def _compare_compile_time(self, node: ast.Binary) -> typed.Expression | None:
        """`P <= thread[32]`, `T == f32`: comparisons of what is known while compiling."""
        sides = (node.left, node.right)
        if any(self.binding_at(side) is UNKNOWN or self._is_unresolved(side) for side in sides):
            return self.refused(node.span)
        if any(self.names_perspective(side) for side in sides):
            left, right = (self.perspective_of(side) for side in sides)
            if left is None or right is None:
                return self.refused(node.span)
            return self.constant(
                node.span, BOOLEAN, compare_perspectives(node.operator, left, right)
            )
        if any(self.names_order(side) for side in sides) and node.operator in ("==", "!="):
            orders = [self.order_of(side) for side in sides]
            if None in orders:
                return self.refused(node.span)
            same = orders[0] is orders[1]
            return self.constant(node.span, BOOLEAN, same == (node.operator == "=="))
        if any(self.layout_named(side) for side in sides) and node.operator in ("==", "!="):
            layouts = [self.layout_named(side) for side in sides]
            if None in layouts:
                return self.refused(node.span)
            same = layouts[0] == layouts[1]
            return self.constant(node.span, BOOLEAN, same == (node.operator == "=="))
        if all(self.names_type(side) for side in sides) and node.operator in ("==", "!="):
            same = self.type_of(node.left) == self.type_of(node.right)
            return self.constant(node.span, BOOLEAN, same == (node.operator == "=="))
        return None

    @abstractmethod
    def layout_named(self, node: ast.Expression) -> str | None:
        """The name of the layout that a node stands for, as `layout_of(p)` does; None if it stands
        for none."""

    def _is_unresolved(self, node: ast.Expression) -> bool:
        return isinstance(node, ast.Reference) and self.symbol_at(node) is None

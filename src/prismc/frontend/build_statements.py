"""Actions of the grammar for statements that hold no others."""

from __future__ import annotations

from prismc.frontend import ast
from prismc.frontend.build_expressions import ExpressionBuilder
from prismc.frontend.errors import NotAssignable
from prismc.frontend.tables import Token
from prismc.source.span import Span


class StatementBuilder(ExpressionBuilder):
    """Makes the nodes of one file's statements and of the expressions in them."""

    # ---------------------------------------------------------------------------- simple statements

    def expression_statement(self, span: Span, value: ast.Expression) -> ast.ExpressionStatement:
        return ast.ExpressionStatement(value=value, id=next(self._ids), span=span)

    def declare(
        self,
        span: Span,
        name: ast.Expression,
        colon: Token,
        type: ast.Expression,
        at: ast.At | None,
        value: ast.Expression | None,
    ) -> ast.Declare:
        return ast.Declare(
            name=self._declared(name),
            type=type,
            at=at,
            value=value,
            id=next(self._ids),
            span=span,
        )

    def infer(
        self, span: Span, name: ast.Expression, sign: Token, value: ast.Expression
    ) -> ast.Declare:
        return ast.Declare(
            name=self._declared(name),
            type=None,
            at=None,
            value=value,
            id=next(self._ids),
            span=span,
        )

    def infer_several(
        self, span: Span, names: list[ast.Expression], sign: Token, value: ast.Expression
    ) -> ast.DeclareSeveral:
        return ast.DeclareSeveral(
            names=tuple(map(self._declared, names)), value=value, id=next(self._ids), span=span
        )

    def _declared(self, target: ast.Expression) -> ast.Name:
        """The name that a declaration gives, where the grammar allows any expression."""
        if isinstance(target, ast.Reference):
            return ast.Name(id=target.id, text=target.name, span=target.span)
        advice = "declare a name, such as `x: int = 0`; assign to an element with `=`"
        self._not_assignable(target, "declared", "name", advice)
        return ast.Name(id=target.id, text="", span=target.span)

    def assign(
        self, span: Span, target: ast.Expression, sign: Token, value: ast.Expression
    ) -> ast.Assign:
        return ast.Assign(
            target=self._assigned(target),
            operator=self._source(sign)[:-1],
            value=value,
            id=next(self._ids),
            span=span,
        )

    def assign_several(
        self,
        span: Span,
        targets: list[ast.Expression],
        sign: Token,
        values: list[ast.Expression],
    ) -> ast.AssignSeveral:
        return ast.AssignSeveral(
            targets=tuple(map(self._assigned, targets)),
            values=tuple(values),
            id=next(self._ids),
            span=span,
        )

    def _assigned(self, target: ast.Expression) -> ast.Expression:
        if not isinstance(target, ast.Reference | ast.Index | ast.Member):
            advice = "assign to a name, an element `x[i]` or a component `v.x`; `==` compares"
            self._not_assignable(target, "assigned", "place that holds a value", advice)
        return target

    def _not_assignable(
        self, target: ast.Expression, action: str, wanted: str, advice: str
    ) -> None:
        problem = NotAssignable(
            at=target.span, what=_describe(target), action=action, wanted=wanted, advice=advice
        )
        self.problems.append(problem)

    def local_constant(
        self,
        span: Span,
        word: Token,
        name: Token,
        type: ast.Expression | None,
        equal: Token,
        value: ast.Expression,
    ) -> ast.ConstantDeclaration:
        return ast.ConstantDeclaration(
            name=self._name(name), type=type, value=value, id=next(self._ids), span=span
        )

    def shared(
        self,
        span: Span,
        word: Token,
        name: Token,
        colon: Token,
        type: ast.Expression,
        at: ast.At | None,
        align_word: Token | None,
        align: ast.Expression | None,
        layout_word: Token | None,
        layout: ast.Expression | None,
    ) -> ast.Shared:
        return ast.Shared(
            name=self._name(name),
            type=type,
            at=at,
            align=align,
            layout=layout,
            id=next(self._ids),
            span=span,
        )

    def return_(self, span: Span, word: Token, values: list[ast.Expression] | None) -> ast.Return:
        return ast.Return(values=tuple(values or ()), id=next(self._ids), span=span)

    def break_(self, span: Span, word: Token) -> ast.Break:
        return ast.Break(id=next(self._ids), span=span)

    def continue_(self, span: Span, word: Token) -> ast.Continue:
        return ast.Continue(id=next(self._ids), span=span)

    def pass_(self, span: Span, word: Token) -> ast.Pass:
        return ast.Pass(id=next(self._ids), span=span)

    def assert_(
        self,
        span: Span,
        static: Token | None,
        word: Token,
        condition: ast.Expression,
        comma: Token | None,
        message: ast.String | None,
    ) -> ast.Assert:
        return ast.Assert(
            condition=condition,
            message=message,
            is_static=static is not None,
            id=next(self._ids),
            span=span,
        )


def _describe(expression: ast.Expression) -> str:
    match expression:
        case ast.Integer() | ast.Float() | ast.Boolean() | ast.String():
            return "a literal"
        case ast.Call():
            return "the result of a call"
        case ast.Unary(operator=operator) | ast.Binary(operator=operator):
            return f"the result of `{operator}`"
        case ast.Index() | ast.Member():
            return "a part of a variable"
        case _:
            return "this expression"

"""Actions of the grammar for expressions and types; the base of the other builders.

Ids are given as nodes are made, so a node comes after its parts. What the grammar allows and the
language does not (a call as the target of an assignment, a loop over no range) is noted in
`problems`; a node is made anyway, and the parser drops the declaration.
"""

from __future__ import annotations

from itertools import count
from typing import TypeVar

from prismc.diagnostics.problem import Problem, Related
from prismc.frontend import ast
from prismc.frontend.errors import BadEscape, BadNumber, PositionalAfterNamed
from prismc.frontend.literals import float_value, integer_value, shorten, string_value
from prismc.frontend.tables import Token
from prismc.source.files import SourceFile
from prismc.source.span import Span

T = TypeVar("T")
Arguments = list[ast.Expression | ast.NamedArgument]


class ExpressionBuilder:
    """Makes the nodes of one file's expressions. Each action gets its span and its symbols."""

    def __init__(self, file: SourceFile) -> None:
        self.problems: list[Problem] = []
        self._text = file.text
        self._file = file.name
        self._ids = count()

    def next_id(self) -> int:
        return next(self._ids)

    def number_from(self, first: int) -> None:
        """The next node's id is `first`."""
        self._ids = count(first)

    def _source(self, token: Token) -> str:
        return self._text[token[1] : token[2]]

    def _span(self, token: Token) -> Span:
        return Span(self._file, token[1], token[2])

    def _header(self, span: Span, colon: Token) -> Span:
        """From the start of a statement to its colon."""
        return Span(self._file, span.start, colon[2])

    def _name(self, token: Token) -> ast.Name:
        return ast.Name(id=next(self._ids), text=self._source(token), span=self._span(token))

    def one(self, span: Span, item: T) -> list[T]:
        return [item]

    def more(self, span: Span, items: list[T], comma: Token, item: T) -> list[T]:
        items.append(item)
        return items

    def grow(self, span: Span, items: list[T], item: T) -> list[T]:
        items.append(item)
        return items

    def pair(self, span: Span, left: T, comma: Token, right: T) -> list[T]:
        return [left, right]

    def first(self, span: Span, value: T, *rest: object) -> T:
        return value

    def second(self, span: Span, left: object, value: T, *rest: object) -> T:
        return value

    def third(self, span: Span, left: object, middle: object, value: T) -> T:
        return value

    def bracketed(
        self, span: Span, opening: Token, items: list[T] | None, *rest: object
    ) -> list[T]:
        return items or []

    # ---------------------------------------------------------------------------- operators

    def conditional(
        self,
        span: Span,
        value: ast.Expression,
        if_word: Token,
        condition: ast.Expression,
        else_word: Token,
        otherwise: ast.Expression,
    ) -> ast.Conditional:
        return ast.Conditional(
            value=value,
            condition=condition,
            otherwise=otherwise,
            id=next(self._ids),
            span=span,
        )

    def binary(
        self, span: Span, left: ast.Expression, operator: Token, right: ast.Expression
    ) -> ast.Binary:
        return ast.Binary(
            operator=self._source(operator),
            left=left,
            right=right,
            operator_span=self._span(operator),
            id=next(self._ids),
            span=span,
        )

    def unary(self, span: Span, operator: Token, operand: ast.Expression) -> ast.Unary:
        return ast.Unary(
            operator=self._source(operator), operand=operand, id=next(self._ids), span=span
        )

    def member(self, span: Span, value: ast.Expression, dot: Token, name: Token) -> ast.Member:
        return ast.Member(value=value, name=self._name(name), id=next(self._ids), span=span)

    def index(
        self,
        span: Span,
        value: ast.Expression,
        opening: Token,
        arguments: Arguments,
        closing: Token,
    ) -> ast.Index:
        positional, named = self._split(arguments)
        return ast.Index(
            value=value, arguments=positional, named=named, id=next(self._ids), span=span
        )

    def call(
        self,
        span: Span,
        callee: ast.Expression,
        opening: Token,
        arguments: Arguments | None,
        closing: Token,
    ) -> ast.Call:
        positional, named = self._split(arguments or [])
        return ast.Call(
            callee=callee, arguments=positional, named=named, id=next(self._ids), span=span
        )

    def named_argument(
        self, span: Span, name: Token, equal: Token, value: ast.Expression
    ) -> ast.NamedArgument:
        return ast.NamedArgument(name=self._name(name), value=value, id=next(self._ids), span=span)

    def _split(
        self, arguments: Arguments
    ) -> tuple[tuple[ast.Expression, ...], tuple[ast.NamedArgument, ...]]:
        """Positional and named arguments, which come in this order."""
        positional: list[ast.Expression] = []
        named: list[ast.NamedArgument] = []
        for argument in arguments:
            if isinstance(argument, ast.NamedArgument):
                named.append(argument)
            else:
                positional.append(argument)
                if named:
                    note = Related(at=named[0].span, message="this one has a name")
                    self.problems.append(PositionalAfterNamed(at=argument.span, related=(note,)))
        return tuple(positional), tuple(named)

    # ---------------------------------------------------------------------------- atoms

    def reference(self, span: Span, name: Token) -> ast.Reference:
        return ast.Reference(name=self._source(name), id=next(self._ids), span=span)

    def boolean(self, span: Span, word: Token) -> ast.Boolean:
        return ast.Boolean(value=self._source(word) == "true", id=next(self._ids), span=span)

    def integer(self, span: Span, token: Token) -> ast.Integer:
        text = self._source(token)
        value = integer_value(text)
        if value is None:
            reason = "larger than 64 bits can hold"
            self.problems.append(BadNumber(at=span, text=shorten(text), reason=reason))
        return ast.Integer(value=value or 0, text=text, id=next(self._ids), span=span)

    def float_(self, span: Span, token: Token) -> ast.Float:
        text = self._source(token)
        value = float_value(text)
        if value is None:
            reason = "larger than an f64 can hold"
            self.problems.append(BadNumber(at=span, text=shorten(text), reason=reason))
        return ast.Float(value=value or 0.0, text=text, id=next(self._ids), span=span)

    def string(self, span: Span, token: Token) -> ast.String:
        return ast.String(value=self._string_value(token), id=next(self._ids), span=span)

    def longer_string(self, span: Span, start: ast.String, token: Token) -> ast.String:
        value = start.value + self._string_value(token)
        return ast.String(value=value, id=next(self._ids), span=span)

    def _string_value(self, token: Token) -> str:
        value, faults = string_value(self._source(token))
        for offset, escape in faults:
            start = token[1] + offset
            at = Span(self._file, start, start + len(escape))
            self.problems.append(BadEscape(at=at, escape=escape))
        return value

    def perspective(
        self, span: Span, level: Token, opening: Token, size: ast.Expression, closing: Token
    ) -> ast.PerspectiveLiteral:
        return ast.PerspectiveLiteral(
            level=self._source(level), size=size, id=next(self._ids), span=span
        )

    def at(self, span: Span, sign: Token, perspective: ast.Expression) -> ast.At:
        return ast.At(perspective=perspective, id=next(self._ids), span=span)

    # ---------------------------------------------------------------------------- types

    def index_type(
        self,
        span: Span,
        element: ast.Expression,
        opening: Token,
        sizes: list[ast.Expression],
        closing: Token,
    ) -> ast.Index:
        return ast.Index(value=element, arguments=tuple(sizes), id=next(self._ids), span=span)

    def qualified_type(
        self, span: Span, qualifier: Token, type: ast.Expression
    ) -> ast.QualifiedType:
        return ast.QualifiedType(
            qualifier=self._source(qualifier), type=type, id=next(self._ids), span=span
        )

    def pointer(
        self,
        span: Span,
        word: Token,
        opening: Token,
        qualifier: Token | None,
        element: ast.Expression,
        closing: Token,
    ) -> ast.PointerTypeExpression:
        return ast.PointerTypeExpression(
            qualifier=self._source(qualifier) if qualifier else None,
            element=element,
            id=next(self._ids),
            span=span,
        )

    def vector(
        self,
        span: Span,
        word: Token,
        opening: Token,
        element: ast.Expression,
        comma: Token,
        lanes: ast.Expression,
        closing: Token,
    ) -> ast.VectorTypeExpression:
        return ast.VectorTypeExpression(element=element, lanes=lanes, id=next(self._ids), span=span)

    def tensor_map(
        self,
        span: Span,
        word: Token,
        opening: Token,
        box: ast.Expression,
        comma: Token | None,
        layout: ast.Expression | None,
        closing: Token,
    ) -> ast.TensorMapTypeExpression:
        return ast.TensorMapTypeExpression(box=box, layout=layout, id=next(self._ids), span=span)

    def function_type(
        self,
        span: Span,
        word: Token,
        opening: Token,
        parameters: list[ast.Expression] | None,
        closing: Token,
        arrow: Token,
        result: Token,
    ) -> ast.FunctionTypeExpression:
        return ast.FunctionTypeExpression(
            parameters=tuple(parameters or ()),
            result=self.reference(self._span(result), result),
            id=next(self._ids),
            span=span,
        )

"""Actions of the grammar for statements that hold others."""

from __future__ import annotations

from prismc.frontend import ast
from prismc.frontend.build_statements import StatementBuilder
from prismc.frontend.errors import LoopWithoutRange
from prismc.frontend.tables import Token
from prismc.source.span import Span

Body = tuple[ast.Statement, ...]
Elif = tuple[Token, ast.Expression, Body]


class BlockBuilder(StatementBuilder):
    """Makes the nodes of one file's blocks and of all that is in them."""

    # ---------------------------------------------------------------------------- blocks

    def block(
        self, span: Span, newline: Token, indent: Token, statements: list[ast.Statement], out: Token
    ) -> Body:
        return tuple(statements)

    def line_block(self, span: Span, statement: ast.Statement, newline: Token) -> Body:
        return (statement,)

    def if_(
        self,
        span: Span,
        static: Token | None,
        word: Token,
        condition: ast.Expression,
        colon: Token,
        body: Body,
        elifs: list[Elif] | None,
        otherwise: Body | None,
    ) -> ast.If:
        rest = otherwise or ()
        is_static = static is not None
        for elif_word, elif_condition, elif_body in reversed(elifs or []):
            rest = (
                ast.If(
                    condition=elif_condition,
                    body=elif_body,
                    otherwise=rest,
                    is_static=is_static,
                    id=next(self._ids),
                    span=Span(self._file, elif_word[1], span.end),
                ),
            )
        return ast.If(
            condition=condition,
            body=body,
            otherwise=rest,
            is_static=is_static,
            id=next(self._ids),
            span=span,
        )

    def elif_(
        self, span: Span, word: Token, condition: ast.Expression, colon: Token, body: Body
    ) -> Elif:
        return word, condition, body

    def while_(
        self, span: Span, word: Token, condition: ast.Expression, colon: Token, body: Body
    ) -> ast.While:
        return ast.While(condition=condition, body=body, id=next(self._ids), span=span)

    def for_(
        self,
        span: Span,
        mode: Token | None,
        word: Token,
        variable: Token,
        in_word: Token,
        iterable: ast.Expression,
        colon: Token,
        body: Body,
    ) -> ast.For:
        return ast.For(
            variable=self._name(variable),
            range=self._range(iterable),
            mode=self._source(mode) if mode else "",
            body=body,
            id=next(self._ids),
            span=span,
        )

    def _range(self, iterable: ast.Expression) -> tuple[ast.Expression, ...]:
        """The one to three arguments of `range(..)`."""
        match iterable:
            case ast.Call(callee=ast.Reference(name="range"), arguments=arguments, named=()):
                if 1 <= len(arguments) <= 3:
                    return arguments
                found = f"`range` takes one to three arguments, not {len(arguments)}"
            case _:
                found = "not a `range(..)`"
        self.problems.append(LoopWithoutRange(at=iterable.span, found=found))
        return (iterable,)

    def group(
        self, span: Span, word: Token, perspective: ast.Expression, colon: Token, body: Body
    ) -> ast.Group:
        return ast.Group(
            perspective=perspective,
            body=body,
            header=self._header(span, colon),
            id=next(self._ids),
            span=span,
        )

    def first_units(
        self, span: Span, word: Token, perspective: ast.Expression, colon: Token, body: Body
    ) -> ast.First:
        return ast.First(
            perspective=perspective,
            body=body,
            header=self._header(span, colon),
            id=next(self._ids),
            span=span,
        )

    def split(
        self,
        span: Span,
        word: Token,
        level: Token,
        colon: Token,
        newline: Token,
        indent: Token,
        cases: list[ast.Case],
        dedent: Token,
    ) -> ast.Split:
        return ast.Split(
            level=self._source(level),
            cases=tuple(cases),
            header=self._header(span, colon),
            id=next(self._ids),
            span=span,
        )

    def case(
        self, span: Span, word: Token, size: ast.Expression, colon: Token, body: Body
    ) -> ast.Case:
        return ast.Case(
            size=size, body=body, header=self._header(span, colon), id=next(self._ids), span=span
        )

    def partition(
        self, span: Span, word: Token, pairs: list[ast.Narrow], colon: Token, body: Body
    ) -> ast.Partition:
        return ast.Partition(
            pairs=tuple(pairs),
            body=body,
            header=self._header(span, colon),
            id=next(self._ids),
            span=span,
        )

    def claim(
        self, span: Span, word: Token, pairs: list[ast.Narrow], colon: Token, body: Body
    ) -> ast.Claim:
        return ast.Claim(
            pairs=tuple(pairs),
            body=body,
            header=self._header(span, colon),
            id=next(self._ids),
            span=span,
        )

    def async_(
        self, span: Span, word: Token, pairs: list[ast.Narrow], colon: Token, body: Body
    ) -> ast.Async:
        return ast.Async(
            pairs=tuple(pairs),
            body=body,
            header=self._header(span, colon),
            id=next(self._ids),
            span=span,
        )

    def narrow(
        self,
        span: Span,
        pointer: ast.Expression,
        as_word: Token,
        async_word: Token | None,
        name: Token,
        at: ast.At,
        offset: tuple[ast.Expression, ...] | None,
    ) -> ast.Narrow:
        function = offset[0] if offset and isinstance(offset[0], ast.Lambda) else None
        return ast.Narrow(
            pointer=pointer,
            name=self._name(name),
            is_async=async_word is not None,
            at=at,
            offset=() if function else offset or (),
            function=function,
            id=next(self._ids),
            span=span,
        )

    def renamed(
        self, span: Span, pointer: ast.Expression, as_word: Token, name: Token
    ) -> ast.Narrow:
        return ast.Narrow(
            pointer=pointer,
            name=self._name(name),
            is_async=True,
            at=None,
            offset=(),
            function=None,
            id=next(self._ids),
            span=span,
        )

    def offset(self, span: Span, word: Token, offset: ast.Expression) -> tuple[ast.Expression, ...]:
        return (offset,)

    def offset_pair(
        self,
        span: Span,
        word: Token,
        opening: Token,
        row: ast.Expression,
        comma: Token,
        column: ast.Expression,
        closing: Token,
    ) -> tuple[ast.Expression, ...]:
        return (row, column)

    def offset_function(
        self, span: Span, word: Token, parameter: Token, arrow: Token, body: ast.Expression
    ) -> tuple[ast.Expression, ...]:
        return (
            ast.Lambda(
                parameter=self._name(parameter),
                body=body,
                id=next(self._ids),
                span=Span(self._file, parameter[1], span.end),
            ),
        )

    def pipeline(
        self,
        span: Span,
        word: Token,
        variable: Token,
        in_word: Token,
        iterable: ast.Expression,
        through: Token,
        rings: list[ast.Ring],
        colon: Token,
        newline: Token,
        indent: Token,
        produce: Body,
        consume: Body,
        dedent: Token,
    ) -> ast.Pipeline:
        return ast.Pipeline(
            variable=self._name(variable),
            range=self._range(iterable),
            rings=tuple(rings),
            produce=produce,
            consume=consume,
            header=self._header(span, colon),
            id=next(self._ids),
            span=span,
        )

    def ring(self, span: Span, pointer: Token, as_word: Token, name: Token) -> ast.Ring:
        return ast.Ring(
            pointer=self._name(pointer), name=self._name(name), id=next(self._ids), span=span
        )

    def finish(
        self, span: Span, word: Token, counter: ast.Expression, colon: Token, body: Body
    ) -> ast.Finish:
        return ast.Finish(
            counter=counter,
            body=body,
            header=self._header(span, colon),
            id=next(self._ids),
            span=span,
        )

    def unsafe(self, span: Span, word: Token, colon: Token, body: Body) -> ast.Unsafe:
        return ast.Unsafe(
            body=body, header=self._header(span, colon), id=next(self._ids), span=span
        )

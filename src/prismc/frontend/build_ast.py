"""Actions of the grammar for declarations: values of a production in, a frozen node out.

`Builder` has one method for each `-> action` of grammar/prism.lark, in three layers: expressions,
statements and, here, declarations.
"""

from __future__ import annotations

from prismc.frontend import ast
from prismc.frontend.build_blocks import BlockBuilder, Body
from prismc.frontend.build_expressions import Arguments
from prismc.frontend.tables import Token
from prismc.source.span import Span

Path = tuple[tuple[str, ...], Span]


class Builder(BlockBuilder):
    """Makes the nodes of one file."""

    def module(
        self, span: Span, declarations: list[ast.Declaration] | None
    ) -> list[ast.Declaration]:
        return declarations or []

    def path(self, span: Span, name: Token) -> Path:
        return (self._source(name),), span

    def longer_path(self, span: Span, path: Path, dot: Token, name: Token) -> Path:
        return (*path[0], self._source(name)), span

    def import_module(
        self,
        span: Span,
        word: Token,
        path: Path,
        as_word: Token | None,
        alias: Token | None,
        newline: Token,
    ) -> ast.Import:
        return ast.Import(
            path=path[0],
            path_span=path[1],
            alias=self._name(alias) if alias else None,
            id=next(self._ids),
            span=span,
        )

    def import_names(
        self,
        span: Span,
        word: Token,
        path: Path,
        import_word: Token,
        names: list[ast.ImportedName],
        newline: Token,
    ) -> ast.FromImport:
        return ast.FromImport(
            path=path[0], path_span=path[1], names=tuple(names), id=next(self._ids), span=span
        )

    def imported_name(
        self, span: Span, name: Token, as_word: Token | None, alias: Token | None
    ) -> ast.ImportedName:
        return ast.ImportedName(
            name=self._name(name),
            alias=self._name(alias) if alias else None,
            id=next(self._ids),
            span=span,
        )

    def constant(
        self,
        span: Span,
        word: Token,
        name: Token,
        type: ast.Expression | None,
        equal: Token,
        value: ast.Expression,
        newline: Token,
    ) -> ast.Constant:
        return ast.Constant(
            name=self._name(name), type=type, value=value, id=next(self._ids), span=span
        )

    def export(
        self,
        span: Span,
        word: Token,
        name: Token,
        equal: Token,
        value: ast.Expression,
        newline: Token,
    ) -> ast.Export:
        return ast.Export(name=self._name(name), value=value, id=next(self._ids), span=span)

    def test(self, span: Span, word: Token, name: ast.String, colon: Token, body: Body) -> ast.Test:
        return ast.Test(
            name=name, body=body, header=self._header(span, colon), id=next(self._ids), span=span
        )

    def function(
        self,
        span: Span,
        attributes: list[ast.Attribute] | None,
        word: Token,
        name: Token,
        generics: list[ast.Generic] | None,
        parameters: list[ast.Parameter],
        results: list[ast.Result] | None,
        colon: Token,
        body: Body,
        is_unsafe: bool = False,
    ) -> ast.Function:
        return ast.Function(
            attributes=tuple(attributes or ()),
            name=self._name(name),
            generics=tuple(generics or ()),
            parameters=tuple(parameters),
            results=tuple(results or ()),
            body=body,
            is_unsafe=is_unsafe,
            header=Span(self._file, word[1], colon[2]),
            id=next(self._ids),
            span=span,
        )

    def unsafe_function(
        self,
        span: Span,
        attributes: list[ast.Attribute] | None,
        unsafe: Token,
        word: Token,
        name: Token,
        generics: list[ast.Generic] | None,
        parameters: list[ast.Parameter],
        results: list[ast.Result] | None,
        colon: Token,
        body: Body,
    ) -> ast.Function:
        return self.function(
            span,
            attributes,
            unsafe,
            name,
            generics,
            parameters,
            results,
            colon,
            body,
            is_unsafe=True,
        )

    def kernel(
        self,
        span: Span,
        attributes: list[ast.Attribute] | None,
        word: Token,
        name: Token,
        generics: list[ast.Generic] | None,
        parameters: list[ast.Parameter],
        colon: Token,
        body: Body,
    ) -> ast.Kernel:
        return ast.Kernel(
            attributes=tuple(attributes or ()),
            name=self._name(name),
            generics=tuple(generics or ()),
            parameters=tuple(parameters),
            body=body,
            header=Span(self._file, word[1], colon[2]),
            id=next(self._ids),
            span=span,
        )

    def attribute(
        self,
        span: Span,
        sign: Token,
        name: Token,
        opening: Token,
        arguments: Arguments | None,
        closing: Token,
        newline: Token,
    ) -> ast.Attribute:
        positional, named = self._split(arguments or [])
        return ast.Attribute(
            name=self._name(name),
            arguments=positional,
            named=named,
            id=next(self._ids),
            span=span,
        )

    def generic(self, span: Span, name: Token, colon: Token, kind: ast.Expression) -> ast.Generic:
        return ast.Generic(name=self._name(name), kind=kind, id=next(self._ids), span=span)

    def parameter(
        self, span: Span, name: Token, colon: Token, type: ast.Expression, at: ast.At | None
    ) -> ast.Parameter:
        return ast.Parameter(name=self._name(name), type=type, at=at, id=next(self._ids), span=span)

    def one_result(self, span: Span, arrow: Token, result: ast.Result) -> list[ast.Result]:
        return [result]

    def several_results(
        self,
        span: Span,
        arrow: Token,
        opening: Token,
        results: list[ast.Result],
        closing: Token,
    ) -> list[ast.Result]:
        return results

    def result(self, span: Span, type: ast.Expression, at: ast.At | None) -> ast.Result:
        return ast.Result(type=type, at=at, id=next(self._ids), span=span)

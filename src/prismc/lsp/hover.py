"""Hover: what a name is, the type and the perspective of an expression, and who speaks there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.model import ArrayType, ErrorType, VoidType
from prismc.checker.types.show import show
from prismc.frontend import ast
from prismc.frontend.declarations import comment_above, declaration_text
from prismc.hardware.groups import Bound, Level
from prismc.lsp.analysis import Analysis
from prismc.lsp.barriers import planned
from prismc.lsp.code import Code, hidden_names
from prismc.lsp.documents import Document
from prismc.lsp.facts import Fact, FileFacts, Named, Valued, facts_of
from prismc.lsp.imports import file_of, imported_file
from prismc.lsp.lexis import is_in_comment_or_string
from prismc.lsp.words import ATTRIBUTE_HELP, LEVEL_HELP, STATEMENT_HELP, Help, help_of
from prismc.source.record import Record
from prismc.source.span import Span

_LONGEST = 60  # characters of an expression that are shown
_MOST = 4  # instances that are told apart
_FUNCTIONS = (SymbolKind.FUNCTION, SymbolKind.KERNEL, SymbolKind.EXPORT)
_PATH = re.compile(r"(?:\w+\s*\.\s*)*\w+")


class Hover(Record):
    """Markdown, and what it speaks of in the text of now; None for the place alone."""

    text: str
    span: tuple[int, int] | None


def hover_at(document: Document, offset: int) -> Hover | None:
    """What is known at a place; None where that is nothing."""
    if is_in_comment_or_string(document.text, offset):
        return None
    for view in document.views():
        place = view.shift.to_old(offset)
        facts = facts_of(view.analysis, document.name)
        if place is None or facts is None:
            continue
        told = _Teller(view.analysis, facts).tell(place)
        if told is not None:
            text, span = told
            shown = None if span is None else view.shift.span_to_new(span.start, span.end)
            return Hover(text=text, span=shown)
    return None


class _Teller:
    """Tells what an analysis knows of a place of one file."""

    def __init__(self, analysis: Analysis, facts: FileFacts) -> None:
        self._analysis = analysis
        self._facts = facts
        self._text = analysis.files.known(facts.module.file).text

    def tell(self, offset: int) -> tuple[str, Span | None] | None:
        """The markdown, and the span of what it speaks of."""
        subject, span = self._subject(offset)
        codes = self._facts.code_at(offset)
        about = _about_code(codes, self._text) if codes else self._stated_code(offset)
        parts = [*subject, *about, *self._operations(codes, offset)]
        return ("\n\n".join(parts), span) if parts else None

    def _subject(self, offset: int) -> tuple[list[str], Span | None]:
        """What stands at the place: a declared name, a value, or a word of the language."""
        file = imported_file(self._analysis, self._facts, offset)
        if file is not None:
            return self._module(file), None
        named = self._facts.named_at(offset)
        if named is not None:
            shown = self._symbol(named.symbol, offset)
            if shown:
                return [*self._called(named), *shown], named.span
        word = self._word(offset)
        if word is not None:
            return [_fence(word.usage), word.text], None
        facts = self._valued(offset)
        return (self._values(facts), facts[0].span) if facts else ([], None)

    def _valued(self, offset: int) -> list[Fact]:
        return [fact for fact in self._facts.facts_at(offset) if _has_type(fact)]

    def _called(self, named: Named) -> list[str]:
        """The value of the call, or the conversion, whose callee a name is."""
        if named.symbol.kind not in (*_FUNCTIONS, SymbolKind.BUILTIN):
            return []
        start, end = named.span.start, named.span.end
        facts = [
            fact
            for fact in self._valued(start)
            if isinstance(fact.value, typed.Expression)
            and not isinstance(fact.value.type, VoidType)
            and _PATH.fullmatch(self._text, fact.span.start, end)
        ]
        return self._values(facts) if facts else []

    def _stated_code(self, offset: int) -> list[str]:
        """The code perspective of a generic without a use, as its text states it."""
        text, around = self._text, self._facts.nodes_at(offset)
        for outer, node in zip(reversed(around[:-1]), reversed(around[1:]), strict=True):
            if isinstance(node, ast.Group | ast.First | ast.Case) and offset <= node.header.end:
                continue
            match node:
                case ast.Group(perspective=at) | ast.First(perspective=at):
                    stated = text[at.span.start : at.span.end]
                case ast.Case(size=size) if isinstance(outer, ast.Split):
                    stated = f"{outer.level}[{text[size.span.start : size.span.end]}]"
                case ast.Function(attributes=(attribute, *_)) if attribute.arguments:
                    first = attribute.arguments[0].span
                    stated = text[first.start : first.end]
                case _:
                    continue
            return [f"code: `{stated}`, as written; nothing here specialises this generic"]
        return []

    # ------------------------------------------------------------------ names

    def _module(self, file: str) -> list[str]:
        """A module's name and the comment that its file begins with."""
        lines = self._analysis.files.known(file).text.split("\n")
        comment = takewhile(lambda line: line.startswith("#"), lines)
        told = "\n".join(line.lstrip("#").removeprefix(" ") for line in comment)
        name = next((m.name for m in self._modules() if m.file == file), file)
        return [_fence(f"import {name}"), *([told] if told else [])]

    def _modules(self) -> tuple[ast.Module, ...]:
        return self._analysis.graph.modules if self._analysis.graph is not None else ()

    def _symbol(self, symbol: Symbol, offset: int) -> list[str]:
        if symbol.kind is SymbolKind.BUILTIN:
            known = help_of(symbol)
            return [] if known is None else [_fence(known.usage), known.text]
        if isinstance(symbol.node, ast.Import):
            file = file_of(self._analysis, self._facts, symbol.node)
            return [] if file is None else self._module(file)
        if symbol.kind in _FUNCTIONS or symbol.kind is SymbolKind.GENERIC:
            return self._declared(symbol)
        if symbol.kind is SymbolKind.CONSTANT:
            return [*self._declared(symbol), *self._value_of_constant(offset)]
        facts = self._valued(offset)
        # A header also holds what its expansion compares and counts.
        own = [fact for fact in facts if _variable_of(fact.value) is not None]
        return self._values(own or facts) if facts else self._written(symbol)

    def _written(self, symbol: Symbol) -> list[str]:
        """The declaration of a name whose type nobody has settled: in a generic without a use."""
        node = symbol.node
        if node is None:
            return []
        text = self._analysis.files.known(symbol.span.file).text
        header = getattr(node, "header", node.span)
        first, *_ = text[header.start : header.end].split("\n")
        return [_fence(first.split("#")[0].rstrip())]

    def _declared(self, symbol: Symbol) -> list[str]:
        """A declaration as it is written, and the comment above it."""
        text = self._analysis.files.known(symbol.span.file).text
        node = symbol.node
        if node is None:
            return []
        comment = comment_above(text, node.span.start)
        return [_fence(declaration_text(node, text)), *([comment] if comment else [])]

    def _value_of_constant(self, offset: int) -> Iterator[str]:
        values = [
            f.value.value
            for f in self._facts.facts_at(offset)
            if isinstance(f.value, typed.Constant)
        ]
        for value in dict.fromkeys(values):
            yield f"is `{str(value).lower() if isinstance(value, bool) else value}`"

    def _word(self, offset: int) -> Help | None:
        """A reserved word or an attribute's name under the cursor."""
        start = end = offset
        while start > 0 and (self._text[start - 1].isalnum() or self._text[start - 1] == "_"):
            start -= 1
        while end < len(self._text) and (self._text[end].isalnum() or self._text[end] == "_"):
            end += 1
        word = self._text[start:end]
        if self._text[start - 1 : start] == "@":
            return ATTRIBUTE_HELP.get(word) or LEVEL_HELP.get(word)
        return STATEMENT_HELP.get(word) or LEVEL_HELP.get(word)

    # ------------------------------------------------------------------ values

    def _values(self, facts: list[Fact]) -> list[str]:
        """Type and perspective, once where all instances agree."""
        shown: dict[str, Fact] = {}
        for fact in facts:
            shown.setdefault(self._value(fact), fact)
        if len(shown) == 1:
            notes = self._notes(next(iter(shown.values())))
            return [_fence(next(iter(shown))), *notes]
        several = len({fact.body for fact in facts}) > 1
        lines = [
            f"{line}    # {_instance_title(fact.body.instance)}" if several else line
            for line, fact in shown.items()
        ]
        rest = [] if len(lines) <= _MOST else [f"and {len(lines) - _MOST} more"]
        return [_fence("\n".join(lines[:_MOST])), *rest]

    def _value(self, fact: Fact) -> str:
        value = fact.value
        if isinstance(value, typed.Variable):
            return variable_text(value)
        if isinstance(value, typed.VariablePlace):
            return self._value(Fact(span=fact.span, body=fact.body, value=value.variable))
        text = " ".join(self._text[value.span.start : value.span.end].split())
        if len(text) > _LONGEST:
            text = text[: _LONGEST - 4] + " .."
        varies = self._facts.checked.perspectives.varies.get(value.id)
        at = "" if varies is None else f" @ {varies}"
        if varies is not None and varies.level is Level.CONSTANT:
            at = "  (constant)"
        equals = ""
        if isinstance(value, typed.Constant) and not text[:1].isdigit():
            equals = f" = {str(value.value).lower()}"
        return f"{text}: {show(value.type)}{at}{equals}"

    def _notes(self, fact: Fact) -> Iterator[str]:
        """Where a variable comes from."""
        variable = _variable_of(fact.value)
        if variable is None:
            return
        line = self._analysis.files.position(variable.span).line
        stated = "" if variable.is_stated else ", its perspective that of the code there"
        yield f"{variable.kind.value} of line {line}{stated}"

    # ------------------------------------------------------------------ barriers

    def _operations(self, codes: Iterable[Code], offset: int) -> Iterator[str]:
        """The barriers of the line, once for all copies that unrolling makes."""
        line = self._analysis.files.known(self._facts.module.file).position(offset).line
        bodies = [code.body for code in codes]
        told: dict[tuple[str, str], str] = {}
        for operation in planned(self._analysis, self._facts, bodies):
            if operation.line == line:
                told.setdefault((operation.title, operation.where), operation.reason)
        for (title, where), reason in told.items():
            yield f"**{title}** {where} this line: {reason}"


# --------------------------------------------------------------------------- who speaks


def _about_code(codes: list[Code], text: str) -> list[str]:
    """The code perspective, the bound, and what is hidden."""
    told = dict.fromkeys(_code_line("code", code.bound) for code in codes)
    inner = [code.inside for code in codes if code.inside is not None]
    told |= dict.fromkeys(_code_line("inside", bound) for bound in inner)
    hidden = dict.fromkeys(line for code in codes for line in _hidden_lines(code, text))
    return [*told, *hidden]


def _code_line(where: str, bound: Bound) -> str:
    return f"{where}: `{bound.code}`, bound `{show_bound(bound)}`{_base(bound)}"


def show_bound(bound: Bound) -> str:
    """A bound as `@requires` writes it."""
    levels = (Level.GRID, Level.BLOCK, Level.THREAD)
    entries = [
        f"{level.name.lower()}[{bound.size(level)}]" for level in levels if bound.size(level)
    ]
    return ", ".join(entries)


def _base(bound: Bound) -> str:
    return f", starting at a multiple of {bound.base}" if bound.base > 1 else ""


def _hidden_lines(code: Code, text: str) -> Iterator[str]:
    for narrow, names in hidden_names(code):
        views = ", ".join(f"`{view.variable.name}`" for view in narrow.views)
        listed = ", ".join(f"`{name}`" for name in names)
        keyword = text[narrow.header.start : narrow.header.end].split(maxsplit=1)[0]
        yield f"hidden: {listed}, by the {keyword} that makes {views}"


# --------------------------------------------------------------------------- words


def _fence(text: str) -> str:
    return f"```prism\n{text}\n```"


def _has_type(fact: Fact) -> bool:
    return not isinstance(fact.value.type, ErrorType) and not isinstance(fact.value, typed.Refused)


def _variable_of(value: Valued) -> typed.Variable | None:
    """The variable that a value is, names or writes."""
    if isinstance(value, typed.Read | typed.Slot | typed.VariablePlace):
        return value.variable
    return value if isinstance(value, typed.Variable) else None


def variable_text(variable: typed.Variable) -> str:
    """A variable as a declaration writes it: name, type, perspective."""
    is_array = isinstance(variable.type, ArrayType)
    qualifier = "const " if variable.is_const and is_array else ""
    slots = f" in {variable.slots} slots" if variable.slots else ""
    return f"{variable.name}: {qualifier}{show(variable.type)}{slots} @ {variable.perspective}"


def _instance_title(instance: typed.Instance) -> str:
    generics = ", ".join(f"{name} = {value}" for name, value in instance.generics)
    return generics or instance.name

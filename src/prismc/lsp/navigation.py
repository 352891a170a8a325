"""Where names are declared and used; renaming what belongs to one file for certain."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from prismc.checker.names.resolve import resolve_names
from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.diagnostics.sink import Sink
from prismc.driver.options import Options
from prismc.frontend import ast
from prismc.frontend.modules import load_program
from prismc.lsp.analysis import Analysis
from prismc.lsp.documents import Document, View
from prismc.lsp.facts import FileFacts, FileNames, Named, facts_of
from prismc.lsp.imports import file_of, imported_file
from prismc.lsp.lexis import reserved_words
from prismc.source.files import Files, UnreadableFile
from prismc.source.record import Record
from prismc.source.span import Span

MOST_FILES = 200  # that are read for one question
_PACKAGES = "node_modules"
_LOCAL = (SymbolKind.PARAMETER, SymbolKind.LOCAL, SymbolKind.LOOP)


class Target(Record):
    """What a name under the cursor refers to: a declared symbol, or a file."""

    view: View
    symbol: Symbol | None
    file: str

    @property
    def span(self) -> Span:
        """Where it is declared, in the analysed text."""
        return self.symbol.span if self.symbol is not None else Span(self.file, 0, 0)


class CannotRename(Exception):
    """Why a name is not to be renamed; the text is for people."""


def target_at(document: Document, offset: int) -> Target | None:
    """What the name at a place refers to; None where there is no name or it is built in."""
    for view in document.views():
        place = view.shift.to_old(offset)
        facts = facts_of(view.analysis, document.name)
        if place is None or facts is None:
            continue
        file = imported_file(view.analysis, facts, place)
        if file is not None:
            return Target(view=view, symbol=None, file=file)
        named = facts.named_at(place)
        if named is not None and named.symbol.span.file:
            node = named.symbol.node
            if not isinstance(node, ast.Import):
                return Target(view=view, symbol=named.symbol, file=named.symbol.span.file)
            file = file_of(view.analysis, facts, node)
            return Target(view=view, symbol=None, file=file) if file else None
    return None


# --------------------------------------------------------------------------- references


def references(target: Target, analyses: Iterable[Analysis]) -> list[Span]:
    """Where a symbol is named in the programs of some analyses, its declaration among them.

    Spans are those of the analysed texts; each file counts once, as its newest analysis has it.
    """
    found: dict[Span, None] = {}
    seen: set[str] = set()
    for analysis in analyses:
        modules = analysis.graph.modules if analysis.graph is not None else ()
        for module in modules:
            facts = facts_of(analysis, module.file)
            if facts is None or module.file in seen:
                continue
            if module.file == analysis.root.name:
                seen.add(module.file)
            found.update((named.span, None) for named in _uses(facts, target.span))
    return sorted(found)


def _uses(facts: FileFacts, declared: Span) -> Iterator[Named]:
    return (named for named in facts.named() if named.symbol.span == declared)


def references_on_disk(
    target: Target, folders: Iterable[str], texts: Mapping[str, str], options: Options
) -> list[Span]:
    """Where files below some folders that are not open name a symbol of a module's top level.

    Only files that hold its name at all are read as programs, MOST_FILES of them at most.
    """
    symbol = target.symbol
    if symbol is None or not isinstance(symbol.node, ast.Declaration):
        return []
    found: dict[Span, None] = {}
    for path in islice(_files_with(symbol.name, folders, texts), MOST_FILES):
        files, sink = Files(), Sink()
        for name, text in texts.items():
            files.overlay(name, text)
        graph = load_program((files.read(path),), options.include, files, sink)
        names = resolve_names(graph, sink)
        uses = FileNames(graph.roots[0], names.modules[graph.roots[0].name]).named()
        found.update((each.span, None) for each in uses if each.symbol.span == target.span)
    return sorted(found)


def _files_with(name: str, folders: Iterable[str], texts: Mapping[str, str]) -> Iterator[str]:
    """The Prism files below some folders, none of them open, that hold a word."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for path in _prism_files(folders):
        if path not in texts:
            try:
                text = Files().read(path).text
            except UnreadableFile:
                continue
            if word.search(text):
                yield path


def _prism_files(folders: Iterable[str]) -> Iterator[str]:
    """The Prism files below some folders; hidden folders (environments, caches) hold none."""
    for top in folders:
        for folder, inside, files in os.walk(top):
            inside[:] = sorted(each for each in inside if each[0] != "." and each != _PACKAGES)
            yield from (os.path.join(folder, f) for f in sorted(files) if f.endswith(".prism"))


# --------------------------------------------------------------------------- renaming


def rename_spans(document: Document, offset: int) -> list[Span]:
    """The places that renaming the name at a place changes, in the text of now.

    Raises CannotRename.
    """
    target = target_at(document, offset)
    if target is None or target.symbol is None:
        raise CannotRename("no name of this file stands here")
    symbol, analysis = target.symbol, target.view.analysis
    if analysis is not document.latest or analysis.root.text != document.text:
        raise CannotRename("the file has a syntax error, or is still being checked")
    is_private = symbol.kind not in _LOCAL and symbol.name.startswith("_")
    if symbol.span.file != document.name or not (symbol.kind in _LOCAL or is_private):
        raise CannotRename(
            f"`{symbol.name}` may be used in other files: only what is local to a function, or "
            "private to its file, is renamed"
        )
    return [span for span in references(target, [analysis]) if span.file == document.name]


def rename(document: Document, offset: int, name: str, options: Options) -> list[Span]:
    """The places at which `name` is to stand, after making sure that nothing else changes.

    Raises CannotRename.
    """
    if not (name.isascii() and name.isidentifier()) or name in reserved_words():
        raise CannotRename(f"`{name}` cannot be a name")
    spans = rename_spans(document, offset)
    before = _named(document, document.text, options)
    after = _named(document, replace_all(document.text, spans, name), options)
    moved = [_moved(span, spans, name) for span in before]
    if moved != after:
        raise CannotRename(f"`{name}` already means something in a place where this is used")
    return spans


def replace_all(text: str, spans: Iterable[Span], name: str) -> str:
    """`text` with `name` at each of some places, which do not meet."""
    for span in sorted(spans, reverse=True):
        text = text[: span.start] + name + text[span.end :]
    return text


def _named(document: Document, text: str, options: Options) -> list[tuple[Span, Span]]:
    """Every name of the file as it would be with this text, with its declaration, and problems."""
    files, sink = Files(), Sink()
    root = files.overlay(document.name, text)
    graph = load_program((root,), options.include, files, sink)
    names = resolve_names(graph, sink).modules[graph.roots[0].name]
    named = FileNames(graph.roots[0], names).named()
    pairs = [(each.span, each.symbol.span) for each in named]
    return pairs + [(problem.at, problem.at) for problem in sink.problems()]


def _moved(pair: tuple[Span, Span], renamed: list[Span], name: str) -> tuple[Span, Span]:
    return _moved_span(pair[0], renamed, name), _moved_span(pair[1], renamed, name)


def _moved_span(span: Span, renamed: list[Span], name: str) -> Span:
    """Where a span of the same file is after the renaming."""
    if not renamed or span.file != renamed[0].file:
        return span
    change = len(name) - (renamed[0].end - renamed[0].start)
    start = span.start + change * sum(each.start < span.start for each in renamed)
    end = span.end + change * sum(each.start < span.end for each in renamed)
    return Span(span.file, start, end)

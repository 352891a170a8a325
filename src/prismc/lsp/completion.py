"""What may be written at a place: names in scope, modules and what they have, words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from lsprotocol import types

from prismc.checker.names.symbols import SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.model import VectorType
from prismc.driver.options import Options
from prismc.frontend import ast
from prismc.frontend.standard import standard_names
from prismc.lsp.documents import Document
from prismc.lsp.facts import facts_of
from prismc.lsp.hover import variable_text
from prismc.lsp.lexis import (
    declarations_of,
    is_in_comment_or_string,
    is_in_test,
    reserved_words,
    visible_locals,
)
from prismc.lsp.library import Offered, importable, offers
from prismc.lsp.words import (
    ARGUMENT_WORDS,
    ATTRIBUTE_HELP,
    BUILTIN_HELP,
    HOST_HELP,
    LEVEL_HELP,
    STATEMENT_HELP,
    Help,
)

Item = types.CompletionItem
Kind = types.CompletionItemKind

_IMPORT_NAMES = re.compile(r"\s*from\s+([\w.]+)\s+import\b[^#]*$")
_IMPORT_PATH = re.compile(r"\s*(?:from|import)\s+[\w.]*$")
_MEMBER = re.compile(r"((?:[A-Za-z_]\w*\.)+)\w*$")
_ATTRIBUTE = re.compile(r"\s*@\w*$")
_ARGUMENTS = re.compile(r"\s*@(\w+)\(.*$")
_PERSPECTIVE = re.compile(r"(?:@|\b(?:group|first|split))\s*\w*$")
_NEW_NAME = re.compile(r"\b(?:def|kernel|const|as|for|shared)\s+\w*$")
_IMPORT_LINE = re.compile(
    r"^(?:from ++([\w.]++) ++import\b((?: *+\w++(?: ++as ++\w++)? *+,?+)*)|import\b).*+\n?",
    re.MULTILINE,
)
_WORD = re.compile(r"\w*$")
_LONGEST = 500  # characters of a line that are looked at
_COMPONENTS = "xyzw"
_KINDS = {
    "parameter": Kind.Variable,
    "variable": Kind.Variable,
    "shared": Kind.Variable,
    "const": Kind.Constant,
    "constant": Kind.Constant,
    "def": Kind.Function,
    "function": Kind.Function,
    "kernel": Kind.Function,
    "export": Kind.Function,
}


def completions(
    document: Document, offset: int, options: Options, texts: Mapping[str, str]
) -> list[Item]:
    """What may stand at a place, the likeliest kinds first; `texts` are the open files."""
    text = document.text
    if is_in_comment_or_string(text, offset):
        return []
    line = text[text.rfind("\n", 0, offset) + 1 : offset][-_LONGEST:]
    if found := _IMPORT_NAMES.match(line):
        path = tuple(found[1].split("."))
        return [_offered(o) for o in offers(path, document.name, options.include, texts).values()]
    if _IMPORT_PATH.match(line):
        return _modules(importable(document.name, options.include), line)
    if found := _MEMBER.search(line):
        path = tuple(found[1].rstrip(".").split("."))
        return _members(document, offset - len(_word(line)) - 1, path, options, texts)
    if _ATTRIBUTE.match(line):
        return [_helped(name, known, Kind.Keyword) for name, known in ATTRIBUTE_HELP.items()]
    if (found := _ARGUMENTS.match(line)) and (known := _arguments(found[1])):
        others = _names(document, offset - len(_word(line)))
        offered = {item.label for item in known}
        return [*known, *(item for item in others if item.label not in offered)]
    if _PERSPECTIVE.search(line):
        return _perspectives(document, offset)
    if _NEW_NAME.search(line):
        return []
    return list(_names(document, offset - len(_word(line))))


def _word(line: str) -> str:
    """The part of a word that stands at the end."""
    found = _WORD.search(line)
    return found[0] if found else ""


# --------------------------------------------------------------------------- imports


def _modules(names: Iterable[str], line: str) -> list[Item]:
    """Modules, from the last dot on: an editor replaces one word only."""
    written = line.split()[-1] if line.split()[-1:] and not line.endswith(" ") else ""
    prefix = written[: written.rfind(".") + 1]
    return [
        Item(label=name.removeprefix(prefix), kind=Kind.Module, detail=name)
        for name in dict.fromkeys(names)
        if name.startswith(prefix)
    ]


def _members(
    document: Document,
    dot: int,
    path: tuple[str, ...],
    options: Options,
    texts: Mapping[str, str],
) -> list[Item]:
    """After a dot: what a module has, or the components of a vector."""
    for view in document.views():
        facts = facts_of(view.analysis, document.name)
        symbol = facts.names.top.get(path[0]) if facts is not None else None
        if symbol is not None and isinstance(symbol.node, ast.Import):
            full = symbol.node.path + path[1:] if symbol.node.alias else path
            known = offers(full, document.name, options.include, texts)
            return [_offered(each) for each in known.values()]
    lanes = _lanes(document, dot, path)
    return [Item(label=name, kind=Kind.Field) for name in _COMPONENTS[:lanes]]


def _lanes(document: Document, dot: int, path: tuple[str, ...]) -> int:
    """How many components a variable has; 0 for what is no vector."""
    variable = _variables(document, dot).get(path[0]) if len(path) == 1 else None
    if variable is None or not isinstance(variable.type, VectorType):
        return 0
    return variable.type.lanes


# --------------------------------------------------------------------------- names


def _arguments(attribute: str) -> list[Item]:
    """The named arguments or effects of an attribute; levels in `@requires`."""
    words = ARGUMENT_WORDS.get(attribute, ())
    ending = "($1)" if attribute == "effects" else " = "
    snippet = types.InsertTextFormat.Snippet
    items = [
        Item(
            label=word,
            kind=Kind.Property,
            insert_text=word + ending,
            insert_text_format=snippet,
            sort_text=f"0/{word}",
        )
        for word in words
    ]
    return [*_levels(), *items] if attribute == "requires" else items


def _perspectives(document: Document, offset: int) -> list[Item]:
    """Levels, and generics that may be perspectives."""
    local = visible_locals(document.text, offset)
    return [*_levels(), *(_local(n, w, {}) for n, w in local.items() if w == "parameter")]


def _levels() -> list[Item]:
    return [
        Item(
            label=name,
            kind=Kind.Keyword,
            detail=known.usage,
            documentation=known.text,
            insert_text=f"{name}[$1]",
            insert_text_format=types.InsertTextFormat.Snippet,
            sort_text=f"0{number}",
        )
        for number, (name, known) in enumerate(LEVEL_HELP.items())
    ]


def _names(document: Document, offset: int) -> Iterator[Item]:
    """Locals, then the top level, then what the language has, then what can be imported."""
    known: set[str] = set()
    variables = _variables(document, offset)
    for name, what in visible_locals(document.text, offset).items():
        known.add(name)
        yield _local(name, what, variables)
    for item in _top_level(document):
        if item.label not in known:
            known.add(item.label)
            yield item
    built_in = HOST_HELP if is_in_test(document.text, offset) else BUILTIN_HELP
    for name, entry in built_in.items():
        if name not in known:
            is_type = entry.usage == name
            yield _helped(name, entry, Kind.Class if is_type else Kind.Function, "3")
    for word in reserved_words():
        yield _helped(word, STATEMENT_HELP.get(word), Kind.Keyword, "4")
    imports = Imports(document)
    for name, module in standard_names().items():
        if name not in known:
            yield _importing(imports.edit(name, module), name, module)


def _variables(document: Document, offset: int) -> dict[str, typed.Variable]:
    """The variables of the function around a place by name, as they were last known."""
    for view in document.views():
        facts = facts_of(view.analysis, document.name)
        place = view.shift.nearest_old(offset)
        node = facts.declaration_at(place) if facts is not None else None
        if facts is not None and node is not None and (found := facts.variables_in(node)):
            return found
    return {}


def _local(name: str, what: str, variables: Mapping[str, typed.Variable]) -> Item:
    variable = variables.get(name)
    detail = variable_text(variable) if variable is not None else what
    return Item(label=name, kind=_KINDS[what], detail=detail, sort_text=f"0{name}")


def _top_level(document: Document) -> Iterator[Item]:
    """What the file declares, broken declarations too, and what it imports."""
    for each in declarations_of(document.text):
        if each.name.kind == "NAME":
            name, kind = each.name.text, _KINDS[each.keyword]
            yield Item(label=name, kind=kind, detail=each.keyword, sort_text=f"1{name}")
    for view in document.views():
        facts = facts_of(view.analysis, document.name)
        for name, symbol in facts.names.top.items() if facts is not None else ():
            if symbol.kind is SymbolKind.MODULE:
                yield Item(label=name, kind=Kind.Module, sort_text=f"2{name}")
            elif symbol.module != (facts.module.name if facts is not None else ""):
                kind = _KINDS.get(symbol.kind.value, Kind.Variable)
                detail = f"{symbol.kind.value} of {symbol.module}"
                yield Item(label=name, kind=kind, detail=detail, sort_text=f"2{name}")


# --------------------------------------------------------------------------- items


def _offered(each: Offered) -> Item:
    return Item(
        label=each.name,
        kind=_KINDS[each.keyword],
        detail=each.usage.split("\n")[-1],
        documentation=_markdown(f"```prism\n{each.usage}\n```\n\n{each.comment}"),
    )


def without_snippet(item: Item) -> Item:
    """The same completion for an editor that knows no place holders."""
    if item.insert_text is None:
        return item
    return Item(
        label=item.label,
        kind=item.kind,
        detail=item.detail,
        documentation=item.documentation,
        sort_text=item.sort_text,
        insert_text=item.insert_text.replace("$1", ""),
    )


def _helped(name: str, known: Help | None, kind: Kind, sort: str = "0") -> Item:
    return Item(
        label=name,
        kind=kind,
        detail=known.usage if known is not None else None,
        documentation=known.text if known is not None else None,
        sort_text=f"{sort}{name}",
    )


def _importing(edit: types.TextEdit, name: str, module: str) -> Item:
    """A name of the standard library, with the import that it needs."""
    return Item(
        label=name,
        kind=Kind.Function,
        detail=f"from {module} import {name}",
        sort_text=f"5{name}",
        additional_text_edits=[edit],
    )


class Imports:
    """The imports of a text, and how one more is written."""

    def __init__(self, document: Document) -> None:
        self._places = document.places
        self._ends: dict[str, int] = {}
        end = _below_comment(document.text)
        for found in _IMPORT_LINE.finditer(document.text):
            end = found.end()
            if found[1]:
                self._ends[found[1]] = found.start(2) + len(found[2].rstrip(" ,"))
        self._end = end

    def edit(self, name: str, module: str) -> types.TextEdit:
        """Imports a name: in an import of the module that is there, or in a new one."""
        known = self._ends.get(module)
        at = self._places.position(self._end if known is None else known)
        text = f"from {module} import {name}\n" if known is None else f", {name}"
        return types.TextEdit(types.Range(at, at), text)


def _below_comment(text: str) -> int:
    """Where the comment that a file begins with ends."""
    found = re.match(r"(?:#.*\n)*", text)
    return found.end() if found else 0


def _markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)

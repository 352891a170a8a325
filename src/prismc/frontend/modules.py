"""The files of a program: imports followed, in dependency order.

A module is a file. `import a.b` looks for `a/b.prism` in the folder of the importing file, then in
the `-I` folders in order, then, under the name `std`, in the library that ships with the compiler.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from prismc.diagnostics.problem import Problem, Related
from prismc.diagnostics.sink import Sink
from prismc.diagnostics.suggest import did_you_mean
from prismc.frontend import ast
from prismc.frontend.deferred import parse_deferred
from prismc.frontend.errors import ImportCycle, MissingModule, UnreadableModule
from prismc.frontend.parser import parse_module
from prismc.source.files import Files, SourceFile, UnreadableFile
from prismc.source.record import Record, replace
from prismc.source.resources import stdlib_folder

STANDARD = "std"
_SUFFIX = ".prism"

AnyImport = ast.Import | ast.FromImport


class ModuleGraph(Record):
    """The modules of a program, each after those that it imports; names are unique.

    `roots` are the modules of the files that were asked for. `imports` tells by module name and
    node id which module an import names; it lacks the imports that were reported. `absent` are the
    files that were looked for in vain: were they there, imports would name other modules.
    """

    modules: tuple[ast.Module, ...]
    roots: tuple[ast.Module, ...]
    imports: Mapping[tuple[str, int], ast.Module]
    absent: tuple[str, ...] = ()

    def imported(self, module: ast.Module, node: AnyImport) -> ast.Module | None:
        """The module that an import of `module` names; None when that was reported."""
        return self.imports.get((module.name, node.id))

    @property
    def is_complete(self) -> bool:
        """Whether every import names a module that could be read."""
        return all(
            self.imported(module, node) is not None
            for module in self.modules
            for node in module.declarations
            if isinstance(node, AnyImport)
        )


class Parsed(NamedTuple):
    """A file's tree, named after nothing in particular, and what is wrong with its syntax.

    Where it `is_deferred`, functions are parsed when they are read, and nothing is wrong.
    """

    file: SourceFile
    module: ast.Module
    problems: tuple[Problem, ...]
    is_deferred: bool = False


ParsedFiles = MutableMapping[str, Parsed]


def load_program(
    roots: Iterable[SourceFile],
    folders: Sequence[str],
    files: Files,
    sink: Sink,
    parsed: ParsedFiles | None = None,
) -> ModuleGraph:
    """Parses the roots and all that they import, directly or not; `folders` are those of `-I`.

    Reports syntax errors, modules that are missing or unreadable, and cycles of imports. Programs
    that share `parsed`, by file name, parse a file that both import once.
    """
    loader = _Loader(folders, files, sink, {} if parsed is None else parsed)
    root_modules = [loader.load(root) for root in roots]
    return ModuleGraph(
        modules=tuple(loader.finished.values()),
        roots=tuple(dict.fromkeys(root_modules)),
        imports=MappingProxyType(loader.imports),
        absent=tuple(loader.absent),
    )


def parse_once(file: SourceFile, parsed: ParsedFiles, is_root: bool = False) -> Parsed:
    """What `parsed` has for the file, or else will have from now on.

    Imported modules of the standard library are deferred: that they can be parsed is known.
    """
    known = parsed.get(file.name)
    if known is None or known.file is not file or (is_root and known.is_deferred):
        name = _stem(file.name)
        if file.is_stored and not is_root and _is_library(_key(file.name)):
            known = Parsed(file, parse_deferred(file, name), (), is_deferred=True)
        else:
            sink = Sink()
            known = Parsed(file, parse_module(file, name, sink), sink.problems())
        parsed[file.name] = known
    return known


class _Visit:
    """A module whose imports are being followed: the import that is, and those to come."""

    def __init__(self, module: ast.Module, key: str) -> None:
        self.module = module
        self.key = key
        self.rest: Iterator[ast.Declaration] = iter(module.declarations)
        self.current: AnyImport | None = None


class _Loader:
    """Follows imports depth first, with a stack of its own: chains of imports may be long.

    Files are told apart by their absolute path, so that two spellings of one are one module.
    """

    def __init__(
        self, folders: Sequence[str], files: Files, sink: Sink, parsed: ParsedFiles
    ) -> None:
        self.finished: dict[str, ast.Module] = {}
        self.imports: dict[tuple[str, int], ast.Module] = {}
        self.absent: dict[str, None] = {}
        self._parsed = parsed
        self._folders = folders
        self._files = files
        self._sink = sink
        self._names: set[str] = set()
        self._stack: list[_Visit] = []
        self._open_keys: set[str] = set()

    def load(self, root: SourceFile) -> ast.Module:
        """Parses a root and what it imports; the root's module."""
        key = _key(root.name)
        if key not in self.finished:
            self._open(root, key, _stem(root.name), is_root=True)
            while self._stack:
                self._step(self._stack[-1])
        return self.finished[key]

    def _open(self, file: SourceFile, key: str, name: str, is_root: bool = False) -> None:
        parsed = parse_once(file, self._parsed, is_root)
        for problem in parsed.problems:
            self._sink.report(problem)
        module = replace(parsed.module, name=self._unique(name, key))
        self._stack.append(_Visit(module, key))
        self._open_keys.add(key)

    def _unique(self, name: str, key: str) -> str:
        """The module's name; a library file is `std.x` however it is reached."""
        if _is_library(key):
            name = f"{STANDARD}.{_stem(key)}"
        chosen, number = name, 2
        while chosen in self._names:
            chosen, number = f"{name}_{number}", number + 1
        self._names.add(chosen)
        return chosen

    def _step(self, visit: _Visit) -> None:
        """Follows the next import of a module, or closes the module after its last."""
        if visit.current is not None:
            self._connect(visit, visit.current)
            visit.current = None
        for declaration in visit.rest:
            if isinstance(declaration, AnyImport):
                if self._follow(visit, declaration):
                    return
                self._connect(visit, declaration)
        self.finished[visit.key] = visit.module
        self._stack.pop()
        self._open_keys.remove(visit.key)

    def _follow(self, visit: _Visit, node: AnyImport) -> bool:
        """Opens the imported file. False when there is nothing to wait for."""
        place = self._find(visit.module, node)
        if place is None:
            self._missing(visit.module, node)
            return False
        key = _key(place)
        if key in self.finished:
            return False
        if key in self._open_keys:
            self._cycle(key, node)
            return False
        try:
            file = self._files.read(place)
        except UnreadableFile as error:
            problem = UnreadableModule(at=node.path_span, path=place, reason=error.reason)
            self._sink.report(problem)
            return False
        visit.current = node
        self._open(file, key, ".".join(node.path))
        return True

    def _connect(self, visit: _Visit, node: AnyImport) -> None:
        place = self._find(visit.module, node)
        module = self.finished.get(_key(place)) if place is not None else None
        if module is not None:
            self.imports[visit.module.name, node.id] = module

    # ---------------------------------------------------------------------------- searching

    def _find(self, importer: ast.Module, node: AnyImport) -> str | None:
        found = find_module(importer.file, node.path, self._folders, self._files)
        for place in _candidates(importer.file, node.path, self._folders):
            if place == found:
                break
            self.absent[place] = None
        return found

    # ---------------------------------------------------------------------------- problems

    def _missing(self, importer: ast.Module, node: AnyImport) -> None:
        module = ".".join(node.path)
        places = dict.fromkeys(_local_candidates(importer.file, node.path, self._folders))
        searched = ", ".join(f"`{place}`" for place in places)
        otherwise = "check the name, or give the folder that holds the module with `-I`"
        if node.path[0] == STANDARD:
            searched += " and the standard library"
            library = ", ".join(f"`{STANDARD}.{name}`" for name in modules_in(stdlib_folder()))
            otherwise = f"the standard library has {library}"
        advice = did_you_mean(module, self._known_modules(importer), otherwise)
        if module == STANDARD and isinstance(node, ast.FromImport):
            inside = [f"{STANDARD}.{each.name.text}" for each in node.names]
            if all(each in self._known_modules(importer) for each in inside):
                advice = f"import it by its whole name: `import {inside[0]}`"
        self._sink.report(
            MissingModule(at=node.path_span, module=module, searched=searched, advice=advice)
        )

    def _known_modules(self, importer: ast.Module) -> list[str]:
        """The names of the modules that `importer` could import without a deeper folder."""
        own = os.path.dirname(importer.file) or "."
        names = [name for folder in (own, *self._folders) for name in modules_in(folder)]
        return names + [f"{STANDARD}.{name}" for name in modules_in(stdlib_folder())]

    def _cycle(self, key: str, node: AnyImport) -> None:
        keys = [visit.key for visit in self._stack]
        visits = self._stack[keys.index(key) :]
        members = [visit.module.name for visit in visits]
        notes = tuple(
            Related(at=visit.current.path_span, message=f"`{visit.module.name}` imports it here")
            for visit in visits
            if visit.current is not None
        )
        cycle = " -> ".join((*members, members[0]))
        self._sink.report(ImportCycle(at=node.path_span, cycle=cycle, related=notes))


def _key(path: str) -> str:
    return os.path.realpath(path)


def _is_library(key: str) -> bool:
    return os.path.dirname(key) == _key(str(stdlib_folder()))


def _stem(path: str) -> str:
    """The file's name without its suffix; `stdin` for `<stdin>`."""
    return os.path.splitext(os.path.basename(path))[0].strip("<>")


def find_module(
    importer: str, path: tuple[str, ...], folders: Sequence[str], files: Files
) -> str | None:
    """The file that an import in the file `importer` names, as it is shown in messages."""
    places = _candidates(importer, path, folders)
    return next((place for place in places if files.exists(place)), None)


def _candidates(importer: str, path: tuple[str, ...], folders: Sequence[str]) -> list[str]:
    """Where an import is looked for, in order."""
    places = _local_candidates(importer, path, folders)
    if path[0] == STANDARD and len(path) > 1:
        places.append(os.path.join(stdlib_folder(), *path[1:]) + _SUFFIX)
    return places


def _local_candidates(importer: str, path: tuple[str, ...], folders: Sequence[str]) -> list[str]:
    tail = os.path.join(*path) + _SUFFIX
    return [os.path.join(folder, tail) for folder in (os.path.dirname(importer), *folders)]


def modules_in(folder: str | Path) -> list[str]:
    """The names of the Prism files in a folder, sorted; none where it cannot be read."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.splitext(entry)[0] for entry in entries if entry.endswith(_SUFFIX)]

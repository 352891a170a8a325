"""What a result was made from: the texts of files, as far as they matter, and files not there.

A result that is kept names, for each file, a digest of its text; for an imported module that no
message of the result points into, also the outline of the module and the declarations that were
reached. While these are the same, so is the result.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from prismc.diagnostics.problem import Problem
from prismc.driver.pipeline import outline_file
from prismc.driver.session import Session
from prismc.source.digest import text_digest
from prismc.source.files import UnreadableFile

if TYPE_CHECKING:
    from prismc.checker.names.symbols import Names
    from prismc.frontend import ast
    from prismc.frontend.modules import ModuleGraph

Json = dict[str, Any]


class Texts:
    """Digests of the files of a session, and which names mean the same file; each found once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._digests: dict[str, str] = {}
        self._places: dict[str, str] = {}

    def digest(self, name: str) -> str:
        """The digest of a file's text; empty where it cannot be read."""
        if name not in self._digests:
            try:
                self._digests[name] = text_digest(self._session.files.read(name).text)
            except UnreadableFile:
                self._digests[name] = ""
        return self._digests[name]

    def same(self, names: Collection[str]) -> list[int]:
        """For each name the number of the first that is the same file."""
        places = [self._place(name) for name in names]
        return [places.index(place) for place in places]

    def _place(self, name: str) -> str:
        if name not in self._places:
            self._places[name] = os.path.realpath(name)
        return self._places[name]

    # ------------------------------------------------------------------ writing down

    def written_down(
        self, graph: ModuleGraph | None, problems: Collection[Problem], names: Names | None = None
    ) -> Json | None:
        """What facts about the one root of `graph` depend on, the root first.

        With `names`, of modules that no problem points into only what the root reaches matters.
        None where imports are missing: what is said of them depends on other files too.
        """
        if graph is None or not graph.is_complete:
            return None
        root = graph.roots[0]
        modules = [root, *(module for module in graph.modules if module is not root)]
        pointed = {root.file, *_files_of(problems)}
        reached = {} if names is None else _reached(names)
        files = []
        for module in modules:
            part = None
            if names is not None and module.file not in pointed:
                part = self._part(module, reached.get(module.name, set()))
            files.append([module.file, self.digest(module.file), part])
        same = self.same([module.file for module in modules])
        return {"files": files, "same": same, "absent": list(graph.absent)}

    def _part(self, module: ast.Module, reached: set[int]) -> list[Any]:
        """The outline of a module, and the texts of the declarations that are reached."""
        outlined = outline_file(self._session, self._session.files.known(module.file))
        used = [
            [number, outlined.texts[number]]
            for number, declaration in enumerate(module.declarations)
            if declaration.id in reached
        ]
        return [outlined.names, used]

    # ------------------------------------------------------------------ judging

    def hold(self, written: Json) -> bool:
        """Whether all that was written down is still so."""
        files, absent = written["files"], written["absent"]
        if self.same([name for name, _, _ in files]) != written["same"]:
            return False
        if any(self._session.files.exists(name) for name in absent):
            return False
        return all(self._holds(name, known, part) for name, known, part in files)

    def _holds(self, name: str, known: str, part: list[Any] | None) -> bool:
        now = self.digest(name)
        if not now or now == known or part is None:
            return now == known
        outlined = outline_file(self._session, self._session.files.read(name))
        names, used = part
        if outlined.names != names:
            return False
        return all(outlined.texts[number] == text for number, text in used)


def _files_of(problems: Collection[Problem]) -> Iterator[str]:
    """The files that problems point into."""
    for problem in problems:
        yield problem.at.file
        yield from (related.at.file for related in problem.related)
        yield from (fix.at.file for fix in problem.fixes)


def _reached(names: Names) -> dict[str, set[int]]:
    """By module, the ids of the declarations that some use refers to."""
    found: dict[str, set[int]] = {}
    for module in names.modules.values():
        for symbol in module.uses.values():
            if symbol.node is not None:
                found.setdefault(symbol.module, set()).add(symbol.node.id)
    return found

"""Problems as the protocol has them: diagnostics, and the fixes that an editor may apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from prismc.checker.names.errors import UnknownName
from prismc.diagnostics.fixes import certain_fixes
from prismc.diagnostics.problem import Fix, Problem, Severity
from prismc.frontend.standard import standard_names
from prismc.lsp.completion import Imports
from prismc.lsp.documents import Document, file_uri
from prismc.lsp.positions import Places
from prismc.source.files import Files
from prismc.source.resources import explain_folder
from prismc.source.span import Span

SOURCE = "prismc"
FIX_ALL = "source.fixAll.prismc"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


class Shower:
    """Turns problems of one run into diagnostics, in the client's units."""

    def __init__(self, files: Files, encoding: str) -> None:
        self._files = files
        self._encoding = encoding
        self._places: dict[str, Places] = {}

    def diagnostic(self, problem: Problem) -> types.Diagnostic:
        """One problem, with the places that explain it."""
        page = explain_folder() / f"{problem.code}.md"
        label = problem.shown_label()
        related = [(problem.at, label)] if label and problem.related else []
        related += [(each.at, each.message) for each in problem.related]
        return types.Diagnostic(
            range=self.range(problem.at),
            severity=_SEVERITIES[problem.severity],
            code=problem.code,
            code_description=types.CodeDescription(page.as_uri()) if page.is_file() else None,
            source=SOURCE,
            message=_message(problem),
            related_information=[
                types.DiagnosticRelatedInformation(
                    types.Location(file_uri(at.file), self.range(at)), message
                )
                for at, message in related
                if at.file
            ],
        )

    def range(self, span: Span) -> types.Range:
        if span.file not in self._places:
            self._places[span.file] = Places(self._files.known(span.file).text, self._encoding)
        return self._places[span.file].range(span.start, span.end)


def _message(problem: Problem) -> str:
    """Message, notes and advice. The label goes along where no second place gives it room."""
    parts = [problem.shown_message()]
    if problem.shown_label() and not problem.related:
        parts.append(problem.shown_label())
    parts += problem.notes
    if advice := problem.shown_help():
        parts.append(f"help: {advice}")
    return "\n".join(parts)


def diagnostics_by_file(
    problems: Iterable[Problem], files: Files, root: str, encoding: str
) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of a run by file; what has no place stands at the root's start."""
    shower = Shower(files, encoding)
    found: dict[str, list[types.Diagnostic]] = {root: []}
    for problem in problems:
        found.setdefault(problem.at.file or root, []).append(shower.diagnostic(problem))
    return found


# --------------------------------------------------------------------------- fixes


def fix_actions(document: Document, start: int, end: int) -> list[types.CodeAction]:
    """What may be changed for the problems that a range of the text touches."""
    actions: list[types.CodeAction] = []
    if document.latest is None:
        return actions
    shower = Shower(document.latest.files, document.encoding)
    for problem in _own_problems(document):
        if problem.at.start > end or problem.at.end < start:
            continue
        for title, edit, is_certain in _mendings(document, problem):
            actions.append(
                types.CodeAction(
                    title=title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[shower.diagnostic(problem)],
                    is_preferred=is_certain,
                    edit=edit,
                )
            )
    return actions


def _mendings(
    document: Document, problem: Problem
) -> Iterator[tuple[str, types.WorkspaceEdit, bool]]:
    """Title and edit of each way to mend a problem, and whether it is certain."""
    for fix in problem.fixes:
        if edit := workspace_edit(document, (fix,)):
            yield fix.title, edit, fix.is_certain
    if isinstance(problem, UnknownName) and (module := standard_names().get(problem.name)):
        edits = [Imports(document).edit(problem.name, module)]
        title = f"import `{problem.name}` from `{module}`"
        yield title, types.WorkspaceEdit(changes={document.uri: edits}), False


def fix_all_action(document: Document) -> types.CodeAction | None:
    """All fixes that are certain, those that meet an earlier one left for the next time."""
    edit = workspace_edit(document, certain_fixes(_own_problems(document), document.name))
    if edit is None:
        return None
    return types.CodeAction(title="Fix all that is certain", kind=FIX_ALL, edit=edit)


def workspace_edit(document: Document, fixes: Iterable[Fix]) -> types.WorkspaceEdit | None:
    """The fixes as edits of an open file; None without any."""
    edits = [
        types.TextEdit(document.places.range(fix.at.start, fix.at.end), fix.text)
        for fix in fixes
        if fix.at.file == document.name
    ]
    return types.WorkspaceEdit(changes={document.uri: edits}) if edits else None


def _own_problems(document: Document) -> list[Problem]:
    """The problems of the file itself, if the text has not changed since they were found."""
    latest = document.latest
    if latest is None or latest.root.text != document.text:
        return []
    return [problem for problem in latest.problems if problem.at.file == document.name]

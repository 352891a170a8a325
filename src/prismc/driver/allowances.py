"""Comments that allow warnings: `# prism: allow(P0608) why it does not apply`.

Such a comment speaks of the line that it ends; one that stands alone speaks of the next line with
code. It allows warnings whose place begins on that line. Errors cannot be allowed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from prismc.diagnostics.problem import Fix, Problem, Severity
from prismc.diagnostics.suggest import did_you_mean
from prismc.driver.allowance_errors import (
    AllowedError,
    AllowedWithoutReason,
    CommentNotUnderstood,
    UnknownAllowedCode,
    UnusedAllowance,
)
from prismc.driver.catalog import codes, page, problem_classes
from prismc.source.files import SourceFile
from prismc.source.record import Record
from prismc.source.span import Span

_MARK = "prism:"
_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*')
_INSTRUCTION = re.compile(r"#\s*prism:\s*")
_ALLOW = re.compile(r"allow\s*\(([^()]*)\)[ \t:]*")
_CODE = re.compile(r"[^\s,]+")
_CODE_LINE = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)

# What a check can find by itself: warnings of later stages come with a build only.
_FOUND_BY_CHECKS = ("prismc.checker.", "prismc.frontend.")


class Allowance(Record):
    """One comment: the codes that it allows on line `line`, each with its place, and why."""

    at: Span
    line: int
    reason: str
    codes: tuple[tuple[str, Span], ...]


class Allowances:
    """The comments of one file, and what is wrong with them."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._used: set[tuple[int, str]] = set()
        self.found: list[Allowance] = []
        self.problems: list[Problem] = []
        for at in _instructions(file):
            self._read(at)

    def _read(self, at: Span) -> None:
        text = self._file.text[at.start : at.end]
        head = _INSTRUCTION.match(text)
        assert head is not None
        allow = _ALLOW.match(text, head.end())
        if allow is None or not allow[1].strip():
            self.problems.append(CommentNotUnderstood(at=at, text=text[head.end() :] or text))
            return
        if allow.end() == len(text):
            end = Span(at.file, at.end, at.end)
            self.problems.append(AllowedWithoutReason(at=end))
        named = []
        for match in _CODE.finditer(text, allow.start(1), allow.end(1)):
            place = Span(at.file, at.start + match.start(), at.start + match.end())
            if page(match[0]) is None:
                advice = did_you_mean(match[0], codes(), "`prismc explain` lists all codes")
                self.problems.append(UnknownAllowedCode(at=place, allowed=match[0], advice=advice))
            else:
                named.append((match[0], place))
        reason = text[allow.end() :]
        line = self._line_of(at)
        self.found.append(Allowance(at=at, line=line, reason=reason, codes=tuple(named)))

    def _line_of(self, at: Span) -> int:
        """The line that a comment speaks of."""
        line, column = self._file.position(at.start)
        if self._file.line(line)[: column - 1].strip():
            return line
        code = _CODE_LINE.search(self._file.text, at.end)
        return self._file.position(code.end() - 1).line if code else line

    def allow(self, problem: Problem) -> Allowance | None:
        """The comment that allows the warning."""
        line = self._file.position(problem.at.start).line
        for number, allowance in enumerate(self.found):
            if allowance.line == line and any(code == problem.code for code, _ in allowance.codes):
                self._used.add((number, problem.code))
                return allowance
        return None

    def of_errors(self) -> Iterator[Problem]:
        """A problem for each code that only errors have."""
        allowed = [code for allowance in self.found for code in allowance.codes]
        if any((number, code) not in self._used for number, code in self._named()):
            errors = _codes_of_errors()
            for code, at in allowed:
                if code in errors:
                    yield AllowedError(at=at, allowed=code)

    def unused(self) -> Iterator[Problem]:
        """A problem for each comment that allows what a check would find, and has not found."""
        if all(each in self._used for each in self._named()):
            return
        expected = {
            kind.code
            for kind in problem_classes()
            if kind.severity is Severity.WARNING and kind.__module__.startswith(_FOUND_BY_CHECKS)
        }
        for number, allowance in enumerate(self.found):
            unused = [
                code
                for code, _ in allowance.codes
                if code in expected and (number, code) not in self._used
            ]
            if unused:
                yield UnusedAllowance(
                    at=allowance.at,
                    codes=" or ".join(unused),
                    line=allowance.line,
                    fixes=(self._without(allowance, unused),),
                )

    def _named(self) -> Iterator[tuple[int, str]]:
        for number, allowance in enumerate(self.found):
            yield from ((number, code) for code, _ in allowance.codes)

    def _without(self, allowance: Allowance, unused: Collection[str]) -> Fix:
        """Remove the codes; the whole comment where none is left."""
        kept = [code for code, _ in allowance.codes if code not in unused]
        if kept:
            places = [place for _, place in allowance.codes]
            at = places[0].to(places[-1])
            return Fix(at=at, text=", ".join(kept), title=f"leave `allow({', '.join(kept)})`")
        text, start, end = self._file.text, allowance.at.start, allowance.at.end
        before = text[:start].rstrip(" \t")
        if not before or before.endswith("\n"):
            at = Span(allowance.at.file, len(before), min(end + 1, len(text)))
        else:
            at = Span(allowance.at.file, len(before), end)
        return Fix(at=at, text="", title="remove the comment")


def has_allowances(file: SourceFile) -> bool:
    """Whether there may be any; most files have none."""
    return _MARK in file.text


def _instructions(file: SourceFile) -> Iterator[Span]:
    """The comments that speak to prismc."""
    if not has_allowances(file):
        return
    for match in _COMMENT_OR_STRING.finditer(file.text):
        if _INSTRUCTION.match(match[0]):
            yield Span(file.name, match.start(), match.start() + len(match[0].rstrip()))


def _codes_of_errors() -> set[str]:
    """The codes that no warning has."""
    return set(codes()) - codes_of_warnings(problem_classes())


def codes_of_warnings(classes: Iterable[type[Problem]]) -> set[str]:
    """The codes that some warning has."""
    return {kind.code for kind in classes if kind.severity is Severity.WARNING}

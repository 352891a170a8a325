"""`prismc check --fix`: fixes that are certain, applied until nothing is left to apply.

Every fixed text is checked again before it counts: a round that does not take away what it was for,
or brings a syntax error, is given up, and the file stays as it was before the round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from prismc.diagnostics.fixes import certain_fixes, with_fixes
from prismc.diagnostics.problem import Fix, Problem
from prismc.driver.checking import check_files
from prismc.driver.options import Options
from prismc.driver.outputs import Output, save_outputs
from prismc.driver.session import Session
from prismc.source.files import Files, SourceFile
from prismc.source.record import Record

# Of what is wrong with characters, the first of a kind in a declaration is told: each round mends
# it and brings the next. This many times at most.
_ROUNDS = 100

_SYNTAX = "P01"


class Mended(Record):
    """A file, its text after `count` fixes."""

    file: SourceFile
    text: str
    count: int


def mend_files(
    session: Session, files: Sequence[SourceFile], options: Sequence[Options], jobs: int = 1
) -> tuple[Session, list[Mended]]:
    """Check the files with every one of the options, and apply what is certain, in memory.

    Returns the session of the last check, whose problems are those that remain, and the files that
    have fixes. `session`, which has opened the files, keeps what was found when it did.
    """
    texts = {file.name: file.text for file in files}
    counts = Counter[str]()
    given_up: set[str] = set()
    last = _checked(session, texts, options, jobs)
    for _ in range(_ROUNDS):
        open_files = [name for name in texts if name not in given_up]
        fixes = {name: certain_fixes(last.problems, name) for name in open_files}
        fixes = {name: found for name, found in fixes.items() if found}
        if not fixes:
            break
        fixed = {name: with_fixes(texts[name], found) for name, found in fixes.items()}
        after = _checked(session, texts | fixed, options, jobs)
        bad = [
            name
            for name, found in fixes.items()
            if not _is_better(last.problems, after.problems, found, fixed[name])
        ]
        given_up.update(bad)
        for name in bad:
            del fixed[name]
        texts |= fixed
        counts.update({name: len(fixes[name]) for name in fixed})
        last = _checked(session, texts, options, jobs) if bad else after
    mended = [
        Mended(file=file, text=texts[file.name], count=counts[file.name])
        for file in files
        if texts[file.name] != file.text
    ]
    return last, mended


def _checked(
    session: Session, texts: dict[str, str], options: Sequence[Options], jobs: int
) -> Session:
    """A session that has checked the texts."""
    own = Session(session.options, Files(), session.cache, session.strictness)
    for problem in session.sink.problems():
        own.sink.report(problem)
    files = [own.files.overlay(name, text) for name, text in texts.items()]
    check_files(own, files, options, jobs)
    return own


def _is_better(
    before: Sequence[Problem], after: Sequence[Problem], fixes: Sequence[Fix], fixed: str
) -> bool:
    """Whether fixes of one file have mended it: what they were for is gone, and where a syntax
    error has come to light instead, the parser has got beyond the fix.

    Later errors may come to light as well, for a check ends at the first syntax error.
    """
    file = fixes[0].at.file
    known = {(each.code, _moved(each.at.start, fixes)) for each in before if each.at.file == file}
    now = {(each.code, each.at.start) for each in after if each.at.file == file}
    mended = {
        (each.code, _moved(each.at.start, fixes))
        for each in before
        if any(fix in fixes for fix in each.fixes)
    }
    if mended & now or _syntax_errors(now) > _syntax_errors(known):
        return False
    for number, fix in enumerate(fixes):
        start = _moved(fix.at.start, fixes[:number])
        end = start + len(fix.text)
        end += len(fixed[end:]) - len(fixed[end:].lstrip(" \t"))
        if any(code.startswith(_SYNTAX) and start <= at <= end for code, at in now - known):
            return False
    return True


def _moved(place: int, fixes: Sequence[Fix]) -> int:
    """Where a place of the text is after the fixes before it."""
    return place + sum(
        len(fix.text) - (fix.at.end - fix.at.start) for fix in fixes if fix.at.end <= place
    )


def _syntax_errors(problems: Collection[tuple[str, int]]) -> int:
    return sum(code.startswith(_SYNTAX) for code, _ in problems)


def write_mended(session: Session, mended: Sequence[Mended]) -> None:
    """Put the texts in place of the files; what cannot be written is reported to the session."""
    outputs = [Output(path=Path(each.file.name), content=each.text.encode()) for each in mended]
    save_outputs(session.sink, outputs)

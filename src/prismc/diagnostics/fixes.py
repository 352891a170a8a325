"""Fixes that may be applied unseen, and the text after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prismc.diagnostics.problem import Fix, Problem


def certain_fixes(problems: Iterable[Problem], file: str) -> list[Fix]:
    """The fixes of one file that are certain and do not meet, in order; of those that do, the first
    stays and the others wait for the next time."""
    found = [
        fix
        for problem in problems
        for fix in problem.fixes
        if fix.is_certain and fix.at.file == file
    ]
    kept: list[Fix] = []
    for fix in sorted(found, key=lambda fix: (fix.at.start, fix.at.end)):
        # Two insertions at one place would come in no particular order.
        is_apart = not kept or fix.at.start > kept[-1].at.end
        if is_apart or (fix.at.start == kept[-1].at.end and fix.at.start < fix.at.end):
            kept.append(fix)
    return kept


def with_fixes(text: str, fixes: Sequence[Fix]) -> str:
    """The text after fixes that are in order and do not meet."""
    parts: list[str] = []
    end = 0
    for fix in fixes:
        parts += (text[end : fix.at.start], fix.text)
        end = fix.at.end
    return "".join([*parts, text[end:]])

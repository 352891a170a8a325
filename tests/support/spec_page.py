"""Literate tests: pages of prose and ```prism fences whose lines state what prismc says there.

A fence without a marked line must check without any diagnostic. A line may end in

    # error: [P0401] "part of what is said"
    # warning: [P0512]

(several on a line; the text is optional and is looked for in the message, the label, the related
places and the help). A comment line of its own speaks of the next line, where a comment at the end
would disturb. Exactly the stated diagnostics must come, on exactly these lines.

Fences that start with `# file name.prism` and follow one another under one heading are the files of
one program, whose root is `main.prism` or else the first. `# flags: --target sm_75`, or flags after
`prism` on the fence's line, are command-line options. `expect barriers: 2` after the fence counts
the full barriers and warp synchronisations of the plan; `expect barriers: 2 at lines 4, 7` names
the statements that they stand at too. `expect plan: 1 block barrier, 2 mbarrier` counts all
operations of the plan by their kind; a ```plan fence states all of it (`page_plans.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from prismc.checker.results import CheckedProgram
from prismc.checker.sync.plan import SyncKind, SyncOperation
from prismc.checker.types.walk import statements_in
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from support.checking import all_words, check_texts
from support.fences import Fence, read_fences

_MARK = re.compile(r'#\s*(error|warning|note): \[(P\d{4})\](?:\s*"((?:[^"\\]|\\.)*)")?')
_BARRIERS = re.compile(r"^expect barriers: (\d+)(?: at lines ([\d, ]+))?", re.MULTILINE)
_PLAN = re.compile(r"^expect plan: (.+)", re.MULTILINE)


class Expected(NamedTuple):
    """One diagnostic that a page states."""

    file: str
    line: int
    severity: str
    code: str
    words: str


class Case(NamedTuple):
    """One program of a page, whose first fence opens at `line`."""

    name: str
    heading: str
    line: int
    texts: dict[str, str]
    root: str
    flags: str
    barriers: int | None
    barrier_lines: list[int]
    plan: Counter[str] | None


def read_cases(path: Path) -> list[Case]:
    """The programs of a page, in order."""
    cases: list[Case] = []
    group: list[Fence] = []
    for fence in (f for f in read_fences(path) if f.language == "prism"):
        continues = group and fence.file_name and group[-1].file_name
        if not (continues and fence.heading == group[0].heading and not group[-1].after.strip()):
            cases += [_case(path, group)] if group else []
            group = []
        group.append(fence)
    cases += [_case(path, group)] if group else []
    return cases


def _case(path: Path, group: list[Fence]) -> Case:
    texts = {fence.file_name or "main.prism": fence.text for fence in group}
    root = "main.prism" if "main.prism" in texts else next(iter(texts))
    match = _BARRIERS.search(group[-1].after)
    name = f"{path.stem}:{group[0].line} {group[0].heading}"
    flags = " ".join(fence.flags for fence in group if fence.flags)
    lines = [int(line) for line in (match[2] or "").split(",") if line.strip()] if match else []
    barriers = int(match[1]) if match else None
    plan = _stated_plan(group[-1].after)
    heading, line = group[0].heading, group[0].line
    return Case(name, heading, line, texts, root, flags, barriers, lines, plan)


def program_above(page: Path, fence: Fence) -> int:
    """The line of the last program above a fence, under its heading. Raises LookupError."""
    for case in reversed(read_cases(page)):
        if case.heading == fence.heading and case.line < fence.line:
            return case.line
    raise LookupError(f"{page}:{fence.line}: no program under {fence.heading!r}")


def _stated_plan(text: str) -> Counter[str] | None:
    """`1 block barrier, 2 mbarrier` as numbers by kind; None where nothing is stated."""
    match = _PLAN.search(text)
    if match is None:
        return None
    parts = (part.strip().split(" ", 1) for part in match[1].split(","))
    return Counter({kind: int(number) for number, kind in parts})


def expected_of(case: Case) -> list[Expected]:
    """The diagnostics that a case's lines state."""
    found = []
    for file, text in case.texts.items():
        waiting: list[Expected] = []
        for number, line in enumerate(text.split("\n"), start=1):
            own = [
                Expected(file, number, m[1], m[2], (m[3] or "").replace('\\"', '"'))
                for m in _MARK.finditer(line)
            ]
            if own and line.lstrip().startswith("#"):
                waiting += own
                continue
            found += [mark._replace(line=number) for mark in waiting] + own
            waiting = []
        if waiting:
            raise ValueError(f"{case.name}: a mark at the end speaks of no line")
    return found


def run_case(case: Case) -> list[str]:
    """Check a case; what differs from the page, a sentence each, nothing when it holds."""
    session = check_texts(case.texts, case.root, case.flags)
    left = expected_of(case)
    wrong = []
    for problem in session.problems:
        line = session.files.position(problem.at).line
        said = all_words(problem)
        mark = next(
            (
                m
                for m in left
                if (m.file, m.line, m.severity, m.code)
                == (problem.at.file, line, problem.severity.value, problem.code)
                and m.words in said
            ),
            None,
        )
        if mark:
            left.remove(mark)
        else:
            where = f"{problem.at.file}:{line}"
            wrong.append(f"unexpected {problem.severity.value} {problem.code} at {where}: {said!r}")
    wrong += [
        f"missing {m.severity} {m.code} at {m.file}:{m.line}"
        + (f" with {m.words!r}" if m.words else "")
        for m in left
    ]
    return wrong + wrong_barriers(case) + wrong_plan(case)


def wrong_barriers(case: Case) -> list[str]:
    """Whether the plan has as many synchronisations as the page says, where it says so."""
    if case.barriers is None:
        return []
    checked, session = checked_case(case)
    counted = (SyncKind.BLOCK_BARRIER, SyncKind.WARP_BARRIER, SyncKind.NAMED_BARRIER)
    found = [op for op in _operations(checked) if op.kind in counted]
    statements = {
        statement.id: session.files.position(statement.span).line
        for body in checked.program.bodies.values()
        for statement in statements_in(body.statements)
    }
    lines = [statements[op.position.anchor] for op in found]
    if len(found) == case.barriers and lines == (case.barrier_lines or lines):
        return []
    return [f"{case.barriers} barriers expected, {len(found)} planned, at lines {lines}"]


def wrong_plan(case: Case) -> list[str]:
    """Whether the plan has the operations that the page says, where it says so."""
    if case.plan is None:
        return []
    found = Counter(op.kind.value for op in _operations(checked_case(case)[0]))
    return [] if found == case.plan else [f"{dict(case.plan)} expected, planned: {dict(found)}"]


def checked_case(case: Case) -> tuple[CheckedProgram, Session]:
    """What is known of the program of a case, which must be accepted."""
    session = check_texts(case.texts, case.root, case.flags)
    checked = run_stages(session, session.files.known(case.root), CHECKS)
    assert checked is not None, "the program is accepted"
    return checked, session


def _operations(checked: CheckedProgram) -> list[SyncOperation]:
    return [op for plan in checked.plan.instances.values() for op in plan.operations]

"""Findings as text and as JSON: source lines first, PTX lines where there are none."""

from __future__ import annotations

from typing import Any

from prismc.diagnostics.excerpt import Mark, draw_excerpt, last_line_number
from prismc.diagnostics.style import Role, plain
from prismc.emulator.api import RunResult
from prismc.emulator.findings import Finding, ThreadId
from prismc.emulator.ptx.tree import Instruction, Location, Module
from prismc.source.files import Files, SourceFile, UnreadableFile
from prismc.source.span import Span

# `#line` tells the compiler lines; the columns of its `.loc` are those of the generated text.
_WITHOUT_COLUMNS = ".prism"


def text_of(result: RunResult) -> str:
    """All findings of a launch, one paragraph each; says so if there are none."""
    return text_of_findings(result.findings, result.module)


def text_of_findings(
    findings: tuple[Finding, ...], module: Module, files: Files | None = None
) -> str:
    """Findings of a module's kernels, one paragraph each; says so if there are none.

    With `files`, the source lines are shown, where they can be read.
    """
    if not findings:
        return "no findings\n"
    return "\n".join(_paragraph(finding, module, files) for finding in findings)


def _paragraph(finding: Finding, module: Module, files: Files | None) -> str:
    lines = [f"{finding.kind.name}: {finding.message}"]
    lines += [f"  --> {place}" for place in places(finding.site, module)]
    lines += _excerpt(finding, module, files) if files is not None else []
    if finding.array:
        lines.append(f"  array: {finding.array} {finding.element}".rstrip())
    if finding.threads:
        shown = ", ".join(map(thread_text, finding.threads))
        lines.append(f"  threads: {shown}" + (" and more" if finding.times > 4 else ""))
    if finding.other is not None:
        lines.append(f"  {finding.other_role or 'other'}: {places(finding.other, module)[0]}")
    if finding.other_thread is not None:
        lines.append(f"  other thread: {thread_text(finding.other_thread)}")
    if finding.times > 1:
        lines.append(f"  times: {finding.times}")
    lines.append(f"  help: {finding.help}")
    return "\n".join(lines) + "\n"


def _excerpt(finding: Finding, module: Module, files: Files) -> list[str]:
    """The lines of the fault, of the calls it came by, and of the other access, if it is there."""
    chain = [_source(location, module, files) for location in _chain(finding.site, module)]
    first = chain[0] if chain else None
    if first is None:
        return []
    places = [(first, "")] + [(place, "called here") for place in chain[1:]]
    places += [
        (_source(location, module, files), finding.other_role or "other")
        for location in _chain(finding.other, module)[:1]
    ]
    file = first[0]
    marks: dict[int, Mark] = {}
    for place, label in places:
        if place is not None and place[0] is file and place[1] not in marks:
            role = Role.SECOND if marks else Role.ERROR
            marks[place[1]] = Mark(_statement(file, place[1]), label, role)
    drawn = list(marks.values())
    width = len(str(last_line_number(file, drawn)))
    return [f"  {row}" for row in draw_excerpt(file, drawn, width, plain)]


def _chain(site: Instruction | None, module: Module) -> list[Location]:
    """Where an instruction was written, then the calls it was inlined into.

    What the compiler of Prism calls in its CUDA C++ stands in no file: the call is the place.
    """
    found = []
    location = None if site is None else site.location
    while location is not None:
        found.append(location)
        location = location.inlined_at
    names = [module.files.get(each.file, "") for each in found]
    of_prism = [
        each for each, name in zip(found, names, strict=True) if name.endswith(_WITHOUT_COLUMNS)
    ]
    return of_prism or found


def _source(location: Location, module: Module, files: Files) -> tuple[SourceFile, int] | None:
    """The file and the line of a place; None where there is no such line to show."""
    try:
        file = files.read(module.files.get(location.file, ""))
    except UnreadableFile:
        return None
    number = location.line
    return (file, number) if 1 <= number <= len(file.line_starts) else None


def _statement(file: SourceFile, number: int) -> Span:
    """What stands in a line, without the blanks around it."""
    text, start = file.line(number), file.line_starts[number - 1]
    first = start + len(text) - len(text.lstrip())
    return Span(file.name, first, start + len(text.rstrip()))


def places(site: Instruction | None, module: Module) -> list[str]:
    """Where an instruction stands: its source line, then the calls it was inlined into."""
    if site is None:
        return ["(no instruction)"]
    found = [_spelled(location, module) for location in _chain(site, module)]
    if not found:
        return [f"{module.name}:{site.line} `{site.opcode}`"]
    return [f"{found[0]} (`{site.opcode}`, PTX line {site.line})", *found[1:]]


def _spelled(location: Location, module: Module) -> str:
    name = module.files.get(location.file, f"file {location.file}")
    column = _column(name, location)
    return f"{name}:{location.line}" + (f":{column}" if column else "")


def _column(name: str, location: Location) -> int | None:
    """The column of a place, if the line has one that is its own."""
    return None if name.endswith(_WITHOUT_COLUMNS) else location.column


def thread_text(thread: ThreadId) -> str:
    """`block (1, 0) thread (5)`: trailing zeros are left out."""
    return f"block {_coordinates(thread.block)} thread {_coordinates(thread.thread)}"


def _coordinates(values: tuple[int, int, int]) -> str:
    x, y, z = values
    kept = (x,) if not (y or z) else (x, y) if not z else (x, y, z)
    return f"({', '.join(map(str, kept))})"


def record_of(result: RunResult) -> dict[str, Any]:
    """The findings as a JSON object: `{"version": 1, "findings": [...]}`."""
    return {"version": 1, "findings": records_of(result.findings, result.module)}


def records_of(findings: tuple[Finding, ...], module: Module) -> list[dict[str, Any]]:
    """Findings as JSON objects."""
    return [_entry(finding, module) for finding in findings]


def _entry(finding: Finding, module: Module) -> dict[str, Any]:
    return {
        "kind": finding.kind.name,
        "message": finding.message,
        "help": finding.help,
        "at": _place(finding.site, module),
        "array": finding.array or None,
        "element": finding.element or None,
        "threads": [_thread(thread) for thread in finding.threads],
        "other": {
            "role": finding.other_role,
            "at": _place(finding.other, module),
            "thread": None if finding.other_thread is None else _thread(finding.other_thread),
        }
        if finding.other is not None
        else None,
        "times": finding.times,
    }


def _thread(thread: ThreadId) -> dict[str, list[int]]:
    return {"block": list(thread.block), "thread": list(thread.thread)}


def _place(site: Instruction | None, module: Module) -> dict[str, Any] | None:
    if site is None:
        return None
    chain = []
    for location in _chain(site, module):
        name = module.files.get(location.file, "")
        column = _column(name, location)
        chain.append({"file": name, "line": location.line, "column": column})
    return {"ptx_line": site.line, "instruction": site.opcode, "source": chain}

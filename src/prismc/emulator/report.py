"""Findings as text and as JSON: source lines first, PTX lines where there are none."""

from __future__ import annotations

from typing import Any

from prismc.emulator.api import RunResult
from prismc.emulator.findings import Finding, ThreadId
from prismc.emulator.ptx.tree import Instruction, Location, Module


def text_of(result: RunResult) -> str:
    """All findings of a launch, one paragraph each; says so if there are none."""
    return text_of_findings(result.findings, result.module)


def text_of_findings(findings: tuple[Finding, ...], module: Module) -> str:
    """Findings of a module's kernels, one paragraph each; says so if there are none."""
    if not findings:
        return "no findings\n"
    return "\n".join(_paragraph(finding, module) for finding in findings)


def _paragraph(finding: Finding, module: Module) -> str:
    lines = [f"{finding.kind.name}: {finding.message}"]
    lines += [f"  --> {place}" for place in places(finding.site, module)]
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


def places(site: Instruction | None, module: Module) -> list[str]:
    """Where an instruction stands: its source line, then the calls it was inlined into."""
    if site is None:
        return ["(no instruction)"]
    found = []
    location = site.location
    while location is not None:
        found.append(_spelled(location, module))
        location = location.inlined_at
    if not found:
        return [f"{module.name}:{site.line} `{site.opcode}`"]
    return [f"{found[0]} (`{site.opcode}`, PTX line {site.line})", *found[1:]]


def _spelled(location: Location, module: Module) -> str:
    name = module.files.get(location.file, f"file {location.file}")
    return f"{name}:{location.line}:{location.column}"


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
    location = site.location
    chain = []
    while location is not None:
        name = module.files.get(location.file, "")
        chain.append({"file": name, "line": location.line, "column": location.column})
        location = location.inlined_at
    return {"ptx_line": site.line, "instruction": site.opcode, "source": chain}

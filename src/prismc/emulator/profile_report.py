"""A profile as a table, as JSON, and as a page that shows the source as a heat map."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from prismc.emulator.profile import CLASSES, LineProfile, Profile, Traffic, WaitProfile

_SHOWN_LINES = 20


def text_of_profile(profile: Profile) -> str:
    """Instructions by class, then the lines that cost most."""
    counts, traffic = profile.totals()
    total = max(1, sum(counts.values()))
    out = [f"{total:>16,} thread instructions"]
    for name in CLASSES:
        if counts.get(name):
            out.append(f"{counts[name]:>16,} {name} ({100 * counts[name] / total:.1f} %)")
    out += [f"{'':>16} {text}" for text in _traffic(traffic)]
    out += ["", f"{'instructions':>16} {'share':>6}  line"]
    for line in profile.lines[:_SHOWN_LINES]:
        notes = "; ".join(_traffic(line.traffic))
        where = f"{line.file}:{line.line}" + (f"  {notes}" if notes else "")
        out.append(f"{line.total:>16,} {100 * line.total / total:5.1f}%  {where}")
    return "\n".join(out + _wait_table(profile)) + "\n"


def _wait_table(profile: Profile) -> list[str]:
    """Where which warps wait, the longest waits first."""
    if not profile.waits:
        return []
    rows = ["", f"{'waits':>16} {'steps':>9}  line"]
    for wait in profile.waits[:_SHOWN_LINES]:
        rows.append(f"{wait.times:>16,} {wait.steps:>9,}  {wait.file}:{wait.line}  {_who(wait)}")
    return rows


def _who(wait: WaitProfile) -> str:
    """`mbarrier, warps 1-3 (at most 200 steps a warp)`."""
    text = f"{wait.kind}, {_ranges(wait.warps)}"
    if len(wait.warps) > 1 and wait.steps:
        text += f" (at most {wait.most_steps:,} steps a warp)"
    return text


def _ranges(numbers: tuple[int, ...]) -> str:
    """`warp 3`, `warps 0-2, 5`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    text = ", ".join("-".join(map(str, part)) for part in parts)
    return f"warp{'s' if len(numbers) > 1 else ''} {text}"


def _traffic(traffic: Traffic) -> list[str]:
    """Transactions and conflicts in words."""
    found = []
    if traffic.sectors:
        ratio = traffic.sectors / max(1, traffic.least_sectors)
        found.append(f"{traffic.sectors:,} global sectors, {ratio:.2f} times the least")
    if traffic.passes:
        ways = traffic.passes / max(1, traffic.least_passes)
        found.append(f"{traffic.passes:,} shared passes, {ways:.2f}-way bank conflicts")
    return found


def record_of_profile(profile: Profile) -> dict[str, Any]:
    """The profile as a JSON object."""
    counts, traffic = profile.totals()
    return {
        "instructions": counts,
        "traffic": traffic._asdict(),
        "lines": [
            {
                "file": line.file,
                "line": line.line,
                "instructions": line.instructions,
                "traffic": line.traffic._asdict(),
            }
            for line in profile.lines
        ],
        "waits": [
            {
                "kind": wait.kind,
                "file": wait.file,
                "line": wait.line,
                "warps": list(wait.warps),
                "times": wait.times,
                "steps": wait.steps,
                "most_steps": wait.most_steps,
            }
            for wait in profile.waits
        ],
    }


_STYLE = """
body { font-family: system-ui, sans-serif; margin: 2rem; color: #222; background: #fff; }
table { border-collapse: collapse; font-family: ui-monospace, monospace; font-size: 13px; }
td { padding: 0 .6rem; white-space: pre; }
td.n { text-align: right; color: #555; }
td.t { color: #a33; }
caption { text-align: left; font-weight: bold; padding: 1rem 0 .5rem; }
"""


def page_of_profile(profile: Profile, title: str, source: Callable[[str], list[str] | None]) -> str:
    """An HTML page: each file's lines with their costs, coloured by their share.

    `source` gives the lines of a file, None where it cannot be read.
    """
    counts, traffic = profile.totals()
    total = max(1, sum(counts.values()))
    rows = "".join(
        f"<tr><td class=n>{counts[name]:,}</td><td>{html.escape(name)}</td></tr>"
        for name in CLASSES
        if counts.get(name)
    )
    notes = "".join(f"<p>{html.escape(text)}</p>" for text in _traffic(traffic))
    files = list(dict.fromkeys(line.file for line in profile.lines))
    tables = "".join(_file_table(profile, file, total, source(file)) for file in files)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
        f"<style>{_STYLE}</style><h1>{html.escape(title)}</h1>"
        f"<table><caption>thread instructions: {total:,}</caption>{rows}</table>{notes}{tables}"
        "</html>\n"
    )


def _file_table(profile: Profile, file: str, total: int, lines: list[str] | None) -> str:
    costs = {line.line: line for line in profile.lines if line.file == file}
    if lines is None:
        lines = [""] * max(costs)
    most = max((cost.total for cost in costs.values()), default=1) or 1
    waits: dict[int, list[str]] = {}
    for wait in profile.waits:
        if wait.file == file:
            text = f"{wait.times:,} waits, {wait.steps:,} steps: {_who(wait)}"
            waits.setdefault(wait.line, []).append(text)
    rows = "".join(
        _row(number, text, costs.get(number), waits.get(number, []), most, total)
        for number, text in enumerate(lines, start=1)
    )
    return f"<table><caption>{html.escape(file)}</caption>{rows}</table>"


def _row(
    number: int, text: str, cost: LineProfile | None, waits: list[str], most: int, total: int
) -> str:
    shown = html.escape(text) or " "
    if cost is None:
        return f"<tr><td class=n>{number}</td><td></td><td></td><td>{shown}</td><td></td></tr>"
    heat = f"rgba(220, 60, 20, {0.6 * cost.total / most:.3f})"
    notes = html.escape("; ".join(_traffic(cost.traffic) + waits))
    return (
        f'<tr style="background:{heat}"><td class=n>{number}</td>'
        f"<td class=n>{cost.total:,}</td><td class=n>{100 * cost.total / total:.1f}%</td>"
        f"<td>{shown}</td><td class=t>{notes}</td></tr>"
    )

"""The ```plan fences of pages: the whole plan of the program above, operation by operation.

A fence holds a line for each operation, in the order of the text, and below it what it orders:

    before 12: bar.sync 0 of block[1]
        RAW S 10 -> 12
        WAR S 12 [0..31] -> 10 around 9

Numbers are lines of the program; threads in brackets, none for all of the instance. The orders may
be left out in the whole fence, then only the operations are compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from prismc.driver.sync.account import Operation, Reason, Side, account_of
from support.fences import read_fences
from support.spec_page import Case, checked_case, program_above, read_cases


class StatedPlan(NamedTuple):
    """A plan as a page states it, of the program of `case`."""

    case: Case
    lines: tuple[str, ...]

    @property
    def has_orders(self) -> bool:
        return any(" -> " in line for line in self.lines)


def read_plans(page: Path) -> list[StatedPlan]:
    """The plans that a page states, in order."""
    cases = {case.line: case for case in read_cases(page)}
    return [
        StatedPlan(cases[program_above(page, fence)], tuple(fence.text.strip("\n").splitlines()))
        for fence in read_fences(page)
        if fence.language == "plan"
    ]


def planned_lines(stated: StatedPlan) -> list[str]:
    """The plan that prismc makes, in the form of the page."""
    checked, session = checked_case(stated.case)
    lines: list[str] = []
    for function in account_of(session, checked):
        for operation in function.operations:
            lines.append(_title(operation))
            if stated.has_orders:
                lines += [f"    {_order(reason)}" for reason in operation.merged]
    return lines


def _title(operation: Operation) -> str:
    where = "after" if operation.is_after else "before"
    return f"{where} {operation.line}: {operation.instruction} of {operation.threads}"


def _order(reason: Reason) -> str:
    path = f" around {reason.loop}" if reason.loop else ""
    earlier, later = _side(reason.earlier), _side(reason.later)
    return f"{reason.hazard} {reason.earlier.root} {earlier} -> {later}{path}"


def _side(side: Side) -> str:
    ranges = ", ".join(f"{start}..{end - 1}" for start, end in side.threads)
    return f"{side.line} [{ranges}]" if ranges else str(side.line)

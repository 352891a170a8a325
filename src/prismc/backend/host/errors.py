"""P0775 and P0777: what goes wrong where a module meets its host program."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity


class HeaderNameTaken(Problem):
    code = "P0775"
    title = "two things in a header have one name"
    message = "the header would declare `{name}` twice: for {what}, and for {other}"
    label = "`{name}` is made from this kernel's name"
    help_text = "rename a kernel or a parameter"

    name: str
    what: str
    other: str


class ConditionUnverified(Problem):
    code = "P0777"
    title = "a launch function cannot verify an assumption"
    severity = Severity.WARNING
    message = "the launch function in the header does not verify `{condition}`"
    label = "this kernel is compiled as if it held"
    help_text = "state it with integers, floats, comparisons and `aligned(..)` alone"

    condition: str

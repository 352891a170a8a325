"""P0775 and P0777: what goes wrong where a module meets its host program."""

from __future__ import annotations

from collections.abc import Sequence

from prismc.backend.cuda_module import KernelEntry
from prismc.diagnostics.problem import Problem, Severity
from prismc.diagnostics.sink import Sink


class HeaderNameTaken(Problem):
    code = "P0775"
    title = "two things in a header have one name"
    message = "the header would declare `{name}` twice: for {what}, and for {other}"
    label = "`{name}` is made from this kernel's name"
    help_text = "{advice}"

    name: str
    what: str
    other: str
    advice: str


class ConditionUnverified(Problem):
    code = "P0777"
    title = "a launch function cannot verify an assumption"
    severity = Severity.WARNING
    message = "the launch function does not verify `{condition}`"
    label = "this kernel is compiled as if it held"
    help_text = "state it with integers, floats, comparisons and `aligned(..)` alone"

    condition: str


def report_unverified(kernels: Sequence[KernelEntry], sink: Sink) -> None:
    """Tell of each condition that no host can compute."""
    for kernel in kernels:
        for condition in kernel.conditions:
            if condition.formula is None:
                sink.report(ConditionUnverified(at=kernel.at, condition=condition.text))

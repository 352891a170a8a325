"""The PTX machine as the device of a test: every launch is watched for faults."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prismc.driver.kernels import Kernel, Parameter, RunError, choose
from prismc.driver.running import Array, Launch, Outcome, bind, new_findings, run
from prismc.emulator.report import text_of_findings
from prismc.emulator.schedule import Plan
from prismc.source.files import Files

Kernels = Callable[[], tuple[Kernel, ...]]


class EmulatedDevice:
    """Runs launches in one order of execution; what is found at fault stays in `faults`.

    `kernels` compiles them, when the first is launched.
    """

    def __init__(
        self, kernels: Kernels, plan: Plan, files: Files, time_limit: float | None = None
    ) -> None:
        self._kernels = kernels
        self._plan = plan
        self._files = files
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self.faults = ""
        self.printed = ""

    def launch(
        self,
        kernel: str,
        blocks: int,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        poisoned: Callable[[Array], bool],
    ) -> bool:
        chosen = choose(self._kernels(), kernel)
        given = given_by_name(chosen.parameters, arguments, named)
        unread = frozenset(
            name for name, value in given.items() if hasattr(value, "dtype") and poisoned(value)
        )
        bound = bind(chosen, given, unread)
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        launch = Launch(grid=(blocks,))
        (outcome,) = run(bound, launch, [self._plan], time_limit=left)
        self._keep(chosen, outcome)
        for parameter in chosen.parameters:
            if parameter.name in outcome.arrays and not parameter.is_const:
                given[parameter.name][...] = outcome.arrays[parameter.name]
        return not self.faults

    def _keep(self, kernel: Kernel, outcome: Outcome) -> None:
        self.printed += outcome.result.printed
        findings = new_findings([outcome])
        if findings:
            self.faults = text_of_findings(findings, kernel.module, self._files)


def given_by_name(
    parameters: Sequence[Parameter], arguments: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by their parameters' names; one element of an array is a number.

    Raises RunError for too many of them, and for one that is given twice.
    """
    if len(arguments) > len(parameters):
        raise RunError(f"{len(arguments)} arguments for {len(parameters)} parameters")
    given = {p.name: value for p, value in zip(parameters, arguments, strict=False)}
    twice = [name for name in named if name in given]
    if twice:
        raise RunError(f"`{twice[0]}` is given by position and by name")
    found = given | dict(named)
    kinds = {parameter.name: parameter.kind for parameter in parameters}
    return {
        name: value.item() if kinds.get(name) == "scalar" and hasattr(value, "item") else value
        for name, value in found.items()
    }

"""P095x: what lowering has to leave out."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity


class PrintLeftOut(Problem):
    code = "P0952"
    title = "a print beside warpgroup products"
    severity = Severity.WARNING
    message = "`print` is left out: a call would make the program's warpgroup products wait"
    label = "not in the code"
    help_text = "store the value to memory, and print it from the host or from another kernel"

"""P095x: what the checker accepts and lowering cannot express yet."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity
from prismc.hardware.groups import Perspective


class MappedArgument(Problem):
    code = "P0950"
    title = "an index function through a call is not supported yet"
    message = "`{name}` is seen through an index function, which does not go through {where} yet"
    label = "`{name}` was made by `by`"
    help_text = "use `at` for `{name}`, or copy the elements first"

    name: str
    where: str


class WideBroadcast(Problem):
    code = "P0951"
    title = "a broadcast beyond a warp is not supported yet"
    message = "`broadcast` to {to} is not supported yet: only to 2, 4, 8, 16 or 32 threads"
    label = "to {to}"
    help_text = "write the value to shared memory from one thread and read it from all"

    to: Perspective


class PrintLeftOut(Problem):
    code = "P0952"
    title = "a print beside warpgroup products"
    severity = Severity.WARNING
    message = "`print` is left out: a call would make the program's warpgroup products wait"
    label = "not in the code"
    help_text = "store the value to memory, and print it from the host or from another kernel"

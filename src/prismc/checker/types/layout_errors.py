"""P0319 and P0334: layouts of shared arrays."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class BadLayout(Problem):
    code = "P0319"
    title = "not a layout of this array"
    message = "`{name}` {reason}"
    label = "as a layout"
    help_text = "name a function int -> int that gives each index of the array a place of its own"

    name: str
    reason: str


class LayoutParts(Problem):
    code = "P0334"
    title = "a vector access to elements that the layout parts"
    message = "layout `{name}` keeps {run} elements side by side, this access takes {lanes}"
    label = "one access to {lanes} elements"
    help_text = "access {run} elements at a time, or use a layout that moves larger pieces"

    name: str
    lanes: int
    run: int

"""P0319, P0334 and P0380: layouts of shared arrays, tensor maps."""

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


class BadTensorMap(Problem):
    code = "P0380"
    title = "not a tensor map that the copy engine takes"
    message = "{reason}"
    label = "this tensor map"
    help_text = "{advice}"

    reason: str
    advice: str


class SwizzleAlignment(Problem):
    code = "P0381"
    title = "an alignment that a swizzle does not fit"
    message = "`{name}` repeats every {least} bytes of memory, and {alignment} is no multiple"
    label = "too small"
    help_text = "leave `align` out, or write `align {least}`"

    name: str
    alignment: int
    least: int

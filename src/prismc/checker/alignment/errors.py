"""P039x: alignment, and what functions assume of their arguments."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class Unaligned(Problem):
    code = "P0390"
    title = "an access whose alignment is not proved"
    message = "this access needs an address that is a multiple of {needed} bytes; {reason}"
    label = "one access to {needed} bytes"
    help_text = "{advice}"

    needed: int
    reason: str
    advice: str


class ElementsParted(Problem):
    code = "P0391"
    title = "an access to several elements that an index function may part"
    message = "this access takes {lanes} elements side by side; `by` is not known to keep them so"
    label = "{lanes} elements in one access"
    help_text = "use `at`, or an index function f with f(i + 1) = f(i) + 1 for these elements"

    lanes: int


class AssumptionUnproved(Problem):
    code = "P0392"
    title = "a call that does not show what the function assumes"
    message = "`{callee}` assumes that {condition}, which is not known here{reason}"
    label = "called here"
    help_text = "{advice}"

    callee: str
    condition: str
    reason: str
    advice: str


class AssumptionBroken(Problem):
    code = "P0393"
    title = "a call with arguments that the function excludes"
    message = "`{callee}` assumes that {condition}, and that does not hold here{reason}"
    label = "called here"
    help_text = "pass what the function is for: its comment and its `@assume` tell"

    callee: str
    condition: str
    reason: str


class ArgumentsShowTooLittle(Problem):
    code = "P0395"
    title = "a call that does not show what an access in the function needs"
    message = "`{callee}` needs {needed}, which these arguments do not show{reason}"
    label = "called here"
    help_text = "{advice}"

    callee: str
    needed: str
    reason: str
    advice: str

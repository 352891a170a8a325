"""P0785 to P0789: comments that allow warnings, `# prism: allow(CODE) reason`."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity


class CommentNotUnderstood(Problem):
    code = "P0785"
    title = "a comment for prismc that it does not understand"
    message = "`{text}` tells prismc nothing"
    label = "`allow(CODE, ..) reason` was expected after `prism:`"
    help_text = "write `# prism: allow(P0608) why the warning does not apply`"

    text: str


class UnknownAllowedCode(Problem):
    code = "P0786"
    title = "an allowed code that no warning has"
    message = "no diagnostic has the code `{allowed}`"
    label = "not a code"
    help_text = "{advice}"

    allowed: str
    advice: str


class AllowedWithoutReason(Problem):
    code = "P0787"
    title = "a warning allowed without a reason"
    message = "`allow` gives no reason"
    label = "why the warning does not apply was expected here"
    help_text = "say after the `)` why the warning does not apply, for those who read the program"


class AllowedError(Problem):
    code = "P0788"
    title = "an error that a comment allows"
    message = "{allowed} is an error, and errors cannot be allowed"
    label = "only warnings can"
    help_text = "mend the program, and remove the code from the comment"

    allowed: str


class UnusedAllowance(Problem):
    code = "P0789"
    title = "a warning that is allowed and does not come"
    severity = Severity.WARNING
    message = "there is no {codes} to allow on line {line}"
    label = "speaks of line {line}"
    help_text = "remove what is not needed"

    codes: str
    line: int

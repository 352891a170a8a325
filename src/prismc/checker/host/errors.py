"""P079x: tests, which are host code."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class NotHostCode(Problem):
    code = "P0790"
    title = "what a test cannot hold"
    message = "{what} cannot stand in a test"
    help_text = (
        "a test is host code: it makes arrays, launches kernels and asserts, with `:=`, "
        "assignments, `if` and `for`"
    )

    what: str


class HostTypes(Problem):
    code = "P0791"
    title = "values of a test that do not go together"
    message = "{what}"
    help_text = "{advice}"

    what: str
    advice: str


class HostShapes(Problem):
    code = "P0792"
    title = "shapes that do not fit"
    message = "{what}: the shapes do not fit"
    help_text = "{advice}"

    what: str
    advice: str


class HostArguments(Problem):
    code = "P0793"
    title = "a function of tests called in another way"
    message = "{what}"
    help_text = "write `{usage}`"

    what: str
    usage: str


class LaunchForm(Problem):
    code = "P0794"
    title = "a launch in another form"
    message = "{what}"
    help_text = "write `launch({name}, blocks = n)(..)`, as a statement"

    what: str
    name: str


class LaunchesNoKernel(Problem):
    code = "P0795"
    title = "a launch of what is no kernel of this file"
    message = "`{name}` cannot be launched: {reason}"
    help_text = "{advice}"

    name: str
    reason: str
    advice: str


class LaunchNames(Problem):
    code = "P0796"
    title = "a launch whose arguments are not the kernel's parameters"
    message = "{what}"
    help_text = "the parameters are {parameters}"

    what: str
    parameters: str


class LaunchArgument(Problem):
    code = "P0797"
    title = "an argument of a launch that is not of its parameter's type"
    message = "`{parameter}` is {wanted}, the argument is {found}"
    help_text = "{advice}"

    parameter: str
    wanted: str
    found: str
    advice: str


class DuplicateTest(Problem):
    code = "P0798"
    title = "two tests of one name"
    message = 'a second test is called "{name}"'
    help_text = "give it a name of its own: reports and `-k` go by it"

    name: str


class HostCondition(Problem):
    code = "P0799"
    title = "a condition of a test that is neither true nor false"
    message = "`{statement}` takes a bool, or an array of bools that all are to hold, not {found}"
    help_text = "compare: `x == y`, or `near(x, y)` for floats"

    statement: str
    found: str

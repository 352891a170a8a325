"""P0775: what goes wrong where a module meets its host program."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class HeaderNameTaken(Problem):
    code = "P0775"
    title = "two things in a header have one name"
    message = "the header would declare `{name}` twice: for {what}, and for {other}"
    label = "`{name}` is made from this kernel's name"
    help_text = "rename a kernel or a parameter"

    name: str
    what: str
    other: str

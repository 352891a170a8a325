"""P02xx: names."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity


class UnknownName(Problem):
    code = "P0201"
    title = "unknown name"
    message = "nothing here is called `{name}`"
    help_text = "{advice}"

    name: str
    advice: str


class ScopeEnded(Problem):
    code = "P0383"
    title = "a name of a block that has ended"
    message = "`{name}` was declared in a block that has ended"
    label = "not known here"
    help_text = "{advice}"

    name: str
    advice: str


class OtherSide(Problem):
    code = "P0382"
    title = "a built-in function of the other side: device code or test"
    message = "`{name}` is for {whose}"
    label = "{here}"
    help_text = "{advice}"

    name: str
    whose: str
    here: str
    advice: str


class DuplicateName(Problem):
    code = "P0202"
    title = "a name declared twice"
    message = "`{name}` is declared twice in one scope"
    help_text = "rename one of the two"

    name: str


class UsedBeforeDeclared(Problem):
    code = "P0203"
    title = "used before its declaration"
    message = "`{name}` is declared only after this line"
    help_text = "move the declaration of `{name}` up"

    name: str


class HidesVariable(Problem):
    code = "P0204"
    title = "a declaration that hides a variable"
    severity = Severity.WARNING
    message = "this declares a second `{name}`, which hides the one outside"
    help_text = "write `{name} = ..` to assign the outer one, or rename this one"

    name: str


class PrivateName(Problem):
    code = "P0205"
    title = "a private name of another module"
    message = "`{name}` is private to module `{module}`"
    help_text = "use a public name of `{module}`, or drop the leading `_` there"

    name: str
    module: str


class NotInModule(Problem):
    code = "P0206"
    title = "a name that a module does not have"
    message = "module `{module}` has no `{name}`"
    help_text = "{advice}"

    name: str
    module: str
    advice: str


class UnknownDefine(Problem):
    code = "P0207"
    title = "`-D` for a constant that is not there"
    message = "`-D {name}=..` names no constant of this file"
    help_text = "{advice}"

    name: str
    advice: str

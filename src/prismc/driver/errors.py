"""P075x: what goes wrong around a compilation: files that cannot be read or written, size."""

from __future__ import annotations

from typing import ClassVar

from prismc.diagnostics.problem import Problem, Severity


class FileUnreadable(Problem):
    code = "P0751"
    title = "a file cannot be read"
    message = "`{path}` cannot be read: {reason}"
    help_text = (
        "name an existing file that you may read, or `-` for standard input; "
        "`check`, `fmt` and `test` take folders too"
    )
    is_environment: ClassVar[bool] = True

    path: str
    reason: str


class NoPrismFiles(Problem):
    code = "P0752"
    title = "a folder holds no Prism files"
    message = "there is no `.prism` file in `{path}` or below it"
    help_text = "name a folder that holds `.prism` files"
    is_environment: ClassVar[bool] = True

    path: str


class NotText(Problem):
    code = "P0753"
    title = "a source file is not UTF-8"
    message = "`{path}` is {reason}"
    label = "the text before this place is UTF-8"
    help_text = "save the file as UTF-8"

    path: str
    reason: str


class TooLarge(Problem):
    code = "P0754"
    title = "a program is too large for the compiler"
    message = "this program is nested too deeply or is too large to compile: {what}"
    help_text = "split the expression or the function at its deepest nesting"

    what: str


class CannotWrite(Problem):
    code = "P0755"
    title = "an output cannot be written"
    message = "`{path}` cannot be written: {reason}"
    help_text = "{remedy}"
    is_environment: ClassVar[bool] = True

    path: str
    reason: str
    remedy: str = "name an output that you may write, or make this one writable"


class NoSuchOperation(Problem):
    code = "P0756"
    title = "the plan has no such operation"
    message = "`--drop-sync {number}`: operations of this program's plan: {count}, counted from 0"
    help_text = "take a number that `prismc dump --after plan` shows"
    is_environment: ClassVar[bool] = True

    number: int
    count: int


class NothingToLaunch(Problem):
    code = "P0757"
    title = "a build without kernels"
    severity = Severity.WARNING
    message = "this file has no kernel: the output holds nothing to launch"
    help_text = "write a `kernel`, or `export` one; a generic kernel needs its arguments there"


class ToolUnusable(Problem):
    code = "P0776"
    title = "a tool for this kind of output cannot be used"
    message = "{reason}"
    help_text = "{remedy}"
    is_environment: ClassVar[bool] = True

    reason: str
    remedy: str


class OutputsClash(Problem):
    code = "P0765"
    title = "two files would build the same output"
    message = "`{first}` and `{second}` would both build `{path}`"
    help_text = "rename one of the files, or build them into different folders"
    is_environment: ClassVar[bool] = True

    first: str
    second: str
    path: str

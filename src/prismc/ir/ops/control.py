"""Structured control flow.

`yield` ends a region normally. `break`, `continue` and `return` may end any region nested in the
loop (the function) that they leave; a region whose code cannot be reached at its end closes with
`unreachable`, as after an `if` both of whose regions leave.
"""

from __future__ import annotations

from prismc.ir.core import Op, Region, Value


class If(Op):
    """Runs one region. The results are what the region that ran yields."""

    spelling = "if"
    condition: Value
    then: Region
    otherwise: Region


class For(Op):
    """Counts from `start` in steps of `step` while below `stop`, or while above it if `downward`.

    The body's arguments are the counter and one for each of `initial`; `yield` and `continue`
    carry the next iteration's, `break` the results. The results of a normal end are the last
    values.
    """

    spelling = "for"
    start: Value
    stop: Value
    step: Value
    initial: tuple[Value, ...]
    downward: bool
    unroll: bool
    body: Region


class While(Op):
    """The arguments of both regions stand for `initial`, then for what `body` yields.

    `condition` yields one bool and defines nothing that `body` sees. Results and exits are those
    of `For`.
    """

    spelling = "while"
    initial: tuple[Value, ...]
    condition: Region
    body: Region


class Yield(Op):
    """The normal end of a region."""

    spelling = "yield"
    is_terminator = True
    values: tuple[Value, ...]


class Break(Op):
    """Leaves the innermost loop with its results."""

    spelling = "break"
    is_terminator = True
    values: tuple[Value, ...]


class Continue(Op):
    """The next iteration of the innermost loop, with its arguments (without the counter)."""

    spelling = "continue"
    is_terminator = True
    values: tuple[Value, ...]


class Return(Op):
    """Leaves the function with its results."""

    spelling = "return"
    is_terminator = True
    values: tuple[Value, ...]


class Unreachable(Op):
    """The end of a region that always leaves earlier."""

    spelling = "unreachable"
    is_terminator = True


class Call(Op):
    """A call of another function of the module; arrays are passed by reference."""

    spelling = "call"
    arguments: tuple[Value, ...]
    callee: str

"""Problems of what is known while compiling."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class NotConstant(Problem):
    code = "P0310"
    title = "not known while compiling"
    message = "{what} must be a compile-time constant, and {name} is not"
    label = "{reason}"
    help_text = "{advice}"

    what: str
    name: str
    reason: str
    advice: str = "use a `const`, a generic parameter or a literal"


class ConstantDivisionByZero(Problem):
    code = "P0311"
    title = "division by the constant zero"
    message = "`{operator}` by zero"
    help_text = "divide by something else, or guard it with `static if`"

    operator: str


class ShiftOutOfRange(Problem):
    code = "P0312"
    title = "a shift by more than the type has bits"
    message = "{type} has {bits} bits, so it cannot be shifted by {amount}"
    help_text = "shift by 0 to {last}, or convert to a wider type first"

    type: str
    bits: int
    last: int
    amount: int


class StaticAssertFailed(Problem):
    code = "P0313"
    title = "a static assertion that does not hold"
    message = "static assertion: {text}"
    help_text = "change the constants so that it holds"

    text: str


class ConstantNeedsItself(Problem):
    code = "P0314"
    title = "a constant that needs itself"
    message = "this constant needs itself: {cycle}"
    help_text = "give one of them a value of its own"

    cycle: str


class BadDefine(Problem):
    code = "P0315"
    title = "`-D` with a value of another type"
    message = "`-D {name}={text}`: `{name}` is a constant of type {type}"
    help_text = "give a value of type {type}"

    name: str
    text: str
    type: str


class TooManyExpansions(Problem):
    code = "P0316"
    title = "too many static iterations"
    message = "this function expands to more than {limit} statements"
    help_text = "use `unroll for`, or an ordinary `for`"

    limit: int


class ZeroStep(Problem):
    code = "P0317"
    title = "a range with step 0"
    message = "the step of this range is 0: it would never end"
    help_text = "step by 1 or more, or by -1 or less"


class CounterLeavesType(Problem):
    code = "P0376"
    title = "a loop counter that passes the end of its type"
    message = "after {last} the counter of this range passes the end of {type}"
    label = "the next value would be {following}"
    help_text = "count in a wider type, or let the range end earlier"

    last: int
    following: int
    type: str


class IndexOutOfRange(Problem):
    code = "P0318"
    title = "a constant index out of range"
    message = "index {index} is outside of 0 to {last}"
    help_text = "use an index below {length}"

    index: int
    length: int
    last: int


class SlotNeedsConstant(Problem):
    code = "P0332"
    title = "slots are chosen while compiling"
    message = "`{name}` has {slots} slots and stands only as `{name}[c]`: {reason}"
    help_text = "use a constant slot (`static for`), or one flat array"

    name: str
    slots: int
    reason: str

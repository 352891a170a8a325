"""P04xx: whose behaviour a line is, and how often a value varies."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem
from prismc.hardware.groups import Perspective


class GroupBroadens(Problem):
    code = "P0401"
    title = "`group` cannot broaden"
    message = "cannot broaden from {code_perspective} to {to}"
    label = "a group only ever narrows"
    help_text = (
        "close the narrower construct first, or group to something within {code_perspective}"
    )

    code_perspective: Perspective
    to: Perspective


class GroupDoesNotDivide(Problem):
    code = "P0402"
    title = "group size does not divide what is there"
    message = "{size} does not divide the {entry} {level} units available here"
    label = "needs a divisor of {entry}"
    help_text = "use a size that divides {entry}, or ask for more in `@requires`"

    size: int
    entry: int
    level: str


class SplitTooLarge(Problem):
    code = "P0403"
    title = "the arms ask for more units than there are"
    message = "the arms ask for {asked} {level} units, {available} are available"
    label = "{asked} units in all"
    help_text = "make the arms smaller, or ask for more units in `@requires`"

    asked: int
    available: int
    level: str


class ArmMisaligned(Problem):
    code = "P0404"
    title = "a split arm is not aligned"
    message = "an arm of {size} cannot start {offset} units in: {reason}"
    label = "{size} does not divide {alignment}"
    help_text = "{advice}"

    size: int
    offset: int
    alignment: int
    reason: str
    advice: str


class WriteDown(Problem):
    code = "P0405"
    title = "a value that varies more often than what it is written to"
    message = "{what} must be one value for each {target}, but this varies per {varies}"
    label = "varies per {varies}"
    help_text = "{advice}"

    what: str
    target: Perspective
    varies: Perspective
    advice: str


class WriteScope(Problem):
    code = "P0406"
    title = "written by code that is narrower than the variable"
    message = (
        "`{name}` belongs to a whole {variable_perspective}, but here each "
        "{code_perspective} runs on its own"
    )
    label = "only part of each {variable_perspective} would see this"
    help_text = (
        "assign it outside, in {variable_perspective} code, or declare it `@ {code_perspective}`"
    )

    name: str
    variable_perspective: Perspective
    code_perspective: Perspective


class DeclaredBroader(Problem):
    code = "P0407"
    title = "declared broader than the code"
    message = "`{name} @ {stated}` is broader than the code perspective {code_perspective}"
    label = "this code speaks for one {code_perspective}"
    help_text = "declare it where the code is {stated}, or as `@ {code_perspective}`"

    name: str
    stated: Perspective
    code_perspective: Perspective


class DeclaredDoesNotDivide(Problem):
    code = "P0408"
    title = "a perspective that does not divide what is there"
    message = "`{name} @ {stated}`: {size} does not divide the {entry} {level} units available here"
    label = "needs a divisor of {entry}"
    help_text = "use a size that divides {entry}, or ask for more in `@requires`"

    name: str
    stated: Perspective
    size: int
    entry: int
    level: str


class Divergence(Problem):
    code = "P0409"
    title = "control flow that would split the group"
    message = (
        "this {construct} must be the same in a whole {code_perspective}, but it "
        "varies per {varies}"
    )
    label = "varies per {varies}"
    help_text = "{advice}"

    construct: str
    code_perspective: Perspective
    varies: Perspective
    advice: str


class ExitCrosses(Problem):
    code = "P0410"
    title = "an exit that crosses a perspective"
    message = "this `{exit}` leaves the {outer} {leaves} from inside {crossed}"
    label = "{why}"
    help_text = "use an `if` around the rest of the body, or decide in {outer} code"

    exit: str
    why: str
    outer: Perspective
    leaves: str
    crossed: str


class IndexWithoutDestination(Problem):
    code = "P0411"
    title = "`id()` without a destination"
    message = "bare `id()` stands only in a declaration or assignment that states what it counts"
    label = "which unit's index?"
    help_text = "{advice}"

    advice: str


class NoSuchUnit(Problem):
    code = "P0412"
    title = "an index or a count of units that are not there"
    message = "`{function}({of})` in {code_perspective} code: {reason}"
    label = "{reason}"
    help_text = "{advice}"

    function: str
    of: Perspective
    code_perspective: Perspective
    reason: str
    advice: str


class StoreTooBroad(Problem):
    code = "P0420"
    title = "a store through a pointer that many threads share"
    message = "element stores need a thread[1] pointer; `{name}` is {pointer_perspective}"
    label = "every thread of the {pointer_perspective} would store here"
    help_text = (
        "partition it first (`partition {name} as part @ thread[1] at ..:`) or "
        "`claim` it for one thread"
    )

    name: str
    pointer_perspective: Perspective


class StoreVaries(Problem):
    code = "P0421"
    title = "an index that varies more often than the array"
    message = (
        "`{name}` is one array for each {array_perspective}, but the index varies per {varies}"
    )
    label = "varies per {varies}"
    help_text = (
        "index with values that are at least {array_perspective}, or declare the array `@ {varies}`"
    )

    name: str
    array_perspective: Perspective
    varies: Perspective


class UnsettledLoad(Problem):
    code = "P0422"
    title = "one value for a group, from memory that others may be writing"
    message = (
        "`{name}` is written by this kernel, so threads that read at different "
        "times may see different values"
    )
    label = "must be one value for each {target}"
    help_text = "{advice}"

    name: str
    target: Perspective
    advice: str


class CallBound(Problem):
    code = "P0423"
    title = "a function called by too few threads"
    message = "`{callee}` requires {needs}, the caller offers {offers}"
    label = "called from {code_perspective} code"
    help_text = "{advice}"

    callee: str
    needs: str
    offers: str
    code_perspective: Perspective
    advice: str


class ArgumentVaries(Problem):
    code = "P0424"
    title = "an argument that varies more often than the parameter"
    message = (
        "argument `{parameter}` of `{callee}` must be one value for each {target}, "
        "but this varies per {varies}"
    )
    label = "varies per {varies}"
    help_text = "pass a value that is at least {target}, or declare the parameter `@ {varies}`"

    parameter: str
    callee: str
    target: Perspective
    varies: Perspective


class ArgumentPointer(Problem):
    code = "P0425"
    title = "a pointer of another perspective than the parameter"
    message = "parameter `{parameter}` of `{callee}` is {target}, this {what} is {given}"
    label = "{given}"
    help_text = "{advice}"

    parameter: str
    callee: str
    what: str
    target: Perspective
    given: Perspective
    advice: str


class ArgumentsAlias(Problem):
    code = "P0426"
    title = "one memory passed twice"
    message = (
        "both `{first}` and `{second}` of `{callee}` have root `{root}`, and "
        "`{writer}` is not const"
    )
    label = "the same memory as `{first}`"
    help_text = "pass different memory, or make both parameters `ptr(const ..)`"

    first: str
    second: str
    callee: str
    root: str
    writer: str


class LazyCollective(Problem):
    code = "P0427"
    title = "a collective call that only some threads would make"
    message = "`{callee}` needs a whole {needs}, but whether it is called here varies per {varies}"
    label = "evaluated only when the left side asks for it"
    help_text = "call it first, store the result, and use that"

    callee: str
    needs: Perspective
    varies: Perspective


class PointerAssignment(Problem):
    code = "P0428"
    title = "a pointer of another perspective"
    message = "`{name}` is a {target} pointer, this one is {given}"
    label = "{given}"
    help_text = "assign pointers of equal perspective; `partition` narrows one"

    name: str
    target: Perspective
    given: Perspective


class ScopeTooNarrow(Problem):
    code = "P0429"
    title = "an atomic scope narrower than the pointer"
    message = (
        "`{callee}` is atomic among the threads of {scope}, and this pointer is {given}: "
        "others may touch the element at the same time"
    )
    label = "{given}"
    help_text = "pass {given} as the scope, or narrow the pointer with `partition`"

    callee: str
    scope: Perspective
    given: Perspective


class ConditionalScope(Problem):
    code = "P0430"
    title = "an asynchronous scope under a condition"
    message = "{what} starts asynchronous copies, and runs only under a condition"
    label = "not on every path"
    help_text = "{advice}"

    what: str
    advice: str


class WideBroadcast(Problem):
    code = "P0441"
    title = "a broadcast beyond a warp"
    message = "`broadcast` reaches 2, 4, 8, 16 or 32 threads, not {to}"
    label = "to {to}"
    help_text = "use `first_of(..)` of `std.block`, which goes through shared memory"

    to: Perspective


class UndeclaredEffect(Problem):
    code = "P0440"
    title = "an effect that is not declared"
    message = "`{name}` {done}, and the declared effects leave it out"
    label = "nothing would be ordered with this"
    help_text = "add {effect} to `@effects`"

    done: str
    name: str
    effect: str

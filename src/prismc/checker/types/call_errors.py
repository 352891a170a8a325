"""P0345 on: calls, generic arguments, what happens on every path, declarations and attributes."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity
from prismc.hardware.groups import Perspective

# ----------------------------------------------------------------------- calls


class NotCallable(Problem):
    code = "P0345"
    title = "not a function"
    message = "{what} cannot be called"
    help_text = "{advice}"

    what: str
    advice: str


class WrongArgumentCount(Problem):
    code = "P0346"
    title = "a wrong number of arguments"
    message = "`{callee}` takes {wanted}, this passes {given}"
    help_text = "pass one argument for each parameter{parameters}"

    callee: str
    wanted: str
    given: int
    parameters: str = ""


class NamedArgumentHere(Problem):
    code = "P0347"
    title = "a named argument in a call"
    message = "arguments of a call have no names"
    help_text = "pass it by position; generic arguments may be named: `f[N = 4](..)`"


class BadArgument(Problem):
    code = "P0348"
    title = "an argument that a built-in does not take"
    message = "`{function}`: {reason}"
    help_text = "{advice}"

    function: str
    reason: str
    advice: str


class NoSingleValue(Problem):
    code = "P0349"
    title = "a call without exactly one result"
    message = "`{callee}` has {count} results, this needs one"
    help_text = "call it on a line of its own, or take all results: `a, b := f(..)`"

    callee: str
    count: int


class UnusedValue(Problem):
    code = "P0350"
    title = "a line that does nothing"
    message = "this value is not used"
    help_text = "assign it, or remove the line"


class Recursion(Problem):
    code = "P0351"
    title = "recursion"
    message = "recursion: {cycle}"
    label = "this call closes the circle"
    help_text = "write it as a loop"

    cycle: str


class EndlessSpecialisation(Problem):
    code = "P0352"
    title = "specialisation without an end"
    message = "`{name}` asks for itself with other generic arguments, {depth} deep so far"
    help_text = "end it with `static if`"

    name: str
    depth: int


class CannotInfer(Problem):
    code = "P0353"
    title = "a generic argument that nothing determines"
    message = "`{name}` of `{function}` does not follow from the arguments"
    help_text = "give it: {advice}"

    name: str
    function: str
    advice: str


class BadGenericArgument(Problem):
    code = "P0354"
    title = "a generic argument that does not fit"
    message = "{reason}"
    help_text = "{advice}"

    reason: str
    advice: str


class BadGenericKind(Problem):
    code = "P0355"
    title = "an unknown kind of generic"
    message = "`{name}` has no kind of generic"
    help_text = "write `type`, `int`, `bool`, `perspective`, `order` or `fn(..) -> ..`"

    name: str


class ForbiddenInExpressionFunction(Problem):
    code = "P0356"
    title = "not in an expression function"
    message = "{what} cannot stand in the expression function `{function}`"
    help_text = "write `@requires(..)` above `{function}` to make it a device function"

    what: str
    function: str


class NeedsUnsafe(Problem):
    code = "P0357"
    title = "only in `unsafe`"
    message = "{what} is only allowed in `unsafe`"
    help_text = "write it inside `unsafe:`, or in an `unsafe def` that declares its effects"

    what: str


class BadAsm(Problem):
    code = "P0358"
    title = "assembly that is put together wrongly"
    message = "{reason}"
    help_text = "{advice}"

    reason: str
    advice: str


class NotAPartition(Problem):
    code = "P0359"
    title = "`disjoint` of something else than a partition"
    message = "`disjoint(..)` takes the name that a `partition` gives, or a kernel's tensor map"
    help_text = "name what has pieces that never meet: `assume(disjoint(y))`"


# ----------------------------------------------------------------------- paths


class MissingReturn(Problem):
    code = "P0360"
    title = "a path without a return"
    message = "`{name}` does not return a value on every path"
    help_text = "end every path with `return ..`"

    name: str


class BadReturn(Problem):
    code = "P0361"
    title = "a return that does not fit the results"
    message = "`{function}` has {wanted}, this returns {given}"
    help_text = "{advice}"

    function: str
    wanted: str
    given: int
    advice: str


class Unreachable(Problem):
    code = "P0362"
    title = "code that is never reached"
    severity = Severity.WARNING
    message = "this is never reached"
    help_text = "remove it"


class ExitOutsideLoop(Problem):
    code = "P0363"
    title = "an exit without a loop"
    message = "`{keyword}` stands in no loop"
    help_text = "use `if`; a `static for` is expanded, so there is nothing to leave"

    keyword: str


class PointerEscapes(Problem):
    code = "P0364"
    title = "a returned pointer to memory that ends"
    message = "this returns a pointer to the shared array `{name}`, which ends with the function"
    help_text = "let the caller declare the array and pass it as a parameter"

    name: str


class CallInCheck(Problem):
    code = "P0369"
    title = "a call that a check cannot make"
    message = "`{construct}` cannot call `{callee}`: it is compiled out unless it is asked for"
    label = "this would not happen"
    help_text = "call it before, keep the result in a variable, and name that here"

    construct: str
    callee: str


class NoAlignment(Problem):
    code = "P0394"
    title = "a number of bytes that is no alignment"
    message = "nothing is aligned to {bytes} bytes"
    help_text = "use a power of two up to 65536"

    bytes: int


# ----------------------------------------------------------------------- declarations


class UnknownAttribute(Problem):
    code = "P0370"
    title = "an unknown attribute"
    message = "there is no attribute `@{name}`"
    help_text = "{advice}"

    name: str
    advice: str


class BadAttribute(Problem):
    code = "P0371"
    title = "an attribute that does not fit"
    message = "`@{attribute}`: {reason}"
    help_text = "{advice}"

    attribute: str
    reason: str
    advice: str


class BadRequires(Problem):
    code = "P0372"
    title = "a bound that makes no sense"
    message = "`@requires`: {reason}"
    help_text = "{advice}"

    reason: str
    advice: str


class BadLaunchThreads(Problem):
    code = "P0373"
    title = "a block of an impossible size"
    message = "{threads} threads a block: {reason}"
    help_text = "choose a multiple of the bound's thread entry, up to 1024"

    threads: int
    reason: str


class BadCluster(Problem):
    code = "P0431"
    title = "a cluster of an impossible size"
    message = "clusters of {blocks}: {reason}"
    help_text = "{advice}"

    blocks: str
    reason: str
    advice: str


class NarrowKernelPointer(Problem):
    code = "P0375"
    title = "a kernel's pointer that is not the grid's"
    message = "`{name}` is one pointer for the whole grid, not one for each {perspective}"
    help_text = "leave the perspective out, and give each its part with `partition`"

    name: str
    perspective: Perspective


class ExportsKernel(Problem):
    code = "P0374"
    title = "an export of something else than a kernel"
    message = "`{name}` is no kernel"
    help_text = "export a kernel; device functions are inlined into kernels"

    name: str

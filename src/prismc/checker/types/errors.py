"""P03xx: types, constants, calls, and what else a line means without asking whose it is."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity
from prismc.hardware.groups import Perspective

# ----------------------------------------------------------------------- types meet


class TypeMismatch(Problem):
    code = "P0301"
    title = "a value of another type"
    message = "this needs {expected}, and gets {found}"
    label = "{found}"
    help_text = "{advice}"

    expected: str
    found: str
    advice: str


class OperandsDiffer(Problem):
    code = "P0302"
    title = "operands of two types"
    message = "`{operator}` has {left} on its left and {right} on its right"
    label = "nothing is converted silently"
    help_text = "{advice}"

    operator: str
    left: str
    right: str
    advice: str


class OperatorNotForType(Problem):
    code = "P0303"
    title = "an operator that a type does not have"
    message = "`{operator}` does not work on {type}"
    help_text = "{advice}"

    operator: str
    type: str
    advice: str


class LiteralDoesNotFit(Problem):
    code = "P0304"
    title = "a literal that does not fit its type"
    message = "{value} does not fit {type}"
    help_text = "use a wider type, or convert explicitly to wrap around"

    value: str
    type: str


class ConditionNotBool(Problem):
    code = "P0305"
    title = "a condition that is no bool"
    message = "{construct} needs a bool, and gets {found}"
    label = "{found}"
    help_text = "write the comparison: `.. != 0`"

    construct: str
    found: str


class NotAnInteger(Problem):
    code = "P0306"
    title = "an index that is no integer"
    message = "{what} is an integer, not {found}"
    label = "{found}"
    help_text = "convert it: `int(..)`"

    what: str
    found: str


class CannotConvert(Problem):
    code = "P0307"
    title = "a conversion that does not exist"
    message = "{found} cannot be converted to {target}"
    help_text = "convert scalars one by one"

    found: str
    target: str


class WholeArray(Problem):
    code = "P0308"
    title = "an array used as one value"
    message = "a register array is not copied as a whole"
    help_text = "copy its elements in a `static for`, or fill it with one scalar"


# ----------------------------------------------------------------------- constants


class NotConstant(Problem):
    code = "P0310"
    title = "not known while compiling"
    message = "{what} must be a compile-time constant, and {name} is not"
    label = "known only at run time"
    help_text = "use a `const`, a generic parameter or a literal"

    what: str
    name: str


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
    help_text = "shift by 0 to {bits} - 1, or convert to a wider type first"

    type: str
    bits: int
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
    message = "{count} more iterations pass the limit of {limit} that one function expands to"
    help_text = "use `unroll for`, or an ordinary `for`"

    count: int
    limit: int


class ZeroStep(Problem):
    code = "P0317"
    title = "a range with step 0"
    message = "the step of this range is 0: it would never end"
    help_text = "step by 1 or more, or by -1 or less"


class IndexOutOfRange(Problem):
    code = "P0318"
    title = "a constant index out of range"
    message = "index {index} is outside of 0 to {length} - 1"
    help_text = "use an index below {length}"

    index: int
    length: int


# ----------------------------------------------------------------------- what names stand for


class NotAType(Problem):
    code = "P0320"
    title = "not a type"
    message = "{what} is no type"
    help_text = "write a scalar type, `ptr(..)`, `vec(..)` or an array type"

    what: str


class NotAValue(Problem):
    code = "P0321"
    title = "not a value"
    message = "{what} is no value"
    help_text = "a variable, a constant, a literal or a call stands here"

    what: str


class NotAPerspective(Problem):
    code = "P0322"
    title = "not a perspective"
    message = "`{name}` is no perspective"
    help_text = "write `level[n]`, or the name of a generic `perspective`"

    name: str


class BadPerspectiveSize(Problem):
    code = "P0323"
    title = "a perspective's size that is not possible"
    message = "`{level}[{size}]`: the size is {limit}"
    help_text = "name how many units the perspective has"

    level: str
    size: int
    limit: str


class BadUnits(Problem):
    code = "P0324"
    title = "units that cannot be split"
    message = "`{keyword}` does not take `{level}`"
    help_text = "split `thread`, `warp`, `warpgroup` or `block` units, 1 or more in each arm"

    keyword: str
    level: str


class TypeNotAllowed(Problem):
    code = "P0325"
    title = "a type that cannot stand here"
    message = "{type} cannot stand {where}"
    help_text = 'see `docs/language.md`, "Types", for where each type may stand'

    type: str
    where: str


class BadArrayLength(Problem):
    code = "P0326"
    title = "an array length that is not possible"
    message = "an array of {length} elements is not possible"
    help_text = "give it 1 element or more"

    length: int


class BadVector(Problem):
    code = "P0327"
    title = "a vector that is no single access"
    message = "a vector of {lanes} {element} is {size} bytes"
    label = "2, 4, 8 or 16 elements, at most 16 bytes"
    help_text = "use a vector that one memory access moves"

    lanes: int
    element: str
    size: int


class UnknownMember(Problem):
    code = "P0328"
    title = "a component that is not there"
    message = "{type} has no `.{name}`"
    help_text = "{advice}"

    name: str
    type: str
    advice: str


class NotIndexable(Problem):
    code = "P0329"
    title = "not an array, not a pointer"
    message = "{type} has no elements"
    help_text = "index an array or a pointer"

    type: str


class WrongIndexCount(Problem):
    code = "P0330"
    title = "a wrong number of indices"
    message = "{given} indices do not fit here"
    help_text = "{advice}"

    given: int
    advice: str


class NotAPointer(Problem):
    code = "P0331"
    title = "not a pointer"
    message = "{where} takes a pointer or a shared array, and gets {found}"
    label = "{found}"
    help_text = "registers belong to one thread already: index the array itself"

    where: str
    found: str


class SlotNeedsConstant(Problem):
    code = "P0332"
    title = "slots are chosen while compiling"
    message = "`{name}` has {slots} slots and stands only as `{name}[c]`: {reason}"
    help_text = "use a constant slot (`static for`), or one flat array"

    name: str
    slots: int
    reason: str


# ----------------------------------------------------------------------- assignments


class LoopVariableReadOnly(Problem):
    code = "P0335"
    title = "a loop variable is read-only"
    message = "`{name}` is a loop variable and cannot be assigned"
    help_text = "use a variable of your own, or a `while` loop"

    name: str


class StoreThroughConst(Problem):
    code = "P0336"
    title = "a store through const"
    message = "`{name}` {what}: it is only read"
    help_text = "drop the `const` where `{name}` is declared, or store elsewhere"

    name: str
    what: str


class CannotAssign(Problem):
    code = "P0337"
    title = "cannot be assigned"
    message = "{what} cannot be assigned"
    help_text = "{advice}"

    what: str
    advice: str


class AtomicAccess(Problem):
    code = "P0338"
    title = "a plain access to atomic memory"
    message = "`{name}` is a `ptr(atomic ..)`: its elements are not read or written plainly"
    help_text = "pass it to a function of `std.atomic`"

    name: str


class CountsDiffer(Problem):
    code = "P0339"
    title = "as many names as values"
    message = "{targets} targets for {values} {what}(s)"
    help_text = "write one target for each {what}"

    targets: int
    values: int
    what: str


class PointerWithoutValue(Problem):
    code = "P0340"
    title = "a pointer that points nowhere"
    message = "the pointer `{name}` is declared without a value"
    help_text = "write `= p`: what memory it stands for decides what is hidden and ordered"

    name: str


class ReadBeforeAssigned(Problem):
    code = "P0341"
    title = "read before every path assigned it"
    message = "`{name}` may be read here before it has a value"
    help_text = "give it a value where it is declared"

    name: str


class UnsetArray(Problem):
    code = "P0342"
    title = "a shared value without a first value"
    message = "the array `{name}` is {perspective} and has no first value"
    help_text = "fill it: `= 0`; an array broader than thread[1] starts with one value for all"

    name: str
    perspective: Perspective


class BadAlignment(Problem):
    code = "P0343"
    title = "an alignment that is not possible"
    message = "{alignment} is no alignment for this array"
    help_text = "use a power of two from {least} to 65536"

    alignment: int
    least: int


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
    message = "`{callee}` takes {wanted} argument(s), {given} are given"
    help_text = "pass one argument for each parameter"

    callee: str
    wanted: str
    given: int


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
    help_text = "give it: `{function}[{name} = ..](..)`"

    name: str
    function: str


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
    help_text = "write `type`, `int`, `bool`, `perspective` or `fn(..) -> ..`"

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
    message = "`{function}` has {wanted} result(s), this returns {given}"
    help_text = "return one value for each result that is declared"

    function: str
    wanted: int
    given: int


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


class ExportsKernel(Problem):
    code = "P0374"
    title = "an export of something else than a kernel"
    message = "`{name}` is no kernel"
    help_text = "export a kernel; device functions are inlined into kernels"

    name: str

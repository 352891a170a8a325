"""P03xx: types, names, assignments, and what else a line means without asking whose it is."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem
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
    help_text = "{advice}"

    value: str
    type: str
    advice: str = "use a wider type, or convert explicitly to wrap around"


class ConditionNotBool(Problem):
    code = "P0305"
    title = "a condition that is no bool"
    message = "{construct} needs a bool, and gets {found}"
    label = "{found}"
    help_text = "{advice}"

    construct: str
    found: str
    advice: str


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
    message = "{what} is no perspective"
    help_text = "write `level[n]`, or the name of a generic `perspective`"

    what: str


class NotAnOrder(Problem):
    code = "P0333"
    title = "not a memory order"
    message = "{what} is no memory order"
    help_text = "write `relaxed`, `acquire`, `release`, `acq_rel` or the name of a generic `order`"

    what: str


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
    help_text = "{advice}"

    type: str
    where: str
    advice: str


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
    help_text = "{advice}"

    name: str
    what: str
    advice: str


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


class AsyncAccess(Problem):
    code = "P0344"
    title = "a plain access to memory that copies are still filling"
    message = "`{name}` may only be passed to asynchronous data movement"
    label = "its copies complete later"
    help_text = "end the `async` scope first, then use the memory by the name it has outside"

    name: str


class FinishElsewhere(Problem):
    code = "P0379"
    title = "`finish` that is not a kernel's last statement"
    message = "`finish` is not the last statement of a kernel here"
    label = "every block has to come here, and nothing follows"
    help_text = "write it at the end of the kernel's body, outside of everything else"


class CountsDiffer(Problem):
    code = "P0339"
    title = "as many names as values"
    message = "{targets} for {values}"
    help_text = "write one target for each {what}"

    targets: str
    values: str
    what: str


class PointerWithoutValue(Problem):
    code = "P0340"
    title = "a pointer that points nowhere"
    message = "the pointer `{name}` is declared without a value"
    help_text = "write `{name}: ptr(..) = ..`; what memory it stands for decides what is hidden"

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

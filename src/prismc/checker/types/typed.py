"""The typed tree: what elaboration makes of a program, one copy of a function per instance.

Names are resolved to `Variable`s and `Instance`s, generic arguments are substituted, `static`
constructs are expanded, literals have the type they met, slots and shapes are gone. What is left to
judge is whose behaviour each line is: the passes after elaboration (perspectives, memory, sync)
keep their facts beside this tree, keyed by `id`, which is unique in a whole `Program`.

Each expression has its type. Perspectives of variables are settled here, since a declaration states
one or takes the code's; whether they may be used as they are is for the perspectives pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

from prismc.checker.types.model import Type
from prismc.checker.types.narrowing import NarrowKind
from prismc.checker.types.signature import Launch, Result
from prismc.diagnostics.problem import Related
from prismc.hardware.groups import Bound, Perspective
from prismc.hardware.swizzles import Swizzle
from prismc.source.record import Record
from prismc.source.span import Span

if TYPE_CHECKING:
    from prismc.checker.types.effects import Effects
    from prismc.checker.types.turns import Turns

# --------------------------------------------------------------------------- variables


class VariableKind(Enum):
    """Where a variable comes from."""

    PARAMETER = "parameter"
    LOCAL = "local"
    LOOP = "loop variable"
    SHARED = "shared array"
    PARTITION = "partition"
    CLAIM = "claim"
    ASYNC = "async name"
    RING = "ring"


class Variable(Record):
    """One variable of one instance; identity is its name.

    `perspective` is the stated one, or the code perspective where it was declared (parameters: the
    function's top unless stated). `bound` is the code's bound at the declaration. `is_const` holds
    for array parameters that are only read. `slots` is 0 for an ordinary variable; a shared array
    of n slots has `slots` n and the type of one slot. `alignment` (bytes) is stated for shared
    arrays, `layout` the instance that maps its indices, if any, which keeps `run` aligned elements
    side by side.
    """

    id: int
    name: str
    type: Type
    kind: VariableKind
    perspective: Perspective
    is_stated: bool
    bound: Bound
    span: Span
    is_const: bool = False
    slots: int = 0
    alignment: int = 0
    layout: Instance | None = None
    run: int = 1


# --------------------------------------------------------------------------- expressions


class Typed(Record):
    """Base of everything with an `id`, unique in the program, and a place in the source."""

    id: int
    span: Span


class Expression(Typed):
    type: Type


class Constant(Expression):
    """A value known now: int, float or bool, already of its type."""

    value: int | float | bool


class Refused(Expression):
    """Where an expression was refused: its type is ERROR, it varies with nothing."""


class Read(Expression):
    """The value of a variable; for an array or a pointer, the array or pointer itself.

    A shared array is read as a pointer to its elements.
    """

    variable: Variable


class Slot(Expression):
    """One slot of a slotted shared array, as a pointer."""

    variable: Variable
    index: int


class Unary(Expression):
    """`-`, `~` or `not`."""

    operator: str
    operand: Expression


class Binary(Expression):
    """Arithmetic, bit operations and comparisons; both sides have one type (shifts: their own)."""

    operator: str
    left: Expression
    right: Expression


class Logical(Expression):
    """`and` and `or`: the right side is evaluated only when the left one does not decide."""

    operator: str
    left: Expression
    right: Expression


class Conditional(Expression):
    """`value if condition else otherwise`: only the chosen side is evaluated.

    With `is_guard` the condition is that an iteration of a pipeline exists, and all that uses the
    result stands under it as well.
    """

    value: Expression
    condition: Expression
    otherwise: Expression
    is_guard: bool = False


class Convert(Expression):
    """`f32(x)`: a conversion by value."""

    operand: Expression


class Bits(Expression):
    """`bits(x)`: the same bits as an unsigned integer, or back to the type that is asked for."""

    operand: Expression


class Element(Expression):
    """An element or a sub-array of a register array."""

    array: Expression
    index: Expression


class Component(Expression):
    """`.x .y .z .w` of a vector, lanes from 0."""

    vector: Expression
    lane: int


class MakeVector(Expression):
    """`vec2(a, b)`, `vec4(..)`."""

    elements: tuple[Expression, ...]


class Load(Expression):
    """`p[i]`: one element of memory. A vector type loads that many elements from element i on."""

    pointer: Expression
    index: Expression


class Builtin(Expression):
    """A function of the language itself: `min max abs clamp select popc clz ctz completion ..`."""

    name: str
    arguments: tuple[Expression, ...]


class Broadcast(Expression):
    """`broadcast(e)`: the value that the first thread of `to` has, in all of them."""

    operand: Expression
    to: Perspective


class UnitIndex(Expression):
    """`id()`: which unit of perspective `of` this is inside the code perspective `within`.

    `of` is None for a bare `id()` that has no destination: the perspectives pass refuses it.
    """

    of: Perspective | None
    within: Perspective


class UnitCount(Expression):
    """`count(of)` where it is not a constant: units in the whole grid."""

    of: Perspective
    within: Perspective


class Address(Expression):
    """`shared_address(p, i)`, `address(p, i)`, for `asm` operands; `address(m)` of a tensor map has
    the kind `map_address`."""

    kind: str
    pointer: Expression
    index: Expression | None


class Descriptor(Expression):
    """`descriptor(p, i)`: a matrix in shared memory (PTX ISA, "Matrix Descriptor Format"). A
    `swizzle` is applied by the hardware, not to the index; `leading` and `stride` are in bytes."""

    pointer: Expression
    index: Expression
    swizzle: Swizzle
    leading: int
    stride: int


class Call(Expression):
    """A call. `type` is the result's, `VoidType` without, and of the first result with several;
    `bound` is the code's bound at the call."""

    callee: Instance
    arguments: tuple[Expression, ...]
    bound: Bound


# --------------------------------------------------------------------------- places


class Place(Typed):
    """Something that an assignment writes."""

    type: Type


class VariablePlace(Place):
    variable: Variable


class ElementPlace(Place):
    """An element of a register array, or a whole sub-array (which is then filled)."""

    array: Expression
    index: Expression


class ComponentPlace(Place):
    """A component of a vector variable or of an array's vector element."""

    vector: Place
    lane: int


class MemoryPlace(Place):
    """`p[i]`: shared or global memory. A vector type stores from element i on."""

    pointer: Expression
    index: Expression


# --------------------------------------------------------------------------- statements


class Statement(Typed):
    pass


class Declare(Statement):
    """A new local; value None for one that is assigned later. An array with a scalar value is
    filled with it."""

    variable: Variable
    value: Expression | None


class DeclareSeveral(Statement):
    """One variable for each result of a call."""

    variables: tuple[Variable, ...]
    call: Call


class DeclareShared(Statement):
    """A shared array; it lives until the end of the enclosing body."""

    variable: Variable


class Assign(Statement):
    """`place = value`, or `place = place operator value` with the place evaluated once.

    An array place with a scalar value is filled.
    """

    place: Place
    operator: str
    value: Expression


class AssignSeveral(Statement):
    """`x, y = y, x`."""

    places: tuple[Place, ...]
    values: tuple[Expression, ...]


class LoadInto(Statement):
    """`load_into[n](a, i, p, j)`: elements j.. of memory into elements i.. of a register array."""

    array: Expression
    first: Expression
    pointer: Expression
    index: Expression
    lanes: int


class Evaluate(Statement):
    """A call for what it does."""

    call: Call


class Block(Statement):
    """Statements with a scope of their own: one expansion of `static for`, a taken `static if`.

    `is_refused` holds for the body of a construct whose perspective was refused: nobody knows whose
    code it is.
    """

    body: tuple[Statement, ...]
    is_refused: bool = False


class If(Statement):
    """With `is_guard` the condition is that an iteration of a pipeline exists; with `is_iteration`
    what fills a slot and what waits for it run both or not at all."""

    condition: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    is_iteration: bool = False
    is_guard: bool = False


class While(Statement):
    condition: Expression
    body: tuple[Statement, ...]


class For(Statement):
    """The bounds are evaluated once; `unroll` asks for `#pragma unroll`. With `turns` it is the
    loop of a pipeline."""

    variable: Variable
    start: Expression
    stop: Expression
    step: Expression
    unroll: bool
    body: tuple[Statement, ...]
    turns: Turns | None = None


class Break(Statement):
    pass


class Continue(Statement):
    pass


class Return(Statement):
    values: tuple[Expression, ...]


class Group(Statement):
    """`bound` is the bound inside. `header` is the span of the line."""

    to: Perspective
    bound: Bound
    body: tuple[Statement, ...]
    header: Span


class Finish(Statement):
    """`finish counter:`, for the block that comes last. The body is one `Group` to block[1]; around
    it a `Narrow` makes the grid's pointers the block's."""

    counter: Expression
    body: tuple[Statement, ...]
    header: Span


class Arm(Typed):
    """`case n:`: units `offset` to `offset + to.size` of `to.level`, inside the enclosing instance
    of the code perspective; `bound` is the bound inside."""

    to: Perspective
    offset: int
    bound: Bound
    body: tuple[Statement, ...]
    header: Span


class Split(Statement):
    """All arms run, each by its own units; the rest idles; they meet at the end. `keyword` is
    `split` or `first`; `available` the number of units of the arms' level."""

    arms: tuple[Arm, ...]
    keyword: str
    available: int
    header: Span


class IndexFunction(Typed):
    """`i => e` after `by`: the parameter is an int as broad as its uses."""

    parameter: Variable
    body: Expression


class View(Typed):
    """One pair of a narrowing: `source` seen as `variable`.

    `variable[i]` is `source[offset + i]`, or `source[function(i)]`. `source` is a `Read` or a
    `Slot`. `offset` is None for 0. `is_async` marks `as async y`.
    """

    variable: Variable
    source: Expression
    offset: Expression | None
    function: IndexFunction | None
    is_async: bool


class Narrow(Statement):
    """`partition`, `claim` or `async`: the sources are hidden in the body."""

    kind: NarrowKind
    views: tuple[View, ...]
    body: tuple[Statement, ...]
    header: Span

    @property
    def keyword(self) -> str:
        """What it is in the text: a region of a pipeline shows slots of its rings."""
        is_region = any(view.variable.kind is VariableKind.RING for view in self.views)
        return "pipeline" if is_region else self.kind.value

    @property
    def is_async(self) -> bool:
        """Whether the body is an asynchronous scope: one commit at its end."""
        return any(view.is_async for view in self.views)


class Asm(Statement):
    """`asm(..)`. Operands stand flat, as `$k` counts them; arrays are expanded to elements.

    `pieces` alternates text and operand numbers: text, number, text, .., text.
    `touches_memory` follows from the enclosing function's effects.
    """

    pieces: tuple[str | int, ...]
    outputs: tuple[Place, ...]
    updates: tuple[Place, ...]
    inputs: tuple[Expression, ...]
    touches_memory: bool


class CudaText(Statement):
    """`cuda("..")`: raw C++ text, pasted."""

    text: str


class AssumeDisjoint(Statement):
    """`assume(disjoint(y))`: pieces of the partition `variable` never meet, in no two of its
    executions either; of a tensor map, the boxes of different blocks and iterations. Nothing is
    executed."""

    variable: Variable


class Assume(Statement):
    """`assume(condition)`: holds from here to the end of the enclosing body, by the author's word.
    The condition may be a `Builtin` `aligned(pointer, bytes)` or `aligned(pointer, index, bytes)`.
    """

    condition: Expression


class Assert(Statement):
    condition: Expression
    message: str


class Print(Statement):
    format: str
    arguments: tuple[Expression, ...]


# --------------------------------------------------------------------------- program


class InstanceKind(Enum):
    KERNEL = "kernel"
    DEVICE = "device function"
    EXPRESSION = "expression function"
    UNSAFE = "unsafe function"


class Instance(Record):
    """One function with its generic arguments filled in.

    `symbol` is unique in the program and is the C name. `bound` is what `@requires` promises.
    `threads` is the number of threads in a block if a kernel that reaches this instance fixes it
    (one instance per such number), else None. `declared_shared` is `smem =` in bytes or None.
    `assumptions` are the conditions of `@assume`, over the parameters: bools, with `Builtin`
    `aligned(pointer, bytes)` and `aligned(pointer, index, bytes)` among them. `generics` are the
    arguments as they are shown, for messages. `origin` is the span of the use that asked for this
    instance (a call, an export), None for code checked in its own right, and `chain` tells the uses
    that led there. Its statements stand in the program's `Body` for it.
    """

    symbol: str
    name: str
    kind: InstanceKind
    bound: Bound
    parameters: tuple[Variable, ...]
    results: tuple[Result, ...]
    threads: int | None
    declared_shared: int | None
    launch: Launch | None
    effects: Effects | None
    generics: tuple[tuple[str, str], ...]
    origin: Span | None
    chain: tuple[Related, ...]
    span: Span
    requires_span: Span
    module: str
    assumptions: tuple[Expression, ...] = ()

    @property
    def is_kernel(self) -> bool:
        return self.kind is InstanceKind.KERNEL


class Body(Record):
    """An instance together with its statements. `all_statements` holds the inner ones too, outer
    before inner, `calls` all calls in them, both in the order of the text."""

    instance: Instance
    statements: tuple[Statement, ...]
    all_statements: tuple[Statement, ...]
    calls: tuple[Call, ...]


class Program(Record):
    """All instances of a program by symbol, callees before callers.

    `refused` holds the symbols of instances in which elaboration reported an error. Their bodies
    are here all the same, with expressions of type ERROR where something was refused (statements
    that make no sense without it are left out), so that one run reports all that is wrong: the
    passes after elaboration check them, never lower them, and stay silent about what is ERROR.
    """

    bodies: Mapping[str, Body]
    refused: frozenset[str]

"""What the lowering of one function keeps at hand: bindings, position, hidden values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prismc.checker.results import CheckedProgram
from prismc.checker.sync.plan import SyncPlan
from prismc.checker.types import model
from prismc.checker.types.turns import Turns
from prismc.checker.types.typed import Instance, Variable
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import BLOCK, WARPGROUP, Level, Perspective
from prismc.ir.analysis.ranges import Range, Ranges
from prismc.ir.builder import Builder
from prismc.ir.core import Function, Op, Value
from prismc.ir.lowering.positions import Hidden, Index, entry_position
from prismc.ir.lowering.projection import Class
from prismc.ir.lowering.types import lower_element, lower_pointer
from prismc.ir.lowering.views import Binding, View, layout_of
from prismc.ir.ops.arithmetic import Binary, BinaryOperator, MakeVector
from prismc.ir.ops.groups import Part
from prismc.ir.ops.memory import PointerCast
from prismc.ir.types import (
    INT,
    LONG,
    MBARRIERS,
    SHARED_BYTES,
    UINT,
    ArrayType,
    ScalarType,
    Space,
    Type,
    VectorType,
)
from prismc.source.record import Record


class LoweredFunction:
    """A function of the IR and which hidden values its callers pass before the arguments."""

    __slots__ = ("function", "hidden")

    def __init__(self, function: Function, hidden: tuple[Hidden, ...]) -> None:
        self.function = function
        self.hidden = hidden


class RangedBuilder(Builder):
    """A builder that learns the ranges of what it builds, and remembers in `computed` what has been
    computed of ints."""

    def __init__(self, ranges: Ranges) -> None:
        super().__init__()
        self._ranges = ranges
        self.computed: dict[tuple[object, ...], Value] = {}
        # For a value that was computed before in the same way, the first one.
        self._first: dict[Value, Value] = {}

    def add(self, op: Op) -> Op:
        self._ranges.learn(op)
        if isinstance(op, Binary) and op.result.type == INT:
            operation = self.operation(op.operator, op.left, op.right)
            self._first[op.result] = self.computed.setdefault(operation, op.result)
        return super().add(op)

    def operation(self, operator: BinaryOperator, left: Value, right: Value) -> tuple[object, ...]:
        """What is equal for equal operations; constants are, wherever they were made."""
        sides = (self._ranges.of(side) for side in (left, right))
        names = (
            range_.low if range_.low == range_.high else self._first.get(side, side)
            for range_, side in zip(sides, (left, right), strict=True)
        )
        return (operator, *names)


class Turn(Record):
    """A pipeline that is written as one step; `has_previous` is whether there is an iteration
    before this one (behind the loop: whether there was any). If the loop runs once at most,
    `steady` are the ids of the statements that a thread comes to in every iteration or in none."""

    turns: Turns
    has_previous: Value
    steady: frozenset[int]


class Frame:
    """The state of one function's lowering.

    `values` binds the variables in scope; None is a variable that has no value yet. `reassigned`
    are the pointer variables that some statement assigns: they are kept in one shape, a generic
    base and an i64 offset.
    """

    def __init__(
        self,
        checked: CheckedProgram,
        instance: Instance,
        lowered: Mapping[str, LoweredFunction],
        reassigned: frozenset[Variable],
        sink: Sink,
    ) -> None:
        self.checked = checked
        self.instance = instance
        self.lowered = lowered
        self.reassigned = reassigned
        self.sink = sink
        self.ranges = Ranges()
        self.builder = RangedBuilder(self.ranges)
        self.threads = instance.threads or instance.bound.thread
        self.position = entry_position(instance.bound, self.threads)
        self.groups: dict[int, Index] = {}
        self.values: dict[Variable, Binding | None] = {}
        self.hidden: dict[Hidden, Value] = {}
        # A kernel's scalar parameters, and the greatest values of those that its start tests.
        self.arguments: frozenset[Value] = frozenset()
        self.limits: dict[Value, int] = {}
        self.may_have_returned = False
        plan = checked.plan.instances.get(instance.symbol)
        self.projected = plan.projected if plan is not None else ()
        # The threads that the text is for, where a loop is written once for each class of warps.
        self.only: Class | None = None
        # Shared arrays with layouts: one view a slot, since a layout counts from the slot's start.
        self.slots: dict[Variable, tuple[View, ...]] = {}
        # Bytes to the copy of a shared array that this thread's unit has.
        self.copies: dict[Variable, Value] = {}
        self.rolled = plan.rolled if plan is not None else {}
        # In a pipeline that is written as one step, and right behind it.
        self.turn: Turn | None = None
        # Of the asynchronous scope around whose bulk loads an mbarrier counts: its shared address,
        # and the bytes that were issued.
        self.loads: tuple[Value, Value] | None = None

    @property
    def is_at_start(self) -> bool:
        """Whether every launch of the kernel comes here."""
        return self.builder.depth == 1 and not self.may_have_returned

    # ------------------------------------------------------------------ position

    def hidden_value(self, hidden: Hidden) -> Value:
        """The value that the function is given, or, in a kernel, reads at its start."""
        if hidden not in self.hidden:
            value = Value(self._hidden_type(hidden), hidden.value)
            self.hidden[hidden] = value
            if value.type == INT:
                self.ranges.set(value, Range(0, (self._limit(hidden) or 1 << 31) - 1))
        return self.hidden[hidden]

    def _hidden_type(self, hidden: Hidden) -> Type:
        match hidden:
            case Hidden.SHARED:
                return SHARED_BYTES
            case Hidden.MBARRIERS:
                return MBARRIERS
            case Hidden.PHASES:
                return ArrayType(element=UINT, shape=(-(-self.checked.plan.phases // 32),))
            case Hidden.COMPLETION:
                return UINT
            case Hidden.EXPECTED:
                return ArrayType(element=UINT, shape=(1,))
            case _:
                return INT

    def _limit(self, hidden: Hidden) -> int:
        entry = entry_position(self.instance.bound, self.threads)
        match hidden:
            case Hidden.THREAD:
                return entry.thread.limit
            case Hidden.BLOCK:
                return entry.block.limit
            case Hidden.BLOCK_THREAD:
                return self.threads
            case Hidden.WARPGROUP:
                return self.threads // WARPGROUP.size
            case _:
                return 0

    def index_value(self, index: Index) -> Value:
        """The value of an index; a constant 0 where there is one unit."""
        if index.limit == 1:
            return self.builder.constant(0)
        value = self.hidden_value(index.hidden)
        for step in index.steps:
            value = self._number(BinaryOperator.SUB, value, step.offset)
            if step.modulo not in (0, 1):
                value = self.builder.in_group(Part.PLACE, value, step.modulo)
        if index.steps and index.limit:
            self.ranges.set(value, Range(0, index.limit - 1))
        return value

    def unit(self, index: Index, size: int) -> Value:
        """Which group of `size` units `index` is in."""
        if index.limit and index.limit <= size:
            return self.builder.constant(0)
        if self._counts_warpgroups(index, size):
            return self._warpgroups(index, size)
        value = self.index_value(index)
        return value if size == 1 else self.builder.in_group(Part.NUMBER, value, size)

    def _counts_warpgroups(self, index: Index, size: int) -> bool:
        """Whether `index` is a thread of the block, beyond others perhaps, in whole warpgroups."""
        return (
            index.hidden is Hidden.THREAD
            and self.instance.bound.code.level is not Level.THREAD
            and size % WARPGROUP.size == 0
            and self.threads % WARPGROUP.size == 0
            and all(step.offset % size == 0 and step.modulo == 0 for step in index.steps)
        )

    def _warpgroups(self, index: Index, size: int) -> Value:
        """The same from the warpgroup's index, which all threads of a warp are known to share: what
        is computed from it, such as descriptors, then takes no registers of threads."""
        value = self.hidden_value(Hidden.WARPGROUP)
        if size > WARPGROUP.size:
            value = self.builder.in_group(Part.NUMBER, value, size // WARPGROUP.size)
        before = sum(step.offset for step in index.steps) // size
        value = self._number(BinaryOperator.SUB, value, before)
        if index.limit:
            self.ranges.set(value, Range(0, -(-index.limit // size) - 1))
        return value

    def unit_index(self, of: Perspective, within: Perspective) -> Value:
        """`id(of)` where `within` speaks: floor of the position by the size."""
        if of.level is Level.THREAD:
            is_one_block = within.level is Level.THREAD or within == BLOCK
            if is_one_block:
                return self.unit(self.position.thread, of.size)
            return self._thread_in_blocks(of.size)
        if of.level is Level.BLOCK:
            return self.unit(self.position.block, of.size)
        return self.builder.constant(0)

    def _thread_in_blocks(self, size: int) -> Value:
        """The index of a group of `size` threads among several blocks; `size` divides a block."""
        block = self.index_value(self.position.block)
        per_block = self._number(BinaryOperator.MUL, block, self.threads // size)
        if self.threads == size:
            return per_block
        thread = self.unit(self.position.thread, size)
        return self.builder.binary(BinaryOperator.ADD, per_block, thread)

    def unit_count(self, of: Perspective) -> Value:
        """How many units of `of` the grid has."""
        blocks = self.hidden_value(Hidden.BLOCKS)
        if of.level is Level.THREAD:
            return self._number(BinaryOperator.MUL, blocks, self.threads // of.size)
        return blocks if of.size == 1 else self.builder.in_group(Part.NUMBER, blocks, of.size)

    def block_thread(self) -> Value:
        """The thread's index in its block, however narrow the function's top is."""
        is_known = self.instance.bound.code.level is not Level.THREAD
        return self.hidden_value(Hidden.THREAD if is_known else Hidden.BLOCK_THREAD)

    def _number(self, operator: BinaryOperator, value: Value, number: int) -> Value:
        """`value operator number`, left out where it changes nothing."""
        if number == (0 if operator is BinaryOperator.SUB else 1):
            return value
        return self.builder.binary(operator, value, self.builder.constant(number))

    # ------------------------------------------------------------------ variables

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Bindings and the position as they were, afterwards; what is computed inside may not be
        computed."""
        values, position, computed = self.values, self.position, self.builder.computed
        self.values, self.builder.computed = dict(values), dict(computed)
        yield
        self.values, self.position, self.builder.computed = values, position, computed

    def computed(self, operator: BinaryOperator, left: Value, right: Value) -> Value | None:
        """The int that `left operator right` is, if that has been computed on the way here."""
        return self.builder.computed.get(self.builder.operation(operator, left, right))

    def bind_pointer(self, variable: Variable, view: View) -> None:
        """Bind a pointer variable, in one shape if it is ever assigned."""
        is_settled = variable in self.reassigned
        self.values[variable] = self.settled(view, variable.type) if is_settled else view

    def settled(self, view: View, of: model.Type) -> View:
        """A view without a map, as a generic base of type `of` and an i64 offset."""
        if not isinstance(of, model.PointerType):
            raise TypeError(f"no pointer type: {of}")
        if view.through is not None:
            raise TypeError("a view with an index function is no base and offset")
        base = self.cast_pointer(view.base, of, Space.GENERIC)
        return View(base, self.long_offset(view), layout=of.layout)

    def long_offset(self, view: View) -> Value:
        """The view's offset as an i64."""
        if view.offset is None:
            return self.builder.constant(0, LONG)
        return self.builder.convert(view.offset, LONG)

    def cast_pointer(self, pointer: Value, of: model.PointerType, space: Space) -> Value:
        """`pointer` as a pointer of type `of` into `space`."""
        wanted = lower_pointer(of, space)
        if pointer.type == wanted:
            return pointer
        cast = PointerCast(
            pointer=pointer, results=(Value(wanted, pointer.hint),), span=self.builder.span
        )
        return self.builder.add(cast).result

    def parts(self, variable: Variable) -> tuple[Value, ...]:
        """The values that a variable carries through control flow; zeros if it has none yet."""
        binding = self.values[variable]
        if binding is None:
            return (self.zero(variable.type, variable.name),)
        if isinstance(binding, View):
            return (binding.base, self.long_offset(binding))
        return (binding,)

    def fresh_parts(self, variable: Variable) -> tuple[Value, ...]:
        """New values for what a variable carries through control flow."""
        if isinstance(variable.type, model.PointerType):
            base = Value(lower_pointer(variable.type, Space.GENERIC), variable.name)
            return (base, Value(LONG, f"{variable.name}_offset"))
        return (Value(lower_element(variable.type), variable.name),)

    def bind_parts(self, variable: Variable, parts: tuple[Value, ...]) -> None:
        """Bind a variable to what `parts` gave at the end of some region."""
        if len(parts) == 2:
            self.values[variable] = View(*parts, layout=layout_of(variable.type))
        else:
            self.values[variable] = parts[0]

    def zero(self, of: model.Type, hint: str = "") -> Value:
        """A zero of a scalar or vector type."""
        lowered = lower_element(of)
        if isinstance(lowered, ScalarType):
            return self.number(0, lowered, hint)
        element = self.number(0, ScalarType(scalar=lowered.element))
        return self.vector((element,) * lowered.lanes, lowered, hint)

    def number(self, value: int | float | bool, of: ScalarType, hint: str = "") -> Value:
        """A constant, as what its type holds."""
        if of.scalar.is_float:
            return self.builder.constant(float(value), of, hint)
        return self.builder.constant(int(value) if of.scalar.is_integer else bool(value), of, hint)

    def vector(self, elements: tuple[Value, ...], of: VectorType, hint: str = "") -> Value:
        """A vector of its scalars."""
        made = MakeVector(elements=elements, results=(Value(of, hint),), span=self.builder.span)
        return self.builder.add(made).result


def phase_words(plan: SyncPlan, kernel: str) -> tuple[int, ...]:
    """The register of phases as every thread of a kernel starts with it, 32 bits a word.

    Which phase a thread waits for next is known wherever it is, so all functions share it.
    """
    words = [0] * -(-plan.phases // 32)
    for bit in plan.credits(kernel):
        words[bit // 32] |= 1 << bit % 32
    return tuple(words)

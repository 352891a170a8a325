"""What one statement touches, in the order of its evaluation: accesses, and calls as summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prismc.checker.sync.accesses import Accesses, Here
from prismc.checker.sync.asked import Guard
from prismc.checker.sync.boxes import Corner
from prismc.checker.sync.coverage import BULK_WRITES, NONE, Queue, barrier
from prismc.checker.sync.extents import block_at, corner_at, extent_at
from prismc.checker.sync.flow import NOTHING, either_of
from prismc.checker.sync.footprints import unknown_footprint
from prismc.checker.sync.graph import Access, Entry, Exit, Flow, Pending, Summary, groups_of
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.summaries import FunctionSummary, Lifter
from prismc.checker.types import typed
from prismc.checker.types.conversions import root_variable
from prismc.checker.types.model import ArrayType, PointerType, TensorMapType, Type, VectorType
from prismc.checker.types.walk import expressions_in, operands, statement_operands
from prismc.hardware.asynchronous import Agent, Completion
from prismc.hardware.groups import Perspective
from prismc.source.record import replace
from prismc.source.span import Span

Event = Access | Summary


class Events:
    """The events of statements of one function; callees are known by their summaries."""

    def __init__(self, accesses: Accesses, callees: Mapping[str, FunctionSummary]) -> None:
        self._accesses = accesses
        self._callees = callees

    def of_statement(self, statement: typed.Statement, here: Here) -> Iterator[Event]:
        """The events of a statement itself, not of the statements inside it.

        Assertions and prints are left out: they never disturb synchronisation.
        """
        match statement:
            case typed.Assert() | typed.Assume() | typed.Print():
                return
            case typed.Assign(place=place, operator=sign):
                yield from self._operands(statement, here)
                if sign:
                    yield from self._place(place, AccessKind.READ, here)
                yield from self._place(place, AccessKind.WRITE, here)
            case typed.AssignSeveral(places=places):
                yield from self._operands(statement, here)
                for place in places:
                    yield from self._place(place, AccessKind.WRITE, here)
            case typed.Declare(variable=variable, value=value):
                yield from self._operands(statement, here)
                if value is not None and isinstance(variable.type, ArrayType):
                    yield from self._of_registers(variable, AccessKind.WRITE, here, statement.span)
            case typed.LoadInto(array=array, pointer=pointer, index=index, lanes=lanes):
                yield from self._operands(statement, here)
                yield from self._of_array(array, AccessKind.WRITE, here)
                yield self._accesses.access(
                    AccessKind.READ, pointer, index, here, lanes=lanes, at=statement.span
                )
            case typed.Asm():
                yield from self._operands(statement, here)
                yield from self._asm(statement, here)
            case typed.CudaText():
                for kind in (AccessKind.READ, AccessKind.WRITE):
                    yield self._accesses.anything(kind, here, statement.span)
            case _:
                yield from self._operands(statement, here)

    def _operands(self, statement: typed.Statement, here: Here) -> Iterator[Event]:
        for operand in statement_operands(statement):
            yield from self._expression(operand, here)

    def _place(self, place: typed.Place, kind: AccessKind, here: Here) -> Iterator[Event]:
        while isinstance(place, typed.ComponentPlace):
            place = place.vector
        match place:
            case typed.MemoryPlace():
                yield self._accesses.access(
                    kind,
                    place.pointer,
                    place.index,
                    here,
                    lanes=_lanes(place.type, place.pointer.type),
                    at=place.span,
                )
            case typed.ElementPlace(array=array):
                yield from self._of_array(array, kind, here)
            case typed.VariablePlace(variable=variable):
                yield from self._of_registers(variable, kind, here, place.span)
            case _:
                pass

    def _of_array(self, array: typed.Expression, kind: AccessKind, here: Here) -> Iterator[Access]:
        """An access to elements of a register array, where operations may still have it."""
        variable = root_variable(array)
        if variable is not None:
            yield from self._of_registers(variable, kind, here, array.span)

    def _of_registers(
        self, variable: typed.Variable, kind: AccessKind, here: Here, at: Span
    ) -> Iterator[Access]:
        path = self._accesses.pointers.registers(variable)
        if path.roots:
            yield self._accesses.add(kind, path, unknown_footprint(here.threads), here, at)

    def _asm(self, statement: typed.Asm, here: Here) -> Iterator[Event]:
        """Text that touches memory may read and write whatever its operands name."""
        for place in (*statement.outputs, *statement.updates):
            yield from self._place(place, AccessKind.WRITE, here)
        if not statement.touches_memory:
            return
        named = [
            expression
            for operand in statement_operands(statement)
            for expression in expressions_in(operand)
            if isinstance(expression.type, PointerType | TensorMapType)
        ]
        for pointer in named:
            for kind in (AccessKind.READ, AccessKind.WRITE):
                yield self._accesses.access(kind, pointer, None, here, lanes=1, at=statement.span)

    def _expression(self, expression: typed.Expression, here: Here) -> Iterator[Event]:
        match expression:
            case typed.Logical(operator=sign, left=left, right=right):
                yield from self._expression(left, here)
                yield from self._maybe(right, here, left, holds=sign == "and")
            case typed.Conditional(value=value, condition=condition, otherwise=otherwise):
                yield from self._expression(condition, here)
                yield from self._maybe(value, here, condition, holds=True)
                yield from self._maybe(otherwise, here, condition, holds=False)
            case typed.Load(pointer=pointer, index=index):
                yield from self._expression(index, here)
                yield self._accesses.access(
                    AccessKind.READ,
                    pointer,
                    index,
                    here,
                    lanes=_lanes(expression.type, pointer.type),
                    at=expression.span,
                )
            case typed.Element(array=array, index=index):
                yield from self._expression(index, here)
                yield from self._of_array(array, AccessKind.READ, here)
            case typed.Call():
                for argument in expression.arguments:
                    if not isinstance(argument.type, ArrayType):
                        yield from self._expression(argument, here)
                yield from self._array_arguments(expression, here)
                yield from self._call(expression, here)
            case _:
                for operand in operands(expression):
                    yield from self._expression(operand, here)

    def _maybe(
        self, operand: typed.Expression, here: Here, condition: typed.Expression, *, holds: bool
    ) -> Iterator[Event]:
        """An operand that is evaluated under a condition: a call in it does what it does, or
        nothing, so that it orders nothing before it with what comes behind."""
        for event in self._expression(operand, _under(here, condition, holds=holds)):
            yield either_of((event, NOTHING)) if isinstance(event, Summary) else event

    # ----------------------------------------------------------------------- calls

    def _call(self, call: typed.Call, here: Here) -> Iterator[Event]:
        match call.callee.kind:
            case typed.InstanceKind.EXPRESSION:
                yield from self._through_arguments(call, here, (AccessKind.READ,))
            case typed.InstanceKind.UNSAFE:
                yield from self._unsafe_call(call, here)
            case _:
                summary = self._callees.get(call.callee.symbol)
                if summary is not None:
                    yield Lifter(summary, call, here, self._accesses).summary()

    def _array_arguments(self, call: typed.Call, here: Here) -> Iterator[Event]:
        """Register arrays that a call reads or writes before it returns; what it does with others
        its effects or its summary say."""
        summary = self._callees.get(call.callee.symbol)
        told = () if summary is None else summary.registers
        for position, (parameter, argument) in enumerate(
            zip(call.callee.parameters, call.arguments, strict=True)
        ):
            if _is_own_array(parameter) and position not in told:
                kind = AccessKind.READ if parameter.is_const else AccessKind.WRITE
                yield from self._of_array(argument, kind, here)

    def _unsafe_call(self, call: typed.Call, here: Here) -> Iterator[Event]:
        """What `@effects(..)` declares; without it, everything the arguments name, at once."""
        effects = call.callee.effects
        if effects is None:
            kinds = (AccessKind.READ, AccessKind.WRITE)
            yield from self._through_arguments(call, here, kinds)
            return
        accesses = [
            self._through(call, parameter, argument, here, kind)
            for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True)
            for kind, named in (
                (AccessKind.READ, effects.reads),
                (AccessKind.WRITE, effects.writes),
            )
            if parameter in named and not _is_own_array(parameter)
        ]
        if effects.syncs is None:
            yield from accesses
        else:
            yield synchronised(accesses, effects.syncs, here, self._accesses.block)

    def _through_arguments(
        self, call: typed.Call, here: Here, kinds: tuple[AccessKind, ...]
    ) -> Iterator[Event]:
        for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True):
            if isinstance(parameter.type, PointerType | TensorMapType):
                is_const = isinstance(parameter.type, PointerType) and parameter.type.is_const
                for kind in kinds:
                    if kind is AccessKind.READ or not is_const:
                        yield self._through(call, parameter, argument, here, kind)

    def _through(
        self,
        call: typed.Call,
        parameter: typed.Variable,
        argument: typed.Expression,
        here: Here,
        kind: AccessKind,
    ) -> Access:
        """An access behind an argument, anywhere or where the effects say; atomic ones do not
        conflict with one another."""
        is_atomic = isinstance(parameter.type, PointerType) and parameter.type.is_atomic
        effects = call.callee.effects
        queue = _queue(call.callee, parameter, kind)
        is_write = kind is not AccessKind.READ
        element: typed.Expression | Corner | None = None
        lanes = 1
        # Where copies of single threads come from is looked at as a whole.
        if is_write or queue is not Completion.COPY_GROUP:
            extent = extent_at(call, parameter, self._accesses.evaluator, is_write=is_write)
            if extent is not None:
                element, lanes = extent
            elif (corner := corner_at(call, parameter, is_write=is_write)) is not None:
                element, lanes = corner, corner.box[-1]
        return self._accesses.access(
            AccessKind.UPDATE if is_atomic else kind,
            argument,
            element,
            here,
            lanes=lanes,
            at=call.span,
            queue=queue,
            agent=Agent.GENERIC if effects is None else effects.agent,
            block=block_at(call, parameter, is_write=is_write),
        )


def _is_own_array(parameter: typed.Variable) -> bool:
    """Whether it is an array of each thread's own that is done with when the call returns."""
    of = parameter.type
    return isinstance(of, ArrayType) and not of.is_async


def _queue(callee: typed.Instance, parameter: typed.Variable, kind: AccessKind) -> Queue | None:
    """What an access ends with: those to `async` parameters, and the declared reads; what bulk
    stores write is complete later than what they read."""
    of = parameter.type
    completes = None if callee.effects is None else callee.effects.completes
    if kind is AccessKind.READ or (isinstance(of, PointerType | ArrayType) and of.is_async):
        return completes
    return BULK_WRITES if completes is Completion.BULK_GROUP else None


def _under(here: Here, condition: typed.Expression, *, holds: bool) -> Here:
    guard = Guard(condition=condition, holds=holds, loops=here.loops)
    return replace(here, guards=(*here.guards, guard))


def _lanes(value: Type, pointer: Type) -> int:
    """Elements that an access of `value`'s type takes: a vector through a scalar pointer."""
    element = pointer.element if isinstance(pointer, PointerType) else None
    if isinstance(value, VectorType) and not isinstance(element, VectorType):
        return value.lanes
    return 1


def synchronised(
    accesses: Sequence[Access], perspective: Perspective, here: Here, block: int
) -> Summary:
    """A call that makes each unit of `perspective` wait for its threads, at some time before or
    after it touches memory: the accesses count as outside of that order."""
    units = groups_of(here.units, perspective, block)
    pending = tuple(Pending(access=access, after=NONE) for access in accesses)
    return Summary(
        entries=tuple(Entry(access=access, before=NONE) for access in accesses),
        exits=((Exit.NORMAL, Flow(through=barrier(units), pending=pending)),),
    )

"""What one statement touches, in the order of its evaluation: accesses, and calls as summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prismc.checker.sync.accesses import Accesses, Guard, Here
from prismc.checker.sync.coverage import NONE, barrier
from prismc.checker.sync.graph import Access, Entry, Exit, Flow, Pending, Summary
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.summaries import FunctionSummary, Lifter
from prismc.checker.types import typed
from prismc.checker.types.model import PointerType, Type, VectorType
from prismc.checker.types.walk import expressions_in, operands, statement_operands
from prismc.hardware.groups import Level, Perspective
from prismc.source.record import replace

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
            case typed.LoadInto(pointer=pointer, index=index, lanes=lanes):
                yield from self._operands(statement, here)
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
        if isinstance(place, typed.MemoryPlace):
            yield self._accesses.access(
                kind,
                place.pointer,
                place.index,
                here,
                lanes=_lanes(place.type, place.pointer.type),
                at=place.span,
            )

    def _asm(self, statement: typed.Asm, here: Here) -> Iterator[Event]:
        """Text that touches memory may read and write whatever its operands name."""
        if not statement.touches_memory:
            return
        named = [
            expression
            for operand in statement_operands(statement)
            for expression in expressions_in(operand)
            if isinstance(expression.type, PointerType)
        ]
        for pointer in named:
            for kind in (AccessKind.READ, AccessKind.WRITE):
                yield self._accesses.access(kind, pointer, None, here, lanes=1, at=statement.span)

    def _expression(self, expression: typed.Expression, here: Here) -> Iterator[Event]:
        match expression:
            case typed.Logical(operator=sign, left=left, right=right):
                yield from self._expression(left, here)
                yield from self._expression(right, _under(here, left, holds=sign == "and"))
            case typed.Conditional(value=value, condition=condition, otherwise=otherwise):
                yield from self._expression(condition, here)
                yield from self._expression(value, _under(here, condition, holds=True))
                yield from self._expression(otherwise, _under(here, condition, holds=False))
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
            case typed.Call():
                for argument in expression.arguments:
                    yield from self._expression(argument, here)
                yield from self._call(expression, here)
            case _:
                for operand in operands(expression):
                    yield from self._expression(operand, here)

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
            if parameter in named
        ]
        if effects.syncs is None:
            yield from accesses
        else:
            yield synchronised(accesses, effects.syncs, here)

    def _through_arguments(
        self, call: typed.Call, here: Here, kinds: tuple[AccessKind, ...]
    ) -> Iterator[Event]:
        for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True):
            if isinstance(parameter.type, PointerType):
                for kind in kinds:
                    if kind is AccessKind.READ or not parameter.type.is_const:
                        yield self._through(call, parameter, argument, here, kind)

    def _through(
        self,
        call: typed.Call,
        parameter: typed.Variable,
        argument: typed.Expression,
        here: Here,
        kind: AccessKind,
    ) -> Access:
        """An access somewhere behind an argument; atomic ones do not conflict with one another."""
        is_atomic = isinstance(parameter.type, PointerType) and parameter.type.is_atomic
        return self._accesses.access(
            AccessKind.UPDATE if is_atomic else kind,
            argument,
            None,
            here,
            lanes=1,
            at=call.span,
            is_async=_is_async(call.callee, parameter, kind),
        )


def _is_async(callee: typed.Instance, parameter: typed.Variable, kind: AccessKind) -> bool:
    """Whether an access ends with a group: writes to `async` parameters, and the declared reads."""
    if callee.effects is None or not callee.effects.completes:
        return False
    of = parameter.type
    return kind is AccessKind.READ or (isinstance(of, PointerType) and of.is_async)


def _under(here: Here, condition: typed.Expression, *, holds: bool) -> Here:
    guard = Guard(condition=condition, holds=holds, loops=here.loops)
    return replace(here, guards=(*here.guards, guard))


def _lanes(value: Type, pointer: Type) -> int:
    """Elements that an access of `value`'s type takes: a vector through a scalar pointer."""
    element = pointer.element if isinstance(pointer, PointerType) else None
    if isinstance(value, VectorType) and not isinstance(element, VectorType):
        return value.lanes
    return 1


def synchronised(accesses: Sequence[Access], perspective: Perspective, here: Here) -> Summary:
    """A call that makes each unit of `perspective` wait for its threads, at some time before or
    after it touches memory: the accesses count as outside of that order."""
    units = here.units
    if perspective.level is Level.THREAD:
        size = perspective.size
        part = (1 << size) - 1
        units = tuple(
            part << start & unit
            for unit in here.units
            for start in range(0, unit.bit_length(), size)
            if part << start & unit
        )
    pending = tuple(Pending(access=access, after=NONE) for access in accesses)
    return Summary(
        entries=tuple(Entry(access=access, before=NONE) for access in accesses),
        exits=((Exit.NORMAL, Flow(through=barrier(units), pending=pending)),),
    )

"""Alignment of vector accesses, and `@assume` at calls: proved, or refused with what is missing.

What is known of an address comes from declarations (`align`, a pointer's element), constants and
products in indices, conditions around the access, and what is assumed. What depends on a function's
parameters is proved at each of its calls, with what the caller knows of the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.alignment.addresses import Addresses
from prismc.checker.alignment.conditions import Conditions
from prismc.checker.alignment.explain import Blame, Explainer, Explanation, depends_on
from prismc.checker.alignment.needs import (
    AccessNeed,
    AssumptionNeed,
    Failure,
    InnerNeed,
    Need,
    Pending,
)
from prismc.checker.alignment.numbers import Known, Residue, multiple_of
from prismc.checker.alignment.values import Bodies, Facts, Values
from prismc.checker.types import typed
from prismc.checker.types.model import ERROR, PointerType, ScalarType, VectorType, size_of
from prismc.checker.types.origins import InstanceSink
from prismc.checker.types.walk import (
    bodies_of,
    expressions_in,
    operands,
    statement_operands,
)
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink

Left = Mapping[str, tuple[Pending, ...]]
_STATE_IT = "state it with `@assume` before this function, or test it with `if` before"


def check_alignment(program: typed.Program, sink: Sink) -> None:
    """Judge every body that accesses vectors or calls what needs something, callees first."""
    left: dict[str, tuple[Pending, ...]] = {}
    for symbol, body in program.bodies.items():
        if _is_concerned(body, left):
            checker = BodyChecker(body, program.bodies, left, InstanceSink(sink, body.instance))
            left[symbol] = checker.run()


def _is_concerned(body: typed.Body, left: Left) -> bool:
    for statement in body.all_statements:
        if _stored(statement) is not None or isinstance(statement, typed.LoadInto):
            return True
        for inside in _accesses(statement):
            if isinstance(inside, typed.Load):
                return True
            if inside.callee.assumptions or left.get(inside.callee.symbol):
                return True
    return False


def _accesses(statement: typed.Statement) -> list[typed.Load | typed.Call]:
    """The vector loads and calls of a statement itself, outer before inner."""
    found: list[typed.Load | typed.Call] = []
    waiting = list(reversed(statement_operands(statement)))
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, typed.Read | typed.Constant):
            continue
        if isinstance(expression, typed.Call) or (
            isinstance(expression, typed.Load) and isinstance(expression.type, VectorType)
        ):
            found.append(expression)
        waiting.extend(reversed(operands(expression)))
    return found


def _stored(statement: typed.Statement) -> typed.MemoryPlace | None:
    """The memory that a statement stores a vector to."""
    place = statement.place if isinstance(statement, typed.Assign) else None
    is_vector = isinstance(place, typed.MemoryPlace) and isinstance(place.type, VectorType)
    return place if is_vector and isinstance(place, typed.MemoryPlace) else None


def _has_refused(call: typed.Call) -> bool:
    """Whether an argument was refused before."""
    return any(inside.type is ERROR for each in call.arguments for inside in expressions_in(each))


class BodyChecker:
    """Walks one body with the facts that hold at each place."""

    def __init__(self, body: typed.Body, bodies: Bodies, left: Left, sink: InstanceSink) -> None:
        self._body = body
        self._left = left
        self._sink = sink
        self._values = Values(body, bodies)
        self._addresses = Addresses(self._values)
        self._conditions = Conditions(self._values, self._addresses)
        self._explainer = Explainer(body.instance, self._values, self._addresses)
        self._pending: list[Pending] = []

    def run(self) -> tuple[Pending, ...]:
        """Check the body under what the function assumes; what is left is for its callers."""
        facts = self._values.facts
        for condition in self._body.instance.assumptions:
            with self._values.under(facts):
                facts = self._conditions.learnt(condition, holds=True)
        self._values.always = facts
        self._block(self._body.statements, facts)
        return tuple(self._pending)

    # ------------------------------------------------------------------ statements

    def _block(self, statements: tuple[typed.Statement, ...], facts: Facts) -> Facts:
        """Check statements one after the other; what holds at the end."""
        for statement in statements:
            if facts is self._values.facts:
                facts = self._after(statement)
                continue
            with self._values.under(facts):
                facts = self._after(statement)
        return facts

    def _after(self, statement: typed.Statement) -> Facts:
        """Check a statement. After it holds what it assumes, or that a branch which leaves was not
        taken."""
        if isinstance(statement, typed.Block) and not statement.is_refused:
            return self._block(statement.body, self._values.facts)
        self._statement(statement)
        match statement:
            case typed.Assume(condition=condition):
                return self._conditions.learnt(condition, holds=True)
            case typed.If(condition=condition, body=(*_, typed.Return() | typed.Continue())):
                return self._conditions.learnt(condition, holds=False)
            case _:
                return self._values.facts

    def _statement(self, statement: typed.Statement) -> None:
        for access in _accesses(statement):
            self._expression(access)
        place = _stored(statement)
        if place is not None:
            self._access(place.pointer, place.index, size_of(place.type), statement)
        match statement:
            case typed.LoadInto(pointer=pointer, index=index, lanes=lanes):
                assert isinstance(pointer.type, PointerType)
                size = lanes * size_of(pointer.type.element)
                self._access(pointer, index, size, statement)
            case typed.If(condition=condition, body=body, otherwise=otherwise):
                self._block(body, self._conditions.learnt(condition, holds=True))
                self._block(otherwise, self._conditions.learnt(condition, holds=False))
            case typed.While(condition=condition, body=body):
                self._block(body, self._conditions.learnt(condition, holds=True))
            case typed.Block(is_refused=True):
                pass
            case _:
                for inner in bodies_of(statement):
                    self._block(inner, self._values.facts)

    def _expression(self, access: typed.Load | typed.Call) -> None:
        if isinstance(access, typed.Load):
            self._access(access.pointer, access.index, size_of(access.type), access)
            return
        callee = access.callee
        left = self._left.get(callee.symbol, ())
        if not (callee.assumptions or left) or _has_refused(access):
            return
        for condition in callee.assumptions:
            self._require(AssumptionNeed(access, condition))
        # One refusal a call: what else it lacks is likely the same.
        any(self._require(InnerNeed(access, pending)) for pending in left)

    def _access(
        self, pointer: typed.Expression, index: typed.Expression, size: int, at: typed.Typed
    ) -> None:
        if not isinstance(pointer.type, PointerType) or index.type is ERROR:
            return
        lanes = size // size_of(pointer.type.element)
        if lanes > 1:
            self._require(AccessNeed(pointer, index, size, lanes, at.span))

    # ------------------------------------------------------------------ judging

    def _require(self, need: Need) -> bool:
        """Judge what the body needs; leave it to the callers where it depends on them. Whether it
        was refused."""
        failure = self._judged(need)
        if failure is None:
            return False
        is_kernel = self._body.instance.is_kernel
        if not (is_kernel or failure.is_broken or failure.is_parted) and failure.said.blames:
            self._pending.append(Pending(self, self._values.facts, need))
            return False
        said = failure.said
        self._sink.report(
            need.problem(said, is_broken=failure.is_broken, is_parted=failure.is_parted)
        )
        return True

    def _judged(self, need: Need) -> Failure | None:
        match need:
            case AccessNeed(pointer=pointer, element=index, size=size):
                return self._judged_address(pointer, index, size)
            case AssumptionNeed(call=call, condition=condition):
                return self._judged_condition(call, condition)
            case InnerNeed(call=call, pending=pending):
                return self._judged_inner(call, pending)

    def _judged_address(
        self, pointer: typed.Expression, index: typed.Expression | None, size: int
    ) -> Failure | None:
        address = self._addresses.of(pointer, index, size)
        if address.parted is not None:
            note = Related(at=address.parted.span, message="this gives the place of each element")
            return Failure(Explanation("", (note,), "use `at`"), is_parted=True)
        if address.residue.zeros >= multiple_of(size).bits:
            return None
        if self._conditions.is_stated(pointer, index, size):
            return None
        assert isinstance(pointer.type, PointerType)
        element = size_of(pointer.type.element)
        return Failure(self._explainer.address(address, size, element))

    def _judged_condition(self, call: typed.Call, condition: typed.Expression) -> Failure | None:
        arguments = dict(zip(call.callee.parameters, call.arguments, strict=True))
        with self._addresses.given(arguments):
            holds = self._conditions.holds(condition)
            if holds:
                return None
            failure: Failure | None = None
            if isinstance(condition, typed.Builtin):
                pointer, index, wanted = self._conditions.alignment(condition)
                pointer = self._addresses.argument(pointer)
                if wanted is not None:
                    failure = self._judged_address(pointer, index, wanted)
        if failure is None:
            failure = Failure(Explanation("", (), _STATE_IT, blames=self._blamed(call, condition)))
        return failure._replace(is_broken=holds is False)

    def _blamed(self, call: typed.Call, condition: typed.Expression) -> tuple[Blame, ...]:
        """The parameters of this function that the arguments in a condition are made of."""
        arguments = dict(zip(call.callee.parameters, call.arguments, strict=True))
        return tuple(
            blame
            for inside in expressions_in(condition)
            if isinstance(inside, typed.Read) and inside.variable in arguments
            for blame in self._made_of(arguments[inside.variable])
        )

    def _made_of(self, argument: typed.Expression) -> tuple[Blame, ...]:
        found = depends_on(argument, self._values, self._body.instance.parameters)
        return () if found is None else (Blame(found, 0),)

    def _judged_inner(self, call: typed.Call, pending: Pending) -> Failure | None:
        owner = pending.owner
        numbers: dict[typed.Variable, Known] = {}
        bases: dict[typed.Variable, Residue] = {}
        arguments = dict(zip(call.callee.parameters, call.arguments, strict=True))
        for parameter, argument in arguments.items():
            if isinstance(parameter.type, PointerType):
                bases[parameter] = self._addresses.of(argument, None, 1).residue
            elif isinstance(parameter.type, ScalarType):
                key = ("variable", parameter.id)
                numbers[parameter] = self._values.value(argument)._replace(key=key)
        failure = owner.judged_with(numbers, bases, pending)
        if failure is None:
            return None
        explained = [self._explained(arguments[b.parameter], b) for b in failure.said.blames]
        if not explained:
            return failure._replace(said=failure.said._replace(advice=_STATE_IT))
        best = max(explained, key=lambda said: (said.is_stated, said.zeros))
        blames = tuple(blame for said in explained for blame in said.blames)
        return failure._replace(said=best._replace(blames=blames))

    def _explained(self, argument: typed.Expression, blame: Blame) -> Explanation:
        """What is not known of an argument."""
        if not blame.wanted:
            return Explanation("", (), _STATE_IT, blames=self._made_of(argument))
        if isinstance(argument.type, PointerType):
            address = self._addresses.of(argument, None, 1)
            return self._explainer.address(address, blame.wanted, size_of(argument.type.element))
        name = f"`{blame.parameter.name}`"
        return self._explainer.multiple(argument, blame.wanted, 1, name)

    def judged_with(
        self,
        numbers: Mapping[typed.Variable, Known],
        bases: Mapping[typed.Variable, Residue],
        pending: Pending,
    ) -> Failure | None:
        """A need of this body with what a caller knows of the arguments."""
        with self._values.called_with(numbers, bases), self._values.under(pending.facts):
            return self._judged(pending.need)

"""What a body does on every path: it returns, and assigns a shared value before it is read.

A variable broader than thread[1] is one value for several threads, so reading it before every path
has assigned it would read different leftovers in different threads (`docs/language.md`, "Locals").
"""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    MissingReturn,
    Unreachable,
)
from prismc.checker.types.context import is_boolean
from prismc.checker.types.errors import (
    ReadBeforeAssigned,
    UnsetArray,
)
from prismc.checker.types.model import ArrayType
from prismc.checker.types.walk import expressions_in, statement_operands
from prismc.diagnostics.problem import Problem, Related
from prismc.hardware.groups import THREAD
from prismc.source.span import Span

_CROSSED = (typed.Group, typed.Split, typed.Narrow, typed.Finish)

Assigned = frozenset[typed.Variable]


def check_flow(body: typed.Body) -> list[Problem]:
    """Problems of a body whose expressions are sound."""
    flow = _Flow(body)
    flow.run()
    return flow.problems


class _Flow:
    """Definite assignment, forward over the structured body. None is "does not get here"."""

    def __init__(self, body: typed.Body) -> None:
        self._body = body
        self.problems: list[Problem] = []
        # The states at the `break`s of each enclosing loop.
        self._breaks: list[list[Assigned]] = []
        self._watched: set[typed.Variable] = set()
        self._reported: set[typed.Variable] = set()
        # How many statements that no exit may cross nothing gets out of.
        self._crossed = 0

    def run(self) -> None:
        """Walk the body; a path that ends without a return is reported."""
        instance = self._body.instance
        end = self._statements(self._body.statements, frozenset())
        if end is None or not instance.results:
            return
        note = Related(at=instance.results[0].span, message="the result is declared here")
        self.problems.append(MissingReturn(at=instance.span, name=instance.name, related=(note,)))

    def _statements(
        self, statements: tuple[typed.Statement, ...], state: Assigned | None
    ) -> Assigned | None:
        exit_span: Span | None = None
        for statement in statements:
            if state is None:
                if exit_span is not None:
                    note = Related(at=exit_span, message="nothing goes past this line")
                    self.problems.append(Unreachable(at=statement.span, related=(note,)))
                return None
            crossed = self._crossed
            state = self._statement(statement, state)
            # An exit out of these is refused for what it crosses; what follows it is not at fault.
            self._crossed += state is None and isinstance(statement, _CROSSED)
            exit_span = statement.span if self._crossed == crossed else None
        return state

    def _statement(self, statement: typed.Statement, state: Assigned) -> Assigned | None:
        self._reads(statement, state)
        match statement:
            case typed.Return() | typed.Continue():
                return None
            case typed.Break():
                if self._breaks:  # what leaves a region of a pipeline is refused for that
                    self._breaks[-1].append(state)
                return None
            case typed.Declare(variable=variable, value=value):
                return self._declared(variable, value, state)
            case typed.Assign(place=place):
                return state | _whole(place)
            case typed.AssignSeveral(places=places):
                return state.union(*(_whole(place) for place in places))
            case typed.Asm(outputs=outputs):
                return state.union(*(_whole(place) for place in outputs))
            case typed.If(body=body, otherwise=otherwise):
                return _join(self._statements(body, state), self._statements(otherwise, state))
            case typed.Finish(body=body):
                self._statements(body, state)
                return state
            case typed.While() | typed.For():
                return self._loop(statement, state)
            case typed.Split(arms=arms):
                return self._split(statement, arms, state)
            case typed.Block(body=body) | typed.Group(body=body) | typed.Narrow(body=body):
                return self._statements(body, state)
            case _:
                return state

    def _declared(
        self, variable: typed.Variable, value: typed.Expression | None, state: Assigned
    ) -> Assigned:
        if value is not None or variable.perspective == THREAD:
            return state
        if isinstance(variable.type, ArrayType):
            self.problems.append(
                UnsetArray(at=variable.span, name=variable.name, perspective=variable.perspective)
            )
            return state
        self._watched.add(variable)
        return state - {variable}

    def _reads(self, statement: typed.Statement, state: Assigned) -> None:
        if not self._watched:
            return
        if isinstance(statement, typed.Assign) and statement.operator:
            self._read_all(statement.span, _whole(statement.place), state)
        for operand in statement_operands(statement):
            for expression in expressions_in(operand):
                if isinstance(expression, typed.Read):
                    self._read_all(expression.span, frozenset((expression.variable,)), state)

    def _read_all(self, at: Span, variables: Assigned, state: Assigned) -> None:
        for variable in variables & self._watched - state - self._reported:
            self._reported.add(variable)
            note = Related(
                at=variable.span,
                message=f"`{variable.name}` is {variable.perspective}, declared without a value",
            )
            self.problems.append(ReadBeforeAssigned(at=at, name=variable.name, related=(note,)))

    def _loop(self, loop: typed.While | typed.For, state: Assigned) -> Assigned | None:
        """The body may run zero times, except that `while true` ends at a `break`."""
        self._breaks.append([])
        self._statements(loop.body, state)
        breaks = self._breaks.pop()
        if isinstance(loop, typed.While) and _is_always(loop.condition):
            return _meet_all(breaks)
        return _meet_all([state, *breaks])

    def _split(
        self, split: typed.Split, arms: tuple[typed.Arm, ...], state: Assigned
    ) -> Assigned | None:
        """Every arm runs, by its own threads; those left over assign nothing."""
        states = [self._statements(arm.body, state) for arm in arms]
        if sum(arm.to.size for arm in arms) < split.available:
            states.append(state)
        return _meet_all([known for known in states if known is not None]) or state


def _whole(place: typed.Place) -> Assigned:
    return frozenset((place.variable,)) if isinstance(place, typed.VariablePlace) else frozenset()


def _join(one: Assigned | None, other: Assigned | None) -> Assigned | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _meet_all(states: list[Assigned]) -> Assigned | None:
    return frozenset.intersection(*states) if states else None


def _is_always(condition: typed.Expression) -> bool:
    return (
        isinstance(condition, typed.Constant)
        and is_boolean(condition.type)
        and condition.value is True
    )

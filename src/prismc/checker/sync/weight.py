"""How much code is: loops of pipelines when they are unrolled, and what lies between two places.

Unrolled, a step knows its slot: addresses and mbarriers are constants. A loop that is larger than
the instruction caches near the schedulers gains nothing from that, and is written as one step
(`roll.py`). Threads that need not wait gain by as much as the others still have to do (`early.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.sync.plan import Position, Where
from prismc.checker.sync.text_order import TextOrder
from prismc.checker.types import typed
from prismc.checker.types.model import INT
from prismc.checker.types.walk import (
    bodies_of,
    calls_in,
    expressions_in,
    places_of,
    statement_operands,
    statements_in,
)

# A loop that becomes more instructions is not unrolled, see `_weight`. (An SM keeps about 32 KiB of
# them, 16 bytes each, for its warps; half of that leaves room for what is around the loop.)
LARGE = 1000

Bodies = Mapping[str, typed.Body]


def loops_in(body: typed.Body) -> Iterator[typed.For]:
    """The counted loops of a function."""
    return (one for one in body.all_statements if isinstance(one, typed.For))


def is_large(loop: typed.For, bodies: Bodies) -> bool:
    """Whether the loop of a pipeline is too large to be unrolled."""
    return unrolled_work(loop, bodies) > LARGE


def unrolled_work(loop: typed.For, bodies: Bodies) -> int:
    """About how many instructions the loop of a pipeline is unrolled, see `_weight`."""
    return _weight(loop.body, bodies, {})


def loops_with_early_ends(body: typed.Body, bodies: Bodies) -> frozenset[int]:
    """The ids of the loops of pipelines that may end behind each of their steps: as one step they
    do, but unrolled they run on to the last."""
    return frozenset(
        loop.id
        for loop in loops_in(body)
        if loop.turns is not None and loop.turns.has_tail and is_large(loop, bodies)
    )


def _weight(
    body: tuple[typed.Statement, ...], bodies: Mapping[str, typed.Body], known: dict[str, int]
) -> int:
    """About how many instructions statements become, without those for indices: accesses to memory,
    arithmetic of other types than int, and `asm`, in the functions that they call too."""
    total = 0
    for statement in statements_in(body):
        total += _own_work(statement)
        for symbol in _called(statement):
            total += _weight_of(symbol, bodies, known)
    return total


def _own_work(statement: typed.Statement) -> int:
    """What a statement itself becomes, without those inside it and the functions that it calls."""
    total = int(isinstance(statement, typed.Asm | typed.LoadInto))
    total += sum(isinstance(place, typed.MemoryPlace) for place in places_of(statement))
    return total + sum(
        _is_work(expression)
        for operand in statement_operands(statement)
        for expression in expressions_in(operand)
    )


def _called(statement: typed.Statement) -> Iterator[str]:
    """The functions that a statement itself calls."""
    for operand in statement_operands(statement):
        for expression in expressions_in(operand):
            if isinstance(expression, typed.Call):
                yield expression.callee.symbol


def _is_work(expression: typed.Expression) -> bool:
    match expression:
        case typed.Load():
            return True
        case typed.Binary() | typed.Unary() | typed.Convert() | typed.Builtin():
            return expression.type != INT
        case _:
            return False


def _weight_of(symbol: str, bodies: Mapping[str, typed.Body], known: dict[str, int]) -> int:
    if symbol not in known:
        body = bodies.get(symbol)
        known[symbol] = 0 if body is None else _weight(body.statements, bodies, known)
    return known[symbol]


class Work:
    """How much the threads of one function have to do between two places of it, in instructions
    that they issue: those of `_weight`, each as often as it certainly runs."""

    def __init__(self, body: typed.Body, bodies: Bodies) -> None:
        self._bodies = bodies
        self._known: dict[str, int] = {}
        self._body = body.statements
        self._order = TextOrder(body)
        self._loops = {
            each.id: each
            for each in body.all_statements
            if isinstance(each, typed.For | typed.While)
        }
        self._pipelines = {
            each.id
            for loop in self._loops.values()
            if isinstance(loop, typed.For) and loop.turns is not None
            for each in statements_in(loop.body)
        }

    def is_in_pipeline(self, place: Position) -> bool:
        """Whether a place is one of a pipeline's steps, which are to be alike."""
        return place.anchor in self._pipelines

    def is_whole(self, place: Position) -> bool:
        """Whether nothing stands inside the statement at a place."""
        first, end = self._order.extent[place.anchor]
        return end == first + 1

    def start_of(self, loop: int) -> Position:
        """The place in front of the first statement of a loop's body."""
        return Position(where=Where.BEFORE, anchor=self._loops[loop].body[0].id)

    def between(self, start: Position, end: Position) -> int:
        """The instructions of each thread from one place to a later one of the same code."""
        return self._inside(self._body, self._order.at(start), self._order.at(end))

    def is_between(self, place: Position, start: Position, end: Position) -> bool:
        """Whether a place is at one of two others, or between them in the text."""
        return self._order.at(start) <= self._order.at(place) <= self._order.at(end)

    def calls_between(self, start: Position, end: Position) -> Iterator[typed.Call]:
        """The calls from one place to a later one."""
        first, behind = self._order.at(start), self._order.at(end)
        for statement in statements_in(self._body):
            if first <= self._order.extent[statement.id][0] < behind:
                yield from calls_in((statement,))

    def _inside(self, statements: tuple[typed.Statement, ...], start: int, end: int) -> int:
        total = 0
        for statement in statements:
            first, behind = self._order.extent[statement.id]
            if start <= first and behind <= end:
                total += self._of(statement)
            elif first < end and start < behind:
                total += sum(self._inside(body, start, end) for body in bodies_of(statement))
        return total

    def _of(self, statement: typed.Statement) -> int:
        """What a thread has to do at least: of a choice the side with less, of arms the one with
        most (somebody takes it), of a loop with unknown bounds one iteration."""
        total = _own_work(statement) + sum(map(self._of_function, _called(statement)))
        inside = [sum(map(self._of, body)) for body in bodies_of(statement)]
        match statement:
            case typed.If():
                return total + min(inside)
            case typed.Split():
                return total + max(inside, default=0)
            case typed.For(start=start, stop=stop, step=step):
                return total + sum(inside) * _trips(start, stop, step)
            case _:
                return total + sum(inside)

    def _of_function(self, symbol: str) -> int:
        if symbol not in self._known:
            body = self._bodies.get(symbol)
            self._known[symbol] = 0 if body is None else sum(map(self._of, body.statements))
        return self._known[symbol]


def _trips(start: typed.Expression, stop: typed.Expression, step: typed.Expression) -> int:
    """How often a loop goes around, 1 if its bounds are not constant."""
    match start, stop, step:
        case (
            typed.Constant(value=int(first)),
            typed.Constant(value=int(end)),
            typed.Constant(value=int(by)),
        ) if by:
            return len(range(first, end, by))
        case _:
            return 1

"""Proofs by the SMT solver z3 that two accesses never touch one element (`--footprints smt`).

Evaluation decides what is known for every thread; this is for what depends on run-time values:
`t / n * m + t % n` with m >= n. Both accesses are written down as integers with the conditions
around them, and z3 is asked for two threads that meet. Whatever cannot be written down may be
anything, so only "impossible" is an answer; the solver gives up after a while. Integers do not
wrap, as in the rest of the analysis.

Imported only when asked for: z3 is an extra (`prismc[smt]`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3

from prismc.checker.sync.asked import Asked, Guard, Question, World
from prismc.checker.sync.coverage import ranges_of
from prismc.checker.sync.definitions import Definition
from prismc.checker.sync.forms import GRID_WIDE, width_of
from prismc.checker.types import typed
from prismc.checker.types.model import ScalarType, Type
from prismc.checker.types.numbers import integer_range
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.hardware.scalars import Kind

# Steps of the solver for one question, a second or two. Time would make answers differ from run to
# run.
MOST_STEPS = 4_000_000
# Products of unknowns are what is asked about; where one strategy gets lost, the other may not.
_TACTICS = ("qfnia", "smt")


class Z3Prover:
    """Asks z3; remembers nothing."""

    def never_meet(self, question: Question) -> bool:
        """Whether it is proved that the two never touch one element."""
        constraints = tuple(_Pair(question).constraints())
        return any(_is_impossible(tactic, constraints) for tactic in _TACTICS)


PROVER = Z3Prover()


def _is_impossible(tactic: str, constraints: tuple[Any, ...]) -> bool:
    # In a context of its own: what was asked before must not change how far the steps reach.
    context = z3.Context()
    solver = z3.Tactic(tactic, context).solver()
    solver.set("rlimit", MOST_STEPS)
    solver.add(*(constraint.translate(context) for constraint in constraints))
    return bool(solver.check() == z3.unsat)


class _Unknown(Exception):
    """An expression that cannot be written down."""


class _Pair:
    """Both accesses and what lies between them."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self.shared: dict[object, Any] = {}
        self._sides = (_Side(self, question.earlier, "1"), _Side(self, question.later, "2"))

    def constraints(self) -> Iterator[Any]:
        """What holds if the two meet."""
        first, second = self._sides
        try:
            mine, other = first.element(), second.element()
        except _Unknown:
            return
        yield mine - other < self._question.later.lanes
        yield other - mine < self._question.earlier.lanes
        if self._question.of_blocks:
            yield first.block != second.block
        else:
            yield first.block == second.block
            yield first.thread != second.thread
        for side in self._sides:
            yield from side.conditions()
        yield from self._iterations()

    def is_shared(self, width: int, loops: tuple[int, ...]) -> bool:
        """Whether a value of a perspective so wide, settled inside these loops, is one for both."""
        question = self._question
        if question.of_blocks:
            return width >= GRID_WIDE and not loops
        crossed = question.ended | {question.around}
        return width >= question.width and crossed.isdisjoint(loops)

    def _iterations(self) -> Iterator[Any]:
        """How far apart the iterations of the loop are whose back edge lies between."""
        loop, question = self._question.around, self._question
        if loop is None:
            return
        first, second = (side.iterations.get(loop) for side in self._sides)
        if first is not None and second is not None:
            yield second >= first + question.least
            if question.most:
                yield second <= first + question.most


class _Side:
    """One access: its thread, its values of what is not the same for both."""

    def __init__(self, pair: _Pair, asked: Asked, name: str) -> None:
        self._pair = pair
        self._asked = asked
        self._world: World = asked.world
        self._name = name
        self.thread = z3.Int(f"thread{name}")
        self.block = z3.Int(f"block{name}")
        # The iteration number of each counted loop that was met.
        self.iterations: dict[int, Any] = {}
        self._facts: list[Any] = []
        self._own: dict[object, Any] = {}
        self._bound: dict[typed.Variable, Any] = {}
        self._loops: tuple[int, ...] = asked.loops

    def element(self) -> Any:
        """The first element of the access, as an index into the root."""
        index = self._number(self._asked.index)
        for view, loops in reversed(self._asked.views):
            self._loops = loops
            if view.function is not None:
                self._bound[view.function.parameter] = index
                index = self._number(view.function.body)
            elif view.offset is not None:
                index = index + self._number(view.offset)
        self._loops = self._asked.loops
        return index

    def conditions(self) -> Iterator[Any]:
        """Who the thread may be, and what holds where the access is."""
        ranges = ranges_of(self._asked.threads)
        yield z3.Or(*(z3.And(start <= self.thread, self.thread < end) for start, end in ranges))
        yield self.block >= 0
        for guard in self._asked.guards:
            yield from self._guard(guard)
        yield from self._facts

    def _guard(self, guard: Guard) -> Iterator[Any]:
        self._loops = guard.loops
        try:
            condition = self._truth(guard.condition)
        except _Unknown:
            return
        yield condition if guard.holds else z3.Not(condition)

    # ----------------------------------------------------------------------- variables

    def _variable(self, read: typed.Read) -> Any:
        variable = read.variable
        if variable in self._bound:
            return self._bound[variable]
        definitions = self._world.definitions
        loop = definitions.counters.get(variable)
        definition = definitions.of(variable)
        if loop is not None and definition is not None:
            return self._counter(loop, definition)
        width = width_of(variable.perspective)
        if definition is None:
            return self._symbol(("changes", read.id), width, self._loops, variable.type)
        if definition.value is not None:
            try:
                return self._defined(definition.value, definition.loops)
            except _Unknown:
                pass
        return self._symbol(("value", variable.id), width, definition.loops, variable.type)

    def _defined(self, value: typed.Expression, loops: tuple[int, ...]) -> Any:
        outer, self._loops = self._loops, loops
        try:
            return self._number(value)
        finally:
            self._loops = outer

    def _counter(self, loop: typed.For, definition: Definition) -> Any:
        """A loop's counter: so many steps from its start, and before its end."""
        width = width_of(loop.variable.perspective)
        is_shared = self._pair.is_shared(width, definition.loops)
        values = self._pair.shared if is_shared else self._own
        key = ("iteration", loop.id)
        if key not in values:
            values[key] = z3.Int(f"iteration{loop.id}" + ("" if is_shared else f"_{self._name}"))
        self.iterations[loop.id] = values[key]
        outer = definition.loops[:-1]
        try:
            start, step = self._defined(loop.start, outer), self._defined(loop.step, outer)
            counter = z3.simplify(start + step * values[key])
            self._facts.append(values[key] >= 0)
            self._facts.append(step > 0)
            self._facts.append(counter < self._defined(loop.stop, outer))
        except _Unknown:
            return self._symbol(("counter", loop.id), width, definition.loops, loop.variable.type)
        return counter

    def _symbol(self, key: object, width: int, loops: tuple[int, ...], of: Type) -> Any:
        """A value that is not known, in the range of its type."""
        is_shared = self._pair.is_shared(width, loops)
        values = self._pair.shared if is_shared else self._own
        if key not in values:
            values[key] = z3.Int(f"value{len(values)}" + ("" if is_shared else f"_{self._name}"))
            if isinstance(of, ScalarType) and of.scalar.kind is Kind.UNSIGNED:
                low, high = integer_range(of.scalar)
                self._facts.append(z3.And(low <= values[key], values[key] <= high))
        return values[key]

    # ----------------------------------------------------------------------- expressions

    def _number(self, expression: typed.Expression) -> Any:
        match expression:
            case typed.Constant(value=int(value)):
                return z3.IntVal(int(value))
            case typed.Read():
                return self._variable(expression)
            case typed.Unary(operator="-", operand=operand):
                return -self._number(operand)
            case typed.Binary(operator=sign, left=left, right=right) if sign in _ARITHMETIC:
                return _ARITHMETIC[sign](self._number(left), self._number(right))
            case typed.Binary(operator=sign, left=left, right=right) if sign in _POWERS:
                return self._by_power(sign, left, right)
            case typed.Conditional(condition=condition, value=value, otherwise=otherwise):
                yes, no = self._number(value), self._number(otherwise)
                return z3.If(self._truth(condition), yes, no)
            case typed.Convert(operand=operand, type=target):
                return self._converted(operand, target)
            case typed.Builtin(name="min" | "max" as name, arguments=(left, right)):
                mine, other = self._number(left), self._number(right)
                return z3.If((mine < other) == (name == "min"), mine, other)
            case typed.UnitIndex(of=of, within=within) if of is not None:
                return self._unit_index(of, within)
            case typed.UnitCount(of=of):
                count = self._symbol(("count", of), GRID_WIDE, (), expression.type)
                self._facts.append(count >= 1)
                if of == BLOCK and self._world.threads == self._world.block_threads:
                    self._facts.append(self.block < count)
                return count
            case typed.Call(callee=callee) if callee.kind is typed.InstanceKind.EXPRESSION:
                return self._inlined(expression)
            case _:
                raise _Unknown

    def _truth(self, expression: typed.Expression) -> Any:
        match expression:
            case typed.Constant(value=value):
                return z3.BoolVal(bool(value))
            case typed.Unary(operator="not", operand=operand):
                return z3.Not(self._truth(operand))
            case typed.Logical(operator=sign, left=left, right=right):
                join = z3.And if sign == "and" else z3.Or
                return join(self._truth(left), self._truth(right))
            case typed.Binary(operator=sign, left=left, right=right) if sign in _COMPARISONS:
                return _COMPARISONS[sign](self._number(left), self._number(right))
            case _:
                raise _Unknown

    def _by_power(self, sign: str, left: typed.Expression, right: typed.Expression) -> Any:
        """Shifts by constants and masks of low bits, of numbers that are not negative."""
        if not isinstance(right, typed.Constant) or not isinstance(right.value, int):
            raise _Unknown
        number, bits = self._number(left), int(right.value)
        if sign == "<<" and 0 <= bits < 63:
            return number * (1 << bits)
        if sign == ">>" and 0 <= bits < 63:
            return number / (1 << bits)  # z3 rounds down, as an arithmetic shift does
        if sign == "&" and bits > 0 and bits & (bits + 1) == 0:
            return number % (bits + 1)  # of two's complement, too
        raise _Unknown

    def _converted(self, operand: typed.Expression, target: Type) -> Any:
        source = operand.type
        if not isinstance(source, ScalarType) or not isinstance(target, ScalarType):
            raise _Unknown
        low, high = integer_range(target.scalar) if target.scalar.is_integer else (0, -1)
        if not source.scalar.is_integer:
            raise _Unknown
        least, most = integer_range(source.scalar)
        if low <= least and most <= high:
            return self._number(operand)
        number = self._number(operand)
        kept = self._own[operand] = z3.Int(f"value{len(self._own)}_{self._name}")
        self._facts.append(z3.Implies(z3.And(low <= number, number <= high), kept == number))
        return kept

    def _unit_index(self, of: Perspective, within: Perspective) -> Any:
        block_threads = self._world.block_threads
        if of.level is Level.THREAD and within.level is not Level.GRID:
            is_threads = within.level is Level.THREAD
            size = within.size if is_threads else within.size * block_threads
            inside = self.thread % size if 0 < size < self._world.threads else self.thread
            return inside if of.size == 1 else inside / of.size
        if of.level is Level.GRID:
            return z3.IntVal(0)
        size = of.size if of.level is Level.THREAD else of.size * block_threads
        if within.level is Level.GRID and size == self._world.threads:
            return self.block
        if within.level is not Level.GRID:
            return self.thread / size % (within.size // of.size) if size else z3.IntVal(0)
        if size and self._world.threads % size == 0:
            return self.block * (self._world.threads // size) + self.thread / size
        raise _Unknown

    def _inlined(self, call: typed.Call) -> Any:
        """The result of an expression function that is one `return`."""
        body = self._world.bodies.get(call.callee.symbol)
        if body is None or len(body.statements) != 1:
            raise _Unknown
        statement = body.statements[0]
        if not isinstance(statement, typed.Return) or len(statement.values) != 1:
            raise _Unknown
        values = [self._number(argument) for argument in call.arguments]
        self._bound.update(zip(call.callee.parameters, values, strict=True))
        return self._number(statement.values[0])


def _divided(left: Any, right: Any) -> Any:
    """Division as the language has it: towards zero. z3's remainder is never negative."""
    return z3.If(left >= 0, left / right, -(-left / right))


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divided,
    "%": lambda left, right: left - right * _divided(left, right),
}
_POWERS = ("<<", ">>", "&")
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}

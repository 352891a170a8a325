"""Evaluates index expressions for all threads at once, with symbols for what is not known.

A variable that has one value is that value; one that changes, or that comes from memory, is a
symbol, if all threads that are compared read the same. Integers are exact here; where a type wraps,
known values wrap with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import invert, sub

from prismc.checker.sync.definitions import Definition, Definitions, only_statement
from prismc.checker.sync.forms import (
    ALWAYS,
    Form,
    Origin,
    combine,
    constant,
    known,
    natural_value_if,
    plus,
    scaled,
    show_operand,
    width_of,
)
from prismc.checker.sync.operations import (
    BUILTINS,
    bound_of,
    converted,
    folded,
    known_map,
    range_in,
    split,
    sum_or_product,
    wrapped,
)
from prismc.checker.sync.symbols import Symbols
from prismc.checker.types import typed
from prismc.checker.types.fold import COMPARISONS
from prismc.checker.types.walk import operands

# Iteration numbers of loops with constant bounds, by the id of their statement.
Counters = Mapping[int, int]
Bodies = Mapping[str, typed.Body]

_MOST_TRIPS = 256


class Evaluator:
    """Evaluates the expressions of one instance with `threads` threads; `block_threads` is how many
    a block has."""

    def __init__(
        self,
        definitions: Definitions,
        bodies: Bodies,
        threads: int,
        block_threads: int,
    ) -> None:
        self._definitions = definitions
        self._bodies = bodies
        self.symbols = Symbols(threads, block_threads)
        self._bound: dict[typed.Variable, Form | None] = {}
        self._cache: dict[tuple[int, tuple[tuple[int, int], ...]], Form | None] = {}
        self._depends: dict[typed.Variable, frozenset[int]] = {}
        # After how many iterations remainders of a loop's counter come again, by the loop's id.
        self.cycles: Mapping[int, int] = {}
        self._loops: tuple[int, ...] = ()
        self._has_ranges = False
        self._below: dict[typed.Variable, int] = {}
        self._for = {loop.id: loop for loop in definitions.counters.values()}

    # ----------------------------------------------------------------------- questions

    def form(
        self, expression: typed.Expression, counters: Counters, loops: tuple[int, ...]
    ) -> Form | None:
        """The value of an expression that stands inside `loops`; None if nothing is known.

        A part of it of which only the range is known is a symbol, the same for no two accesses.
        """
        return self._inside(loops, expression, counters, has_ranges=True)

    def applied(
        self,
        function: typed.IndexFunction,
        argument: Form | None,
        counters: Counters,
        loops: tuple[int, ...],
    ) -> Form | None:
        """`function` of a partition's `by`, for one index."""
        self._bound[function.parameter] = argument
        value = self._inside(loops, function.body, counters)
        del self._bound[function.parameter]
        return value

    def trips(self, loop: typed.For) -> tuple[int, int, int] | None:
        """First value, step and number of iterations of a loop with constant bounds."""
        values = [self._constant(part) for part in (loop.start, loop.stop, loop.step)]
        start, stop, step = values
        if start is None or stop is None or not step:
            return None
        trips = max(0, -(-(stop - start) // step))
        return (start, step, trips) if trips <= _MOST_TRIPS else None

    def constant_of(self, expression: typed.Expression) -> int | None:
        """The value of an expression that is the same always."""
        return self._constant(expression)

    def counts_up(self, loop: typed.For) -> bool:
        """Whether a loop counts upwards from a constant in constant steps, to an end that is not
        constant."""
        start, step = self._constant(loop.start), self._constant(loop.step)
        return (
            self.trips(loop) is None and (start or 0) >= 0 and start is not None and (step or 0) > 0
        )

    def counted_loops(self, expression: typed.Expression) -> frozenset[int]:
        """The loops on whose counters an expression's value depends."""
        match expression:
            case typed.Read(variable=variable):
                return self._loops_of(variable)
            case typed.Constant():
                return frozenset()
            case _:
                return frozenset().union(*map(self.counted_loops, operands(expression)))

    def below_end(self, loop: int, counters: Counters) -> Form | None:
        """What is at least 0 in the body of a loop that counts up: `stop - 1 - i`; None for others,
        and for one whose counter is among `counters`."""
        statement = self._for.get(loop)
        if statement is None or loop in counters or (self._constant(statement.step) or 0) <= 0:
            return None
        definition = self._definitions.of(statement.variable)
        assert definition is not None, "a loop variable is never assigned"
        stop = self._inside(definition.loops[:-1], statement.stop, counters)
        counter = self._counter(statement, counters)
        if stop is None or counter is None:
            return None
        room = plus(stop, scaled(counter, -1))
        return None if room is None else plus(room, constant(-1))

    # ----------------------------------------------------------------------- variables

    def _constant(self, expression: typed.Expression) -> int | None:
        value = self._form(expression, {})
        number = None if value is None else known(value)
        return number if isinstance(number, int) else None

    def _loops_of(self, variable: typed.Variable) -> frozenset[int]:
        if variable not in self._depends:
            self._depends[variable] = frozenset()
            loop = self._definitions.counters.get(variable)
            definition = self._definitions.of(variable)
            if loop is not None:
                found = self.counted_loops(loop.start) | {loop.id}
            elif variable in self._definitions.turning:
                found = frozenset((self._definitions.turning[variable].loop,))
            elif definition is not None and definition.value is not None:
                found = self.counted_loops(definition.value)
            else:
                found = frozenset()
            self._depends[variable] = found
        return self._depends[variable]

    def _variable(self, read: typed.Read, counters: Counters) -> Form | None:
        variable = read.variable
        if variable in self._bound:
            return self._bound[variable]
        loop = self._definitions.counters.get(variable)
        if loop is not None:
            return self._counter(loop, counters)
        definition = self._definitions.of(variable)
        width = width_of(variable.perspective)
        turning = self._definitions.turning.get(variable)
        turned = None if turning is None else turning.value(read.id, counters)
        if turned is not None:
            return constant(turned)
        if definition is None:
            # It changes: this reading of it is a value of its own.
            return self.symbols.of(variable.name, (read.id,), width, self._loops)
        if definition.value is not None:
            value = self._defined(variable, definition.value, definition.loops, counters)
            if value is not None:
                return value
        below = self._bound_of(variable, definition)
        return self.symbols.of(variable.name, (variable.id,), width, definition.loops, below=below)

    def _bound_of(self, variable: typed.Variable, definition: Definition) -> int:
        """What a variable with one value from 0 on is less than; 0 if that is not known."""
        if definition.value is None:
            return 0
        if variable not in self._below:
            value = self._inside(definition.loops, definition.value, {}, has_ranges=True)
            low, high = range_in(value, definition.value.type) or (-1, -1)
            self._below[variable] = high + 1 if low >= 0 else 0
        return self._below[variable]

    def _defined(
        self,
        variable: typed.Variable,
        value: typed.Expression,
        loops: tuple[int, ...],
        counters: Counters,
    ) -> Form | None:
        depends = sorted(self._loops_of(variable))
        at = tuple((loop, counters[loop]) for loop in depends if loop in counters)
        key = (variable.id, at)
        if key not in self._cache:
            self._cache[key] = self._inside(loops, value, counters)
        return self._cache[key]

    def _counter(self, loop: typed.For, counters: Counters) -> Form | None:
        definition = self._definitions.of(loop.variable)
        assert definition is not None, "a loop variable is never assigned"
        trips = self.trips(loop)
        if trips is not None and loop.id in counters:
            return constant(trips[0] + trips[1] * counters[loop.id])
        if loop.id in counters:
            return self._turning(loop, counters[loop.id], definition.loops)
        start = self._inside(definition.loops[:-1], loop.start, counters)
        step = self._constant(loop.step)
        if start is not None and step is not None:
            return self._stepping(loop, start, step, definition.loops)
        # A step that is not constant counts up (decision 0043).
        by = None if start is None else self._inside(definition.loops[:-1], loop.step, counters)
        return self.symbols.of(
            loop.variable.name,
            (loop.variable.id,),
            width_of(loop.variable.perspective),
            definition.loops,
            step=1 if step is None else step,
            is_regular=step is not None,
            natural_if=natural_value_if(start) if step is None else None,
            origin=None if start is None or by is None else Origin("range", (start, by)),
        )

    def _stepping(
        self, loop: typed.For, start: Form, step: int, loops: tuple[int, ...]
    ) -> Form | None:
        """A counter as what it starts from and so many steps: `t + 32 * i` of `range(t, n, 32)`."""
        is_plain = not start and step == 1
        steps = self.symbols.of(
            loop.variable.name if is_plain else f"steps of {loop.variable.name}",
            ("steps", loop.variable.id),
            width_of(loop.variable.perspective),
            loops,
            step=1,
            natural_if=ALWAYS,
        )
        return plus(start, scaled(steps, step))

    def _turning(self, loop: typed.For, rest: int, loops: tuple[int, ...]) -> Form | None:
        """The counter of a loop that is `rest` iterations after a multiple of its cycle."""
        start, step = self._constant(loop.start), self._constant(loop.step)
        assert start is not None, "only loops from a constant have cycles"
        assert step is not None, "only loops in constant steps have cycles"
        turns = self.symbols.of(
            f"cycles of {loop.variable.name}",
            ("cycles", loop.variable.id),
            width_of(loop.variable.perspective),
            loops,
            natural_if=ALWAYS,
        )
        return plus(scaled(turns, step * self.cycles[loop.id]), constant(start + step * rest))

    # ----------------------------------------------------------------------- expressions

    def _inside(
        self,
        loops: tuple[int, ...],
        expression: typed.Expression,
        counters: Counters,
        *,
        has_ranges: bool = False,
    ) -> Form | None:
        """The value inside `loops`; with `has_ranges` parts may be symbols of which no more than
        their range is known."""
        outer = self._loops, self._has_ranges
        self._loops, self._has_ranges = loops, has_ranges
        value = self._form(expression, counters)
        self._loops, self._has_ranges = outer
        return value

    def _form(self, expression: typed.Expression, counters: Counters) -> Form | None:
        match expression:
            case typed.Constant(value=int(value)):
                return constant(int(value))
            case typed.Read():
                return self._variable(expression, counters)
            case typed.Unary():
                return self._unary(expression, counters)
            case typed.Binary():
                return self._binary(expression, counters)
            case typed.Logical(operator=sign, left=left, right=right):
                pick: Callable[[int, int], int] = min if sign == "and" else max
                return self._known_of(pick, (left, right), counters)
            case typed.Conditional():
                return self._conditional(expression, counters)
            case typed.Convert(operand=operand, type=target):
                return converted(self._form(operand, counters), operand.type, target)
            case typed.Builtin(name=name, arguments=arguments) if name in BUILTINS:
                return self._known_of(BUILTINS[name], arguments, counters)
            case typed.UnitIndex(of=of, within=within):
                return self.symbols.unit_index(of, within)
            case typed.UnitCount(of=of):
                return self.symbols.unit_count(of)
            case typed.Call(callee=callee) if callee.kind is typed.InstanceKind.EXPRESSION:
                return self._inlined(expression, counters)
            case _:
                return None

    def _unary(self, expression: typed.Unary, counters: Counters) -> Form | None:
        value = self._form(expression.operand, counters)
        if value is None:
            return None
        if expression.operator == "-":
            return wrapped(scaled(value, -1), expression.type)
        if expression.operator == "not":
            return known_map(lambda number: int(not number), (value,))
        inverted = known_map(invert, (value,))
        return None if inverted is None else wrapped(inverted, expression.type)

    def _binary(self, expression: typed.Binary, counters: Counters) -> Form | None:
        left = self._form(expression.left, counters)
        right = self._form(expression.right, counters)
        below = bound_of(expression.operator, left, right, expression.type)
        result = None
        if left is not None and right is not None:
            result = self._combined(expression, left, right, below)
        if result is None and below and self._has_ranges and not self._bound:
            # Another execution, and another call of what has it in its effects, has another value.
            shown = f"({show_operand(left)} {expression.operator} {show_operand(right)})"
            return self.symbols.of(
                shown, ("part", expression.id, below), 0, self._loops, below=below
            )
        return result

    def _combined(
        self, expression: typed.Binary, left: Form, right: Form, below: int
    ) -> Form | None:
        sign = expression.operator
        if sign in COMPARISONS:
            compare = COMPARISONS[sign]
            return known_map(lambda a, b: int(compare(a, b)), (left, right))
        result = sum_or_product(sign, left, right)
        if result is not None:
            result = wrapped(result, expression.type)
        else:
            result = folded(sign, left, right, expression.type)
            result = split(sign, left, right) if result is None else result
        if result is not None:
            return result
        return self.symbols.operation(sign, left, right, expression.type, below)

    def _known_of(
        self,
        operation: Callable[..., int],
        arguments: tuple[typed.Expression, ...],
        counters: Counters,
    ) -> Form | None:
        values = [self._form(argument, counters) for argument in arguments]
        forms = [value for value in values if value is not None]
        return known_map(operation, tuple(forms)) if len(forms) == len(values) else None

    def _conditional(self, expression: typed.Conditional, counters: Counters) -> Form | None:
        value = self._form(expression.value, counters)
        if expression.is_guard:
            return value
        condition = self._form(expression.condition, counters)
        otherwise = self._form(expression.otherwise, counters)
        chosen = None if condition is None else known(condition)
        if chosen is None or value is None or otherwise is None:
            return None
        flag = combine(lambda a, b: int(a != b), chosen, 0)
        rest = combine(sub, 1, flag)
        return plus(scaled(value, flag), scaled(otherwise, rest))

    def _inlined(self, call: typed.Call, counters: Counters) -> Form | None:
        """The result of an expression function that is one `return`."""
        body = self._bodies.get(call.callee.symbol)
        statement = None if body is None else only_statement(body.statements)
        if not isinstance(statement, typed.Return) or len(statement.values) != 1:
            return None
        values = [self._form(argument, counters) for argument in call.arguments]
        parameters = call.callee.parameters
        self._bound.update(zip(parameters, values, strict=True))
        result = self._form(statement.values[0], counters)
        for parameter in parameters:
            del self._bound[parameter]
        return result

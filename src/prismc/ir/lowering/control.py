"""Control flow: regions, and the variables that they carry.

A variable that is declared outside a region and assigned inside becomes a result of the operation
that owns the region (and an argument of a loop's).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prismc.checker.types import model, typed
from prismc.ir.analysis.ranges import Range
from prismc.ir.core import Region, Value
from prismc.ir.lowering.assigned import assigned_variables
from prismc.ir.lowering.counters import keep_in_range
from prismc.ir.lowering.expressions import Expressions
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.types import lower_element
from prismc.ir.ops.control import Break, Continue, For, If, Unreachable, While, Yield

Body = Callable[[], None]


class Control:
    """Builds `if`, `for` and `while` around bodies that others lower."""

    def __init__(self, frame: Frame, expressions: Expressions) -> None:
        self._frame = frame
        self._builder = frame.builder
        self._expressions = expressions
        self._loops: list[tuple[typed.Variable, ...]] = []

    def carried(self, statements: Sequence[typed.Statement]) -> tuple[typed.Variable, ...]:
        """The variables in scope here that `statements` assign."""
        return tuple(v for v in assigned_variables(statements) if v in self._frame.values)

    def branch(
        self, condition: Value, carried: tuple[typed.Variable, ...], then: Body, otherwise: Body
    ) -> None:
        """Run `then` or `otherwise`; what both leave is unreachable afterwards."""
        span = self._builder.span
        regions: list[Region] = []
        has_ended: list[bool] = []
        for body in (then, otherwise):
            self._builder.open()
            with self._frame.scope():
                body()
                has_ended.append(self._builder.has_ended)
                self._builder.span = span
                if not self._builder.has_ended:
                    self._builder.add(Yield(values=self._parts(carried), span=span))
            regions.append(self._builder.close())
        ends = all(has_ended)
        results = () if ends else self._fresh(carried)
        self._builder.add(
            If(
                condition=condition,
                then=regions[0],
                otherwise=regions[1],
                results=results,
                span=span,
            )
        )
        if ends:
            self._builder.add(Unreachable(span=span))
        else:
            self._bind(carried, results)

    def count(self, loop: typed.For, lower_body: Body) -> None:
        """A `for` loop; its bounds are evaluated here, once."""
        span = self._builder.span
        bounds = [self._expressions.value(e) for e in (loop.start, loop.stop, loop.step)]
        carried = self.carried(loop.body)
        initial = self._parts(carried)
        counter = Value(lower_element(loop.variable.type), loop.variable.name)
        is_downward = isinstance(loop.step, typed.Constant) and loop.step.value < 0
        if not is_downward:
            keep_in_range(self._frame, *bounds)
        self._learn_counter(counter, bounds, is_downward=is_downward)
        arguments = self._fresh(carried)
        body = self._loop_body(carried, arguments, lower_body, (loop.variable, counter))
        results = self._fresh(carried)
        self._builder.span = span
        self._builder.add(
            For(
                start=bounds[0],
                stop=bounds[1],
                step=bounds[2],
                initial=initial,
                downward=is_downward,
                unroll=loop.unroll,
                body=Region(ops=body.ops, arguments=(counter, *arguments)),
                results=results,
                span=span,
            )
        )
        self._bind(carried, results)

    def _learn_counter(self, counter: Value, bounds: list[Value], *, is_downward: bool) -> None:
        """Between its bounds, if the step goes one way."""
        start, stop, step = (self._frame.ranges.of(bound) for bound in bounds)
        if is_downward and step.high < 0:
            found = Range(min(start.low, stop.low + 1), start.high)
        elif not is_downward and step.low > 0:
            found = Range(start.low, max(start.high, stop.high - 1))
        else:
            return
        self._frame.ranges.set(counter, found)

    def repeat(self, loop: typed.While, lower_body: Body) -> None:
        """A `while` loop."""
        span = self._builder.span
        carried = self.carried(loop.body)
        initial = self._parts(carried)
        tested = self._fresh(carried)
        self._builder.open()
        with self._frame.scope():
            self._bind(carried, tested)
            condition = self._expressions.value(loop.condition)
        self._builder.add(Yield(values=(condition,), span=span))
        test = self._builder.close(tested)
        arguments = self._fresh(carried)
        body = self._loop_body(carried, arguments, lower_body, None)
        results = self._fresh(carried)
        self._builder.span = span
        self._builder.add(
            While(initial=initial, condition=test, body=body, results=results, span=span)
        )
        self._bind(carried, results)

    def _loop_body(
        self,
        carried: tuple[typed.Variable, ...],
        arguments: tuple[Value, ...],
        lower_body: Body,
        counter: tuple[typed.Variable, Value] | None,
    ) -> Region:
        span = self._builder.span
        self._builder.open()
        self._loops.append(carried)
        with self._frame.scope():
            self._bind(carried, arguments)
            if counter is not None:
                self._frame.values[counter[0]] = counter[1]
            lower_body()
            if not self._builder.has_ended:
                self._builder.add(Yield(values=self._parts(carried), span=span))
        self._loops.pop()
        return self._builder.close(arguments)

    def leave_loop(self) -> None:
        """`break` of the innermost loop."""
        values = self._parts(self._loops[-1])
        self._builder.add(Break(values=values, span=self._builder.span))

    def next_iteration(self) -> None:
        """`continue` of the innermost loop."""
        values = self._parts(self._loops[-1])
        self._builder.add(Continue(values=values, span=self._builder.span))

    # ------------------------------------------------------------------ carried variables

    def _parts(self, variables: tuple[typed.Variable, ...]) -> tuple[Value, ...]:
        return tuple(part for variable in variables for part in self._frame.parts(variable))

    def _fresh(self, variables: tuple[typed.Variable, ...]) -> tuple[Value, ...]:
        """New values for what `variables` carry."""
        return tuple(value for variable in variables for value in self._frame.fresh_parts(variable))

    def _bind(self, variables: tuple[typed.Variable, ...], values: tuple[Value, ...]) -> None:
        at = 0
        for variable in variables:
            width = 2 if isinstance(variable.type, model.PointerType) else 1
            self._frame.bind_parts(variable, values[at : at + width])
            at += width

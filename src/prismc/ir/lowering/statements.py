"""Statements of the typed tree as IR operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from prismc.checker.sync.plan import Where
from prismc.checker.types import model, typed
from prismc.checker.types.turns import Turns, steps_of
from prismc.hardware.groups import Level
from prismc.ir.analysis.ranges import Range
from prismc.ir.core import Value
from prismc.ir.lowering.asserts import Asserts, Checks, lower_assert, lower_assumption
from prismc.ir.lowering.control import Control
from prismc.ir.lowering.expressions import Expressions
from prismc.ir.lowering.frame import Frame, Turn
from prismc.ir.lowering.projection import Class, classes_of
from prismc.ir.lowering.simple_statements import Simple, SimpleStatements
from prismc.ir.lowering.sync import (
    Placed,
    apply_in_arm,
    apply_plan,
    begin_loads,
    hand_over_in_arm,
)
from prismc.ir.lowering.turns import steady_statements
from prismc.ir.lowering.views import IndexMap, View
from prismc.ir.ops.arithmetic import Comparison
from prismc.ir.ops.control import Return, Unreachable
from prismc.ir.ops.sync import LastBlock
from prismc.ir.types import BOOLEAN
from prismc.source.record import replace

# Lowers a list of statements.
Lower = Callable[[Sequence[typed.Statement]], None]


class Statements:
    """Lowers the statements of one function."""

    def __init__(self, frame: Frame, placed: Placed, checks: Checks) -> None:
        self._frame = frame
        self._checks = checks
        self._placed = placed
        self._builder = frame.builder
        self._expressions = Expressions(frame)
        self._simple = SimpleStatements(frame, self._expressions)
        self._control = Control(frame, self._expressions)
        self._loops = 0  # around what is lowered

    def body(self, statements: Sequence[typed.Statement]) -> None:
        """Lower statements up to the first that leaves."""
        for index, statement in enumerate(statements):
            if self._builder.has_ended:
                return
            is_projected = statement.id in self._frame.projected and self._frame.only is None
            if is_projected and isinstance(statement, typed.Split | typed.Group):
                self._project(statements[index:], self.body)
                return
            apply_plan(self._frame, self._placed, Where.BEFORE, statement.id)
            self._builder.span = statement.span
            if is_projected:
                self._project((statement,), lambda loops: self._statement(loops[0]))
            else:
                self._statement(statement)
            if not self._builder.has_ended:
                apply_plan(self._frame, self._placed, Where.AFTER, statement.id)

    def begin(self) -> None:
        """What a function does before its first statement: a kernel's `@assume`, where
        assertions are kept."""
        if self._frame.instance.is_kernel and self._checks.asserts is not Asserts.OUT:
            for condition in self._frame.instance.assumptions:
                self._assume(condition)

    def _assume(self, condition: typed.Expression) -> None:
        mode = self._checks.assumptions
        if mode is not Asserts.OUT:
            lower_assumption(self._frame, self._expressions, condition, mode)

    def finish(self) -> None:
        """End the function where its last statement did not."""
        if self._builder.has_ended:
            return
        span = self._builder.span
        is_missing = bool(self._frame.instance.results)
        self._builder.add(Unreachable(span=span) if is_missing else Return(values=(), span=span))

    def _statement(self, statement: typed.Statement) -> None:
        if isinstance(statement, Simple):
            self._simple.lower(statement)
            return
        match statement:
            case typed.Break():
                self._control.leave_loop()
            case typed.Continue():
                self._control.next_iteration()
            case typed.Assert() | typed.Print():
                if self._checks.asserts is not Asserts.OUT:
                    lower_assert(self._frame, self._expressions, statement, self._checks.asserts)
            case typed.Assume(condition=condition):
                self._assume(condition)
            case typed.AssumeDisjoint():
                pass  # the race checks of the emulator tell
            case _:
                self._compound(statement)

    def _compound(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Block(body=body):
                self.body(body)
            case typed.If(condition=condition, body=body, otherwise=otherwise):
                value = self._expressions.value(condition)
                carried = self._control.carried((statement,))
                self._control.branch(
                    value, carried, partial(self.body, body), partial(self.body, otherwise)
                )
            case typed.While() | typed.For():
                self._loop(statement)
            case typed.Group():
                self._group(statement)
            case typed.Finish():
                self._finish(statement)
            case typed.Split(arms=arms):
                self._arms(arms)
            case typed.Narrow(views=views, body=body):
                self._narrow(views)
                outer = self._frame.loads
                self._frame.loads = begin_loads(self._frame, statement.id) or outer
                self.body(body)
                self._frame.loads = outer
            case _:
                raise TypeError(f"no statement: {type(statement).__name__}")

    def _loop(self, loop: typed.While | typed.For) -> None:
        """A loop, with what stands at it in the copy for one class of warps alone."""
        frame, outer = self._frame, self._frame.turn
        self._loops += 1
        apply_in_arm(frame, self._placed, Where.BEFORE, loop.id)
        self._builder.span = loop.span
        if isinstance(loop, typed.While):
            self._control.repeat(loop, partial(self.body, loop.body))
        elif loop.turns is not None and loop.id in frame.rolled:
            self._one_step(loop, loop.turns)
        else:
            self._control.count(loop, partial(self.body, loop.body))
        if not self._builder.has_ended:
            apply_in_arm(frame, self._placed, Where.AFTER, loop.id)
        self._loops -= 1
        frame.turn = outer

    def _one_step(self, loop: typed.For, turns: Turns) -> None:
        """A pipeline as its first step, which each iteration runs with a slot of its own."""
        frame, builder = self._frame, self._builder
        for variable in (turns.slot, turns.parity):
            frame.values[variable] = builder.constant(0)
        start, stop = (self._expressions.value(bound) for bound in (loop.start, loop.stop))
        is_downward = isinstance(loop.step, typed.Constant) and loop.step.value < 0
        step = replace(loop, step=turns.step, body=(*steps_of(loop)[0], *turns.advance))
        runs_once = frame.instance.is_kernel and self._loops == 1
        steady = steady_statements(steps_of(loop)[0]) if runs_once else frozenset()
        pipeline = frame.rolled[loop.id]
        hand_over_in_arm(frame, pipeline.registers, pipeline.arm, loop.span)

        def body() -> None:
            slot, counter = frame.values[turns.slot], frame.values[loop.variable]
            assert isinstance(slot, Value), "a slot is a number"
            assert isinstance(counter, Value), "a loop counts"
            frame.ranges.set(slot, Range(0, turns.slots - 1))
            previous = builder.compare(Comparison.NE, counter, start)
            frame.turn = Turn(turns=turns, has_previous=previous, steady=steady)
            self.body(step.body)

        self._control.count(step, body)
        order = Comparison.GT if is_downward else Comparison.LT
        had_any = builder.compare(order, start, stop)
        frame.turn = Turn(turns=turns, has_previous=had_any, steady=frozenset())

    # ------------------------------------------------------------------ perspectives

    def _group(self, statement: typed.Group) -> None:
        frame = self._frame
        around, only = frame.position, frame.only
        frame.groups[statement.id] = around.thread
        frame.position = around.in_group(statement.to)
        if statement.to.level is Level.THREAD:
            frame.only = None
        self.body(statement.body)
        frame.position, frame.only = around, only

    def _finish(self, statement: typed.Finish) -> None:
        zero = typed.Constant(id=0, span=statement.header, type=model.INT, value=0)
        counter, index = self._expressions.place(statement.counter, zero)
        results = (Value(BOOLEAN, "is_last"),)
        op = LastBlock(counter=counter, index=index, results=results, span=statement.header)
        self._builder.add(op)
        carried = self._control.carried((statement,))
        self._control.branch(
            op.result, carried, partial(self.body, statement.body), partial(self.body, ())
        )

    def _project(self, statements: Sequence[typed.Statement], lower: Lower) -> None:
        """Statements once for each class of warps, in a chain of conditions on the position."""
        self._classes(statements, lower, classes_of(statements, self._frame.position.thread.limit))

    def _classes(
        self, statements: Sequence[typed.Statement], lower: Lower, classes: tuple[Class, ...]
    ) -> None:
        frame = self._frame
        if len(classes) == 1:
            frame.only = classes[0]
            lower(statements)
            frame.only = None
            return
        value = frame.index_value(frame.position.thread)
        end = self._builder.constant(classes[0].end)
        self._control.branch(
            self._builder.compare(Comparison.LT, value, end),
            self._control.carried(statements),
            partial(self._classes, statements, lower, classes[:1]),
            partial(self._classes, statements, lower, classes[1:]),
        )

    def _arms(self, arms: tuple[typed.Arm, ...]) -> None:
        """A chain of conditions on the position; an arm that takes all that is left has none."""
        only = self._frame.only
        if only is not None:
            arms = tuple(arm for arm in arms if only.meets(arm))
        if not arms:
            return
        arm, rest = arms[0], arms[1:]
        position = self._frame.position
        index = position.thread if arm.to.level is Level.THREAD else position.block
        end = arm.offset + arm.to.size
        if (index.limit and end >= index.limit) or (only is not None and only.holds(arm)):
            self._arm(arm)
            self._frame.position = position
            return
        value = self._frame.index_value(index)
        # A position is never negative: the first unit is the one at 0.
        test, bound = (Comparison.EQ, 0) if end == 1 else (Comparison.LT, end)
        condition = self._builder.compare(test, value, self._builder.constant(bound))
        bodies = [statement for each in arms for statement in each.body]
        self._control.branch(
            condition,
            self._control.carried(bodies),
            partial(self._arm, arm),
            partial(self._arms, rest),
        )

    def _arm(self, arm: typed.Arm) -> None:
        frame, only = self._frame, self._frame.only
        frame.position, frame.only = frame.position.in_arm(arm.to, arm.offset), None
        self.body(arm.body)
        frame.only = only

    def _narrow(self, views: tuple[typed.View, ...]) -> None:
        """Bind the views; all pairs are evaluated first."""
        made = [self._view(view) for view in views]
        for view, seen in zip(views, made, strict=True):
            if isinstance(seen, View):
                self._frame.bind_pointer(view.variable, seen)
            else:
                self._frame.values[view.variable] = seen

    def _view(self, view: typed.View) -> View | Value:
        if isinstance(view.source.type, model.ArrayType):
            return self._expressions.value(view.source)
        source = self._expressions.view(view.source)
        if view.function is not None:
            return View(
                source.base,
                through=IndexMap(view.function, source, dict(self._frame.values)),
            )
        if view.offset is None:
            return source
        seen = self._expressions.offset(source, view.offset)
        if seen.offset is not None and not seen.offset.hint:
            seen.offset.hint = f"{view.variable.name}_offset"
        return seen

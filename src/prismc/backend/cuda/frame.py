"""What the writing of one function keeps at hand: expressions, variables, names, open scopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prismc.backend.cuda import expression as cpp
from prismc.backend.cuda.copies import Copy, in_order
from prismc.backend.cuda.emit_expr import Expressions
from prismc.backend.cuda.expression import Expression
from prismc.backend.cuda.inlining import plan_inlining
from prismc.backend.cuda.names import Scopes
from prismc.backend.cuda.sites import find_sites
from prismc.backend.cuda.types import declarator
from prismc.backend.cuda.variables import Variable, assign_variables
from prismc.backend.cuda.writer import Writer
from prismc.ir.core import Function, Op, Value
from prismc.ir.effects import is_droppable
from prismc.ir.ops.control import If
from prismc.ir.ops.memory import SharedMemory
from prismc.source.span import Span

SHARED_NAME = "smem"


class Frame:
    """The state of one function's writing.

    `need` asks for a helper to be part of the module; `callees` are the C++ names of functions by
    symbol.
    """

    def __init__(
        self,
        function: Function,
        writer: Writer,
        scopes: Scopes,
        need: Callable[[str], str],
        callees: dict[str, str],
    ) -> None:
        self.function = function
        self.writer = writer
        self.scopes = scopes
        self.callees = callees
        self.sites = find_sites(function)
        self.inlining = plan_inlining(function, self.sites)
        self.variables = assign_variables(function, self.sites, self.inlining)
        self.need = need
        self.expressions = Expressions(self.value, need)
        self.result_names: tuple[str, ...] = ()
        self._names: dict[Variable, str] = {}
        self._inlined: dict[Value, Expression] = {}

    # ------------------------------------------------------------------ values

    def value(self, value: Value) -> Expression:
        """What to write where `value` is read."""
        if value in self._inlined:
            return self._inlined[value]
        return cpp.name(self._names[self.variables[value]], mutable=True)

    def is_read(self, op: Op) -> bool:
        return any(self.sites.uses[result] for result in op.results)

    def is_silent(self, op: Op) -> bool:
        """Whether an operation gives no statement: it is written where its value is used, or
        nothing reads it, or another one does its work."""
        if op in self.inlining.absorbed:
            return True
        if len(op.results) == 1 and op.result in self.inlining.inlined:
            return True
        has_variable = not self.variables.keys().isdisjoint(op.results)
        return bool(op.results) and not has_variable and is_droppable(op)

    def keep_expression(self, op: Op) -> None:
        """Remember the expression of a silent operation for where its value is read."""
        if not self.is_read(op):
            return
        if isinstance(op, SharedMemory):
            self._inlined[op.result] = cpp.name(SHARED_NAME)
        elif isinstance(op, If):
            self._inlined[op.result] = self.choice(op)
        else:
            self._inlined[op.result] = self.expressions.of(op)

    def choice(self, op: If) -> Expression:
        """An `if` as an expression: `a && b`, `a || b`, `c ? a : b`."""
        ends: list[Value] = []
        for region in op.regions:
            for inner in region.ops[:-1]:
                self.keep_expression(inner)
            ends += region.terminator.operands
        condition, yes, no = (self.value(value) for value in (op.condition, *ends))
        if yes.text == "true":
            return cpp.binary(condition, "||", no)
        if no.text == "false":
            return cpp.binary(condition, "&&", yes)
        return cpp.conditional(condition, yes, no)

    # ------------------------------------------------------------------ variables

    def name(self, value: Value) -> str:
        """Give the variable of `value` a name in the innermost scope."""
        variable = self.variables[value]
        self._names[variable] = self.scopes.new(variable.hint)
        return self._names[variable]

    def has_name(self, value: Value) -> bool:
        return self.variables[value] in self._names

    def declare(self, value: Value, at: Span, initial: Expression | None = None) -> None:
        """Declare the variable of `value`."""
        text = f" = {initial.imposed.text}" if initial is not None else ""
        self.writer.line(f"{declarator(value.type, self.name(value))}{text};", at)

    def define(self, value: Value, expression: Expression, at: Span) -> None:
        """Make the variable of `value` hold the expression."""
        if self.has_name(value):
            self.assign(self.value(value), expression, at)
        else:
            self.declare(value, at, expression)

    def assign(self, place: Expression, expression: Expression, at: Span) -> None:
        """`place = expression;`, or `place += ..;` where that is the same."""
        self.writer.line(_assignment(place.text, expression), at)

    def needed_copies(
        self, targets: Sequence[Value], sources: Sequence[Value]
    ) -> list[tuple[Value, Value]]:
        """The pairs whose target is read and has another variable than the source."""
        return [
            (target, source)
            for target, source in zip(targets, sources, strict=True)
            if target in self.variables and self.variables[target] is not self.variables.get(source)
        ]

    def copy_all(self, targets: Sequence[Value], sources: Sequence[Value], at: Span) -> None:
        """Make all targets hold the sources' values at once; declare what is not declared yet."""
        copies: list[Copy] = []
        for target, source in self.needed_copies(targets, sources):
            if self.has_name(target):
                copies.append(Copy(self.value(target).text, target.type, self.value(source)))
            else:
                self.declare(target, self._declared_at(target, source, at), self.value(source))

        def save(copy: Copy) -> str:
            kept = self.scopes.new(f"{copy.target}_next")
            self.writer.line(f"{declarator(copy.type, kept)} = {copy.source.text};", at)
            return kept

        for copy in in_order(copies, save):
            self.writer.line(_assignment(copy.target, copy.source), at)

    def _declared_at(self, target: Value, source: Value, at: Span) -> Span:
        """The place of a declaration whose initial value has no variable: where a value of the
        same name was computed, else `at`."""
        definer = self.sites.definers.get(source)
        is_own = source.hint == target.hint != "" and source in self._inlined
        return definer.span if is_own and definer is not None else at


def _assignment(target: str, expression: Expression) -> str:
    if expression.split is not None:
        left, operator, right = expression.split
        if left == target and operator in _COMPOUND:
            return f"{target} {operator}= {right};"
    return f"{target} = {expression.imposed.text};"


_COMPOUND = frozenset(["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])

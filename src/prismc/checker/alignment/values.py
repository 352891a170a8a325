"""What is known of the integers of one body: from definitions, loops, and conditions that hold.

A variable with one definition is that expression; a variable that is assigned again is what all its
assignments have in common. Conditions are about values that stay the same where they hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from prismc.checker.alignment.numbers import (
    ANY,
    UNKNOWN,
    Key,
    Known,
    Residue,
    bounds,
    combine,
    either,
    join,
    number,
)
from prismc.checker.alignment.rules import (
    any_of,
    compared,
    joined,
    key_of,
    logical,
    of_type,
    refined,
)
from prismc.checker.types import typed
from prismc.checker.types.fold import COMPARISONS
from prismc.checker.types.model import ScalarType, Type
from prismc.hardware.groups import Level, Perspective
from prismc.hardware.scalars import Kind
from prismc.source.record import Record

Bodies = Mapping[str, typed.Body]
_MOST_ROUNDS = 4


class Source(NamedTuple):
    """One place that gives a variable its value: an expression (combined with the value before, if
    there is an operator), a loop that counts, or, with neither, something unknown."""

    value: typed.Expression | None = None
    operator: str = ""
    loop: typed.For | None = None


class Facts(Record):
    """What holds where the code is: numbers by the structure of expressions, and conditions."""

    numbers: Mapping[Key, Known]
    conditions: frozenset[Key]


NO_FACTS = Facts(numbers={}, conditions=frozenset())


class Values:
    """Evaluates the integer expressions of one body; `facts` is what holds at the moment."""

    def __init__(self, body: typed.Body, bodies: Bodies) -> None:
        self._threads = body.instance.threads
        self._bodies = bodies
        self._sources: dict[typed.Variable, list[Source]] = {}
        self._assigned: set[typed.Variable] = set()
        self.views: dict[typed.Variable, typed.View] = {}
        self._settled: dict[typed.Variable, Known] = {}
        self._open: dict[typed.Variable, Known | None] = {}
        self._bound: dict[typed.Variable, Known] = {}
        self._memo: dict[typed.Variable, Known] = {}
        self.bases: Mapping[typed.Variable, Residue] = {}
        self.facts = self.always = NO_FACTS
        for parameter in body.instance.parameters:
            self._sources[parameter] = [Source()]
        for statement in body.all_statements:
            self._gather(statement)

    # ------------------------------------------------------------------ definitions

    def _gather(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Declare(variable=variable, value=value):
                self._define(variable, () if value is None else (Source(value),))
            case typed.DeclareSeveral(variables=variables):
                for variable in variables:
                    self._define(variable, (Source(),))
            case typed.Assign(place=place, operator=operator, value=value):
                self._assign(place, Source(value, operator))
            case typed.AssignSeveral(places=places, values=values):
                for place, value in zip(places, values, strict=True):
                    self._assign(place, Source(value))
            case typed.Asm(outputs=outputs, updates=updates):
                for place in (*outputs, *updates):
                    self._assign(place, Source())
            case typed.For(variable=variable):
                self._define(variable, (Source(loop=statement),))
            case typed.Narrow(views=views):
                self.views.update((view.variable, view) for view in views)
            case _:
                pass

    def _define(self, variable: typed.Variable, sources: Iterable[Source]) -> None:
        self._sources.setdefault(variable, []).extend(sources)

    def _assign(self, place: typed.Place, source: Source) -> None:
        if isinstance(place, typed.VariablePlace):
            self._define(place.variable, (source,))
            self._assigned.add(place.variable)

    def pointers_of(self, variable: typed.Variable) -> list[typed.Expression | None]:
        """What a pointer variable is given anywhere; None for a parameter's or call's pointer."""
        return [source.value for source in self._sources.get(variable, (Source(),))]

    def definition_of(self, variable: typed.Variable) -> typed.Expression | None:
        """The one expression that a variable names; None if there are several, or none."""
        return self._sources[variable][0].value if self.is_stable(variable) else None

    def is_fixed(self, pointer: typed.Variable) -> bool:
        """Whether a pointer name stands for one place: it is declared once, or narrows another."""
        return pointer in self.views or self.is_stable(pointer)

    def is_stable(self, variable: typed.Variable) -> bool:
        """Whether the variable has its value from its declaration: it names one at a time."""
        return variable not in self._assigned and len(self._sources.get(variable, ())) == 1

    # ------------------------------------------------------------------ where the code is

    @contextmanager
    def under(self, facts: Facts) -> Iterator[None]:
        """With other facts, for a part of the body."""
        before, memo = self.facts, self._memo
        if facts is not before:
            self.facts, self._memo = facts, {}
        yield
        self.facts, self._memo = before, memo

    @contextmanager
    def called_with(
        self, numbers: Mapping[typed.Variable, Known], bases: Mapping[typed.Variable, Residue]
    ) -> Iterator[None]:
        """With what a caller knows of the arguments: numbers, and addresses of pointers."""
        before = self._bound, self.bases, self._settled, self._memo
        self._bound, self.bases, self._settled, self._memo = dict(numbers), bases, {}, {}
        yield
        self._bound, self.bases, self._settled, self._memo = before

    @contextmanager
    def binding(self, values: Mapping[typed.Variable, Known]) -> Iterator[None]:
        """With values for the parameters of a function that is looked into."""
        before = self._bound
        self._bound = before | dict(values)
        yield
        self._bound = before

    # ------------------------------------------------------------------ expressions

    def value(self, expression: typed.Expression) -> Known:
        """What is known of an expression; nothing of one that is no integer or bool."""
        return self._value(expression) or UNKNOWN

    def _value(self, expression: typed.Expression) -> Known | None:
        """None while a variable that the value depends on has no value yet."""
        found = self._plain(expression)
        if found is None or found.key is None:
            return found
        fact = self.facts.numbers.get(found.key)
        return found if fact is None else refined(found, fact)

    def _plain(self, expression: typed.Expression) -> Known | None:
        match expression:
            case typed.Constant(value=int(value)):
                return number(int(value))
            case typed.Read(variable=variable):
                return self._variable(variable)
            case typed.Unary(operator=operator, operand=operand):
                return self._unary(operator, self._value(operand), expression.type)
            case typed.Binary(operator=operator, left=left, right=right):
                sides = self._value(left), self._value(right)
                return self._binary(operator, *sides, expression.type)
            case typed.Logical(operator=operator, left=left, right=right):
                return logical(operator, self._value(left), self._value(right))
            case typed.Conditional(value=value, otherwise=otherwise):
                return joined([self._value(value), self._value(otherwise)])
            case typed.Convert(operand=operand):
                return self._converted(operand, expression.type)
            case typed.Builtin(name=name, arguments=arguments):
                return self._builtin(name, [self._value(each) for each in arguments], expression)
            case typed.UnitIndex(of=of, within=within):
                most = self._units(of, within)
                return of_type(expression.type, ANY, 0, most, ("id", of, within))
            case typed.UnitCount(of=of):
                return of_type(expression.type, ANY, 1, (1 << 31) - 1, ("count", of))
            case typed.Call(callee=callee) if callee.kind is typed.InstanceKind.EXPRESSION:
                return self._inlined(expression)
            case _:
                return any_of(expression.type)

    def _units(self, of: Perspective | None, within: Perspective) -> int:
        """The greatest index of a unit."""
        most = (1 << 31) - 1
        if of is None or within.level is Level.GRID:
            return most
        if of.level is within.level:
            return max(0, within.size // of.size - 1)
        return within.size * self._threads // of.size - 1 if self._threads else most

    def _unary(self, operator: str, operand: Known | None, of: Type) -> Known | None:
        if operand is None:
            return None
        key = key_of(operator, operand)
        match operator:
            case "-":
                residue = combine("-", number(0).residue, operand.residue)
                return of_type(of, residue, -operand.high, -operand.low, key)
            case "not":
                return Known(ANY, 1 - min(1, operand.high), 1 - max(0, operand.low), key)
            case _:
                residue = combine("-", number(-1).residue, operand.residue)
                return of_type(of, residue, ~operand.high, ~operand.low, key)

    def _binary(
        self, operator: str, left: Known | None, right: Known | None, of: Type
    ) -> Known | None:
        if left is None or right is None:
            return None
        if operator in COMPARISONS:
            return compared(operator, left, right)
        residue = combine(operator, left.residue, right.residue)
        return of_type(of, residue, *bounds(operator, left, right), key_of(operator, left, right))

    def _converted(self, operand: typed.Expression, of: Type) -> Known | None:
        value = self._value(operand)
        if value is None or not isinstance(operand.type, ScalarType):
            return value
        if operand.type.scalar.kind is Kind.FLOAT:
            return any_of(of)
        return of_type(of, value.residue, value.low, value.high, key_of("as", value, of))

    def _builtin(
        self, name: str, values: list[Known | None], expression: typed.Expression
    ) -> Known | None:
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        match name, known:
            case ("min" | "max", [one, other]):
                pick = min if name == "min" else max
                low, high = pick(one.low, other.low), pick(one.high, other.high)
                residue = either(one.residue, other.residue)
                return of_type(expression.type, residue, low, high, key_of(name, one, other))
            case ("clamp", [value, least, most]):
                residue = either(value.residue, either(least.residue, most.residue))
                return of_type(expression.type, residue, least.low, most.high, None)
            case ("select", [_, one, other]):
                return join(one, other)
            case _:
                return any_of(expression.type)

    def _inlined(self, call: typed.Call) -> Known | None:
        """The result of an expression function that is one `return`."""
        body = self._bodies.get(call.callee.symbol)
        result = None if body is None else only_result(body)
        if result is None:
            return any_of(call.type)
        values = [self._value(argument) for argument in call.arguments]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        with self.binding(dict(zip(call.callee.parameters, known, strict=True))):
            return self._value(result)

    def applied(self, function: typed.Instance, argument: Known) -> Known | None:
        """What a function of one number gives, if it is one `return`."""
        body = self._bodies.get(function.symbol)
        result = None if body is None else only_result(body)
        if result is None:
            return None
        with self.binding({function.parameters[0]: argument}):
            return self._value(result)

    # ------------------------------------------------------------------ variables

    def _variable(self, variable: typed.Variable) -> Known | None:
        if variable in self._bound:
            return self._bound[variable]
        if variable in self._open:
            return self._open[variable]
        if not self.is_stable(variable):
            if variable not in self._settled:
                self._settle(variable)
            return self._settled[variable]
        if self._open:
            return self._single(variable)
        if variable not in self._memo:
            self._memo[variable] = self._single(variable) or UNKNOWN
        return self._memo[variable]

    def _single(self, variable: typed.Variable) -> Known | None:
        value = self._given(self._sources[variable][0], variable)
        key = ("variable", variable.id)
        if value is None or value.exact is not None:
            return value
        return value._replace(key=key)

    def _given(self, source: Source, variable: typed.Variable) -> Known | None:
        if source.loop is not None:
            return self._counter(source.loop)
        if source.value is None:
            return any_of(variable.type)
        value = self._value(source.value)
        if not source.operator:
            return value
        return self._binary(source.operator, self._variable(variable), value, variable.type)

    def _counter(self, loop: typed.For) -> Known | None:
        start, stop, step = (self._value(part) for part in (loop.start, loop.stop, loop.step))
        if start is None or stop is None or step is None:
            return None
        residue = start.residue.cut(step.residue.zeros)
        if step.low > 0:
            low, high = start.low, max(start.high, stop.high - 1)
        elif step.high < 0:
            low, high = min(start.low, stop.low + 1), start.high
        else:
            return of_type(loop.variable.type, residue, *UNKNOWN[1:3], None)
        return of_type(loop.variable.type, residue, low, high, None)

    def _settle(self, variable: typed.Variable) -> None:
        """What all that a variable is given has in common: assignments may follow one another in
        any order, so only what holds everywhere counts. It grows until nothing changes."""
        facts, self.facts = self.facts, self.always
        self._open[variable] = None
        for round_ in range(_MOST_ROUNDS + 1):
            sources = self._sources.get(variable, (Source(),))
            values = [self._given(source, variable) for source in sources]
            found = joined(values)
            before = self._open[variable]
            if found is not None:
                found = found._replace(key=None)
                if round_ >= _MOST_ROUNDS - 1 and found != before:
                    found = any_of(variable.type)._replace(residue=found.residue)
            self._open[variable] = found
            if found == before:
                break
        else:
            self._open[variable] = any_of(variable.type)
        self.facts = facts
        settled = self._open.pop(variable) or any_of(variable.type)
        if not self._open:
            self._settled[variable] = settled
        else:
            # Inside another one that is still open: its value is not final.
            self._settled.setdefault(variable, any_of(variable.type))


def only_result(body: typed.Body) -> typed.Expression | None:
    """The expression that a function returns if that is all it does."""
    match body.statements:
        case (typed.Return(values=(value,)),):
            return value
        case _:
            return None

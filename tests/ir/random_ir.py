"""Random legal functions, and what they compute: an interpreter for pure integer code.

A generated function takes i32 parameters, uses arithmetic, `if`, counted loops, `while`, `break`,
`continue` and early `return`, and gives i32 results. Loops are bounded by construction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from prismc.hardware.scalars import I32
from prismc.ir.builder import Builder
from prismc.ir.core import Function, Module, Op, Region, Value
from prismc.ir.ops.arithmetic import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Constant,
    Select,
    Unary,
    UnaryOperator,
)
from prismc.ir.ops.control import Break, Continue, For, If, Return, Unreachable, While, Yield
from prismc.ir.passes.numbers import fold_binary, fold_comparison, fold_unary
from prismc.ir.types import BOOLEAN, INT

_OPERATORS = (
    BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.MUL, BinaryOperator.AND,
    BinaryOperator.OR, BinaryOperator.XOR, BinaryOperator.MIN, BinaryOperator.MAX,
)  # fmt: skip


@dataclass
class Generator:
    """Builds one random function."""

    random: Random
    builder: Builder = field(default_factory=Builder)
    ints: list[Value] = field(default_factory=list)
    bools: list[Value] = field(default_factory=list)

    def function(self, parameters: int = 3, results: int = 2) -> Function:
        given = tuple(Value(INT, f"p{number}") for number in range(parameters))
        self.ints += given
        self.builder.open()
        self.statements(self.random.randint(3, 8), 0, None)
        if not self.builder.has_ended:
            self.builder.add(Return(values=self._several(results)))
        return Function(
            symbol="f", parameters=given, results=(INT,) * results, body=self.builder.close()
        )

    def _several(self, count: int) -> tuple[Value, ...]:
        return tuple(self._int() for _ in range(count))

    def _int(self) -> Value:
        if self.random.random() < 0.3:
            return self.builder.constant(self.random.choice((0, 1, 2, -1, 7, 2147483647)))
        return self.random.choice(self.ints)

    def _bool(self) -> Value:
        if self.bools and self.random.random() < 0.3:
            return self.random.choice(self.bools)
        if self.random.random() < 0.15:
            return self.builder.constant(self.random.random() < 0.5, BOOLEAN)
        comparison = self.random.choice(list(Comparison))
        return self.builder.compare(comparison, self._int(), self._int())

    def statements(self, count: int, depth: int, loop: tuple[Value, ...] | None) -> None:
        """`loop` has as many values as the innermost loop carries; None outside loops."""
        for _ in range(count):
            if self.builder.has_ended:
                return
            kinds = [self._arithmetic] * 5
            if depth < 3:
                kinds += [self._if, self._for, self._while]
            if depth and self.random.random() < 0.6:
                kinds += [self._leave] * 2
            self.random.choice(kinds)(depth, loop)

    def _arithmetic(self, depth: int, loop: tuple[Value, ...] | None) -> None:
        match self.random.randrange(4):
            case 0:
                operator = self.random.choice((UnaryOperator.NEG, UnaryOperator.NOT))
                self.ints.append(self.builder.unary(operator, self._int()))
            case 1:
                self.bools.append(self._bool())
            case 2:
                self.ints.append(self.builder.select(self._bool(), self._int(), self._int()))
            case _:
                operator = self.random.choice(_OPERATORS)
                self.ints.append(self.builder.binary(operator, self._int(), self._int()))

    def _leave(self, depth: int, loop: tuple[Value, ...] | None) -> None:
        if loop is None or self.random.random() < 0.2:
            self.builder.add(Return(values=self._several(2)))
        else:
            kind = self.random.choice((Break, Continue))
            self.builder.add(kind(values=self._several(len(loop))))

    def _region(
        self, depth: int, loop: tuple[Value, ...] | None, yields: int, arguments: tuple[Value, ...]
    ) -> tuple[Region, bool]:
        """A region that yields `yields` ints, and whether it leaves instead."""
        ints, bools = len(self.ints), len(self.bools)
        self.ints += [argument for argument in arguments if argument.type == INT]
        self.builder.open()
        self.statements(self.random.randint(1, 4), depth + 1, loop)
        leaves = self.builder.has_ended
        if not leaves:
            self.builder.add(Yield(values=self._several(yields)))
        del self.ints[ints:], self.bools[bools:]
        return self.builder.close(arguments), leaves

    def _if(self, depth: int, loop: tuple[Value, ...] | None) -> None:
        condition = self._bool()
        count = self.random.randint(0, 2)
        then, then_leaves = self._region(depth, loop, count, ())
        otherwise, otherwise_leaves = self._region(depth, loop, count, ())
        leaves = then_leaves and otherwise_leaves
        results = () if leaves else tuple(Value(INT) for _ in range(count))
        self.builder.add(If(condition=condition, then=then, otherwise=otherwise, results=results))
        if leaves:
            self.builder.add(Unreachable())
        self.ints += results

    def _for(self, depth: int, loop: tuple[Value, ...] | None) -> None:
        is_downward = self.random.random() < 0.3
        bounds = sorted(self.random.randint(-2, 4) for _ in range(2))
        if is_downward != (self.random.random() < 0.1):
            bounds.reverse()
        start, stop = (self.builder.constant(bound) for bound in bounds)
        step = self.builder.constant((-1 if is_downward else 1) * self.random.randint(1, 2))
        initial = self._several(self.random.randint(0, 2))
        carried = tuple(Value(INT) for _ in initial)
        body, _ = self._region(depth, carried, len(initial), (Value(INT, "i"), *carried))
        results = tuple(Value(INT) for _ in initial)
        self.builder.add(
            For(
                start=start, stop=stop, step=step, initial=initial, downward=is_downward,
                unroll=False, body=body, results=results,
            )
        )  # fmt: skip
        self.ints += results

    def _while(self, depth: int, loop: tuple[Value, ...] | None) -> None:
        """A loop whose first carried value counts down from at most 3."""
        count = self.builder.constant(self.random.randint(0, 3))
        initial = (count, *self._several(self.random.randint(0, 1)))
        tested = tuple(Value(INT) for _ in initial)
        self.builder.open()
        zero = self.builder.constant(0)
        more = self.builder.compare(Comparison.GT, tested[0], zero)
        self.builder.add(Yield(values=(more,)))
        condition = self.builder.close(tested)
        carried = tuple(Value(INT) for _ in initial)
        self.builder.open()
        one = self.builder.constant(1)
        less = self.builder.binary(BinaryOperator.SUB, carried[0], one)
        body, leaves = self._region(depth, None, len(initial) - 1, carried)
        ops = self.builder.close().ops + body.ops
        if not leaves:
            last = body.terminator
            ops = (*ops[:-1], Yield(values=(less, *last.operands)))
        results = tuple(Value(INT) for _ in initial)
        self.builder.add(
            While(
                initial=initial, condition=condition,
                body=Region(ops=ops, arguments=carried), results=results,
            )
        )  # fmt: skip
        self.ints += results


def random_module(seed: int) -> Module:
    """One random function, the same for the same seed."""
    return Module(functions=(Generator(Random(seed)).function(),))


class _Left(Exception):
    def __init__(self, op: Op, values: list[int | bool]) -> None:
        self.op, self.values = op, values


def evaluate(function: Function, arguments: list[int]) -> list[int | bool]:
    """The results of a generated function."""
    values: dict[Value, int | bool] = dict(zip(function.parameters, arguments, strict=True))
    try:
        _run(function.body, values)
    except _Left as left:
        if isinstance(left.op, Return):
            return left.values
    raise AssertionError("a function ends with `return`")


def _run(region: Region, values: dict[Value, int | bool]) -> list[int | bool]:
    for op in region.ops:
        held = [values[operand] for operand in op.operands]
        match op:
            case Yield():
                return held
            case Return() | Break() | Continue():
                raise _Left(op, held)
            case _:
                found = _result(op, held, values)
        values.update(zip(op.results, found, strict=True))
    raise AssertionError("a region ends with a terminator")


def _result(op: Op, held: list[int | bool], values: dict[Value, int | bool]) -> list[int | bool]:
    match op:
        case Constant(value=value):
            assert not isinstance(value, float)
            return [value]
        case Binary(operator=operator):
            scalar = op.left.type.scalar
            return [fold_binary(operator, held[0], held[1], scalar)]
        case Unary(operator=operator):
            return [fold_unary(operator, held[0], op.operand.type.scalar)]
        case Compare(comparison=comparison):
            return [fold_comparison(comparison, held[0], held[1], I32)]
        case Select():
            return [held[1] if held[0] else held[2]]
        case If(then=then, otherwise=otherwise):
            return _run(then if held[0] else otherwise, values)
        case For():
            return _counted(op, held, values)
        case While():
            return _repeated(op, held, values)
        case _:
            raise AssertionError(op.name)


def _counted(op: For, held: list[int | bool], values: dict[Value, int | bool]) -> list[int | bool]:
    at, stop, step, *carried = held
    while (at > stop) if op.downward else (at < stop):
        values.update(zip(op.body.arguments, [at, *carried], strict=True))
        try:
            carried = _run(op.body, values)
        except _Left as left:
            if isinstance(left.op, Return):
                raise
            carried = left.values
            if isinstance(left.op, Break):
                break
        at += step
    return carried


def _repeated(
    op: While, held: list[int | bool], values: dict[Value, int | bool]
) -> list[int | bool]:
    carried = held
    while True:
        values.update(zip(op.condition.arguments, carried, strict=True))
        if not _run(op.condition, values)[0]:
            return carried
        values.update(zip(op.body.arguments, carried, strict=True))
        carried = _run(op.body, values)

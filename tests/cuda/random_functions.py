"""Random functions with loops, exits and a register array, and what they compute.

The generator of `ir.random_ir` makes control flow; here values repeat more often (so that the
copies at the ends of regions form chains and circles), carry few names (so that variables are
shared), and an array is read and written (so that loads may not move). Sums are kept small, since
C++ leaves signed overflow undefined.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from ir.random_ir import Generator, fold_binary, fold_comparison, fold_unary
from prismc.hardware.scalars import I32
from prismc.ir.core import Function, Op, Region, Value, walk
from prismc.ir.ops.arithmetic import Binary, BinaryOperator, Compare, Constant, Select, Unary
from prismc.ir.ops.control import Break, Continue, For, If, Return, While, Yield
from prismc.ir.ops.memory import ArrayAlloc, ArrayFill, ArrayLoad, ArrayStore
from prismc.ir.types import INT, ArrayType
from prismc.source.record import replace

LENGTH = 4
ARRAY = ArrayType(element=INT, shape=(LENGTH,))
RESULTS = 2
_OPERATORS = (
    BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.MUL, BinaryOperator.XOR,
    BinaryOperator.MIN, BinaryOperator.MAX,
)  # fmt: skip

Number = int | bool


@dataclass
class ArrayGenerator(Generator):
    """`array` is the function's register array."""

    array: Value = field(default_factory=lambda: Value(ARRAY, "a"))

    def statements(self, count: int, depth: int, loop: tuple[Value, ...] | None) -> None:
        if depth == 0:
            self.builder.add(ArrayAlloc(results=(self.array,)))
            self.builder.add(ArrayFill(array=self.array, value=self.ints[0]))
        super().statements(count, depth, loop)

    def _int(self) -> Value:
        kind = self.random.random()
        if kind < 0.1:
            return self.builder.constant(self.random.choice((0, 1, 2, -1, 7)))
        if kind < 0.25:
            return self._loaded()
        if kind < 0.8:
            return self.random.choice(self.ints[-4:])
        return self.random.choice(self.ints)

    def _loaded(self) -> Value:
        load = ArrayLoad(array=self.array, indices=(self._index(),), results=(Value(INT),))
        return self.builder.add(load).result

    def _index(self) -> Value:
        last = self.builder.constant(LENGTH - 1)
        if self.random.random() < 0.5:
            return self.builder.constant(self.random.randrange(LENGTH))
        return self.builder.binary(BinaryOperator.AND, self.random.choice(self.ints), last)

    def _arithmetic(self, depth: int, loop: tuple[Value, ...] | None) -> None:
        if self.random.random() < 0.3:
            store = ArrayStore(array=self.array, indices=(self._index(),), value=self._int())
            self.builder.add(store)
        elif self.random.random() < 0.5:
            known = len(self.ints)
            super()._arithmetic(depth, loop)
            self.ints[known:] = map(self._small, self.ints[known:])
        else:
            operator = self.random.choice(_OPERATORS)
            self.ints.append(self._small(self.builder.binary(operator, self._int(), self._int())))

    def _small(self, value: Value) -> Value:
        return self.builder.binary(BinaryOperator.AND, value, self.builder.constant(1023))


def random_function(seed: int, symbol: str) -> Function:
    """One function of three ints that gives two, the same for the same seed."""
    random = Random(seed)
    function = replace(ArrayGenerator(random).function(3, RESULTS), symbol=symbol)
    named = (0.0, 0.3, 0.7, 1.0)[seed % 4]
    for op in walk(function.body):
        for value in (*op.results, *(one for region in op.regions for one in region.arguments)):
            if not value.hint and random.random() < named:
                value.hint = random.choice("xy")
    return function


class _Left(Exception):
    def __init__(self, op: Op, values: list[Number]) -> None:
        self.op, self.values = op, values


class Interpreter:
    """Runs one function on numbers."""

    def __init__(self, function: Function, arguments: list[int]) -> None:
        self._function = function
        self._values: dict[Value, Number] = dict(zip(function.parameters, arguments, strict=True))
        self._array = [0] * LENGTH

    def results(self) -> list[Number]:
        try:
            self._run(self._function.body)
        except _Left as left:
            return left.values
        raise AssertionError("a function ends with `return`")

    def _run(self, region: Region) -> list[Number]:
        for op in region.ops:
            if isinstance(op, ArrayAlloc | ArrayFill | ArrayLoad | ArrayStore):
                self._access(op)
                continue
            held = [self._values[operand] for operand in op.operands]
            if isinstance(op, Yield):
                return held
            if isinstance(op, Return | Break | Continue):
                raise _Left(op, held)
            self._values.update(zip(op.results, self._result(op, held), strict=True))
        raise AssertionError("a region ends with a terminator")

    def _access(self, op: ArrayAlloc | ArrayFill | ArrayLoad | ArrayStore) -> None:
        match op:
            case ArrayFill():
                self._array = [int(self._values[op.value])] * LENGTH
            case ArrayLoad():
                self._values[op.result] = self._array[self._values[op.indices[0]]]
            case ArrayStore():
                self._array[self._values[op.indices[0]]] = int(self._values[op.value])

    def _result(self, op: Op, held: list[Number]) -> list[Number]:
        match op:
            case Constant(value=value):
                return [int(value)]
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
                return self._run(then if held[0] else otherwise)
            case For():
                return self._counted(op, held)
            case While():
                return self._repeated(op, held)
        raise AssertionError(op.name)

    def _counted(self, op: For, held: list[Number]) -> list[Number]:
        at, stop, step, *carried = held
        while (at > stop) if op.downward else (at < stop):
            left, carried = self._iteration(op.body, [at, *carried])
            if left:
                break
            at += step
        return carried

    def _repeated(self, op: While, held: list[Number]) -> list[Number]:
        left = False
        while not left:
            self._values.update(zip(op.condition.arguments, held, strict=True))
            if not self._run(op.condition)[0]:
                break
            left, held = self._iteration(op.body, held)
        return held

    def _iteration(self, body: Region, given: list[Number]) -> tuple[bool, list[Number]]:
        """Whether the loop was left, and what it carries on."""
        self._values.update(zip(body.arguments, given, strict=True))
        try:
            return False, self._run(body)
        except _Left as left:
            if isinstance(left.op, Return):
                raise
            return isinstance(left.op, Break), left.values

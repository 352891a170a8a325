"""Random functions: emitted, compiled, run on the PTX machine, compared with an interpreter."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from cuda.machine import built, run
from cuda.random_functions import RESULTS, Interpreter, random_function
from prismc.ir.builder import Builder
from prismc.ir.core import Function, Launch, Module, Value
from prismc.ir.ops.arithmetic import BinaryOperator
from prismc.ir.ops.control import Call, Return
from prismc.ir.ops.groups import Position, Query
from prismc.ir.ops.memory import Load, Store
from prismc.ir.passes.order import run_passes
from prismc.ir.types import INT, PointerType, Space

FUNCTIONS = 40
THREADS = 32
INTS = PointerType(element=INT, space=Space.GLOBAL)


def caller(functions: list[Function]) -> Function:
    """A kernel whose thread t calls each function with row t of `X`."""
    given, taken = Value(INTS, "X"), Value(INTS, "Y")
    builder = Builder()
    builder.open()
    position = Position(query=Query.THREAD_INDEX, results=(Value(INT, "t"),))
    thread = builder.add(position).result

    def cell(row: int) -> Value:
        start = builder.constant(row * THREADS)
        return builder.binary(BinaryOperator.ADD, start, thread)

    arguments = tuple(
        builder.add(Load(pointer=given, index=cell(row), results=(Value(INT),))).result
        for row in range(3)
    )
    for number, function in enumerate(functions):
        results = tuple(Value(INT) for _ in range(RESULTS))
        builder.add(Call(arguments=arguments, callee=function.symbol, results=results))
        for column, result in enumerate(results):
            row = number * RESULTS + column
            builder.add(Store(pointer=taken, index=cell(row), value=result))
    builder.add(Return(values=()))
    return Function(
        symbol="k",
        parameters=(given, taken),
        results=(),
        body=builder.close(),
        launch=Launch(threads=THREADS),
        alignment=1,
    )


@pytest.mark.parametrize("first", range(0, 3 * FUNCTIONS, FUNCTIONS))
@pytest.mark.parametrize("optimised", [False, True])
def test_random_functions(first: int, optimised: bool) -> None:
    functions = [random_function(first + n, f"function{n}") for n in range(FUNCTIONS)]
    module = Module(functions=(*functions, caller(functions)))
    binary = built(run_passes(module) if optimised else module)
    random = Random(first)
    given = np.array(
        [[random.choice((random.randint(-9, 9), random.randint(-500, 500))) for _ in range(THREADS)]
         for _ in range(3)], np.int32,
    )  # fmt: skip
    taken = np.zeros((FUNCTIONS * RESULTS, THREADS), np.int32)
    output = run(binary, [given, taken])[1]
    assert output is not None
    for number, function in enumerate(functions):
        for thread in range(THREADS):
            expected = Interpreter(function, given[:, thread].tolist()).results()
            got = output[number * RESULTS : (number + 1) * RESULTS, thread].tolist()
            assert got == expected, f"seed {first + number}, thread {thread}"

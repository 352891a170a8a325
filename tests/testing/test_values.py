"""What `prismc check` says of values in tests agrees with what NumPy makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from prismc.checker.host import functions as rules
from prismc.checker.host.check import _TestChecker
from prismc.checker.host.values import Array, HostValue, Number
from prismc.checker.names.symbols import HOST_BUILTINS
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.running import DTYPES
from prismc.driver.session import Session
from prismc.driver.testing.functions import FUNCTIONS
from prismc.driver.testing.interpreter import MAKERS, Interpreter, Stopped

ARRAYS = {
    "f": "random(f32, 4, 3, 1)",
    "d": "random(f64, 3, 2)",
    "h": "random(f16, 4, 3, 2)",
    "i": "random(i32, 4, 3, 3)",
    "u": "random(u8, 3, 4)",
    "v": "random(f32, 3, 5)",
    "b": "random(bool, 4, 3, 6)",
    "one": "iota(f32, 4)[2]",
}
NUMBERS = {"n": "7", "m": "-3", "x": "2.5", "t": "true"}
OPERATORS = "+ - * / % << >> & | ^ < <= > >= == !=".split()


def expressions() -> Iterator[str]:
    names = [*ARRAYS, *NUMBERS]
    for left in names:
        for right in names:
            for sign in OPERATORS:
                yield f"{left} {sign} {right}"
            yield f"matmul({left}, {right})"
            yield f"outer({left}, {right})"
            yield f"near({left}, {right})"
            yield f"where(b, {left}, {right})"
            yield f"max({left}, {right})"
        for sign in ("-", "+", "~", "not "):
            yield f"{sign}{left}"
        for name, function in rules.FUNCTIONS.items():
            yield f"{name}({left})"
            if "axis" in function.named:
                yield from (f"{name}({left}, axis = {axis})" for axis in (0, 1, -1))
        for scalar in ("bool", "i8", "u32", "i64", "f16", "bf16", "tf32", "f32", "f64"):
            yield f"{scalar}({left})"
        yield f"reshape({left}, 3, 4)"
        yield f"reshape({left}, 3)"
        yield f"take({left}, iota(i32, 2))"
        yield f"bincount({left}, 100)"
        yield f"size({left})"


class Nowhere:
    def launch(self, *arguments: object) -> bool:
        raise AssertionError


def verdict(texts: list[str]) -> tuple[dict[str, HostValue], dict[str, object]]:
    """What is known of each expression, and what it is when it runs."""
    lines = [f"    {n} := {v}" for n, v in (ARRAYS | NUMBERS).items()]
    lines += [f"    r{number} := {text}" for number, text in enumerate(texts)]
    session = Session(Options())
    file = session.files.overlay("t.prism", 'test "t":\n' + "\n".join(lines) + "\n")
    known: dict[str, HostValue] = {}
    declare = _TestChecker._declare

    def note(self: _TestChecker, name: object, value: HostValue) -> None:
        known[name.text] = value  # type: ignore[attr-defined]
        declare(self, name, value)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_TestChecker, "_declare", note)
        checked = run_stages(session, file, CHECKS)
    refused = {file.position(p.at.start).line for p in session.problems}
    first = 2 + len(ARRAYS | NUMBERS)
    kept = [text for number, text in enumerate(texts) if number + first not in refused]
    if len(kept) < len(texts):
        return verdict(kept)
    interpreter = Interpreter(checked.tests[0], Nowhere(), 0)
    for statement in checked.tests[0].node.body:
        with suppress(Stopped):  # -3 as an element of u8, a division by 0
            interpreter._statement(statement)
    found = interpreter._scopes[1]
    ran = {text: f"r{number}" for number, text in enumerate(texts) if f"r{number}" in found}
    return {t: known[name] for t, name in ran.items()}, {t: found[name] for t, name in ran.items()}


def test_the_checker_knows_what_numpy_makes() -> None:
    known, found = verdict([*expressions()])
    assert len(known) > 900
    wrong = {text: (value, found[text]) for text, value in known.items()}
    assert {t: pair for t, pair in wrong.items() if not _agree(*pair)} == {}


def _agree(known: HostValue, actual: object) -> bool:
    if isinstance(known, Array):
        is_array = isinstance(actual, np.ndarray) and actual.shape == known.shape
        return is_array and actual.dtype == DTYPES[known.scalar.name]
    assert isinstance(known, Number)
    is_same = known.value is None or known.value == actual
    return type(actual).__name__ == known.kind and is_same


def test_each_name_has_a_rule_and_a_value() -> None:
    assert set(rules.FUNCTIONS) == set(FUNCTIONS)
    assert set(rules.MAKERS) == set(MAKERS)
    types = {name for name in HOST_BUILTINS if re.fullmatch(r"[iuf]\d.*|bf16|tf32|bool", name)}
    aliases = {"int", "uint", "float", "double"}
    assert set(HOST_BUILTINS) == types | aliases | set(FUNCTIONS) | set(MAKERS) | {"launch"}

"""A constant is what the same expression gives at run time, over all types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from support.checking import check_texts
from support.running import compile_texts

TARGETS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "tf32", "f32",
           "f64", "f8e4m3", "f8e5m2")  # fmt: skip
WHOLE = ("0", "1", "-1", "7", "-7", "127", "128", "255", "256", "257", "2049", "-32768", "65535",
         "16777217", "-33554433", "2147483647", "4294967297", "18446744073709551615")  # fmt: skip
REAL = ("0.0", "-0.5", "1.5", "2.5", "-3.7", "0.1", "127.9", "-128.5", "448.0", "465.0", "60000.0",
        "65519.0", "6e-8", "1e-40", "0.001953125", "1.0004883", "16777217.0", "3e38", "-1e10",
        "1e300")  # fmt: skip
# Cases of one kernel.
PART = 60
OPAQUE = """
@requires(thread[1])
@effects()
unsafe def opaque[T: type](value: T) -> T:
    result: T = value
    asm("// $0 may be anything", inouts(result))
    return result
"""


class Case(NamedTuple):
    """An expression over `{a}` and `{b}`, the values of both, and the type that it has."""

    expression: str
    a: str
    b: str
    type: str

    def constants(self, source: str, number: int) -> str:
        """Three lines: the operands and the value."""
        value = self.expression.format(a=f"A{number}", b=f"B{number}")
        return (
            f"const A{number}: {source} = {self.a}\n"
            f"const B{number}: {source} = {self.b}\n"
            f"const R{number}: {self.type} = {value}\n"
        )

    def stores(self, number: int) -> str:
        """The bits of the constant, then those of the expression at run time."""
        run = self.expression.format(a=f"opaque(A{number})", b=f"opaque(B{number})")
        bits = "bits({})" if "f" in self.type else "{}"
        return "".join(
            f"        y[{2 * number + place}] = u64({bits.format(value)})\n"
            for place, value in enumerate((f"R{number}", run))
        )


def all_cases(source: str) -> Iterator[Case]:
    is_float = "f" in source
    values = REAL if is_float else WHOLE
    for value in values:
        for target in TARGETS:
            yield Case(f"{target}({{a}})", value, value, target)
    for number, value in enumerate(values):
        for sign in "+-*/" if is_float else "+-*/%&|^":
            yield Case(f"{{a}} {sign} {{b}}", value, values[(number * 5 + 3) % len(values)], source)


def constant_cases(source: str) -> list[Case]:
    """The cases that the checker takes: literals fit, nothing is undefined."""
    found = list(all_cases(source))
    text = "".join(case.constants(source, number) for number, case in enumerate(found))
    session = check_texts({"all.prism": text}, "all.prism")
    refused = {(session.files.position(p.at).line - 1) // 3 for p in session.problems}
    return [case for number, case in enumerate(found) if number not in refused]


@pytest.mark.parametrize("source", ["u16", "u64", "f16", "bf16", "f32", "f64"])
def test_constants_agree_with_the_machine(source: str) -> None:
    cases = constant_cases(source)
    assert len(cases) > 100
    text = OPAQUE + "".join(case.constants(source, number) for number, case in enumerate(cases))
    starts = range(0, len(cases), PART)
    for start in starts:
        text += f"\n@requires(grid[1], block[1], thread[1])\nkernel k{start}(Y: ptr(u64)):\n"
        text += "    partition Y as y @ thread[1]:\n"
        text += "".join(cases[n].stores(n) for n in range(start, min(start + PART, len(cases))))
    compiled = compile_texts({"test.prism": text}, "test.prism")
    bits = np.zeros(2 * len(cases), np.uint64)
    for start in starts:
        bits = compiled.run(1, {"Y": bits}, f"k{start}")["Y"]
    pairs = bits.reshape(-1, 2)
    assert not [case for case, (one, other) in zip(cases, pairs, strict=True) if one != other]

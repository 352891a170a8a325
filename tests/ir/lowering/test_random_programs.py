"""Random functions written in what Prism and Python share, compared thread by thread.

The text of a body means the same in both languages: ints are kept small and not negative by `&`,
so neither overflow nor division tells them apart. All functions are compiled as one file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random

import numpy as np
import pytest

from support.running import Compiled, compile_texts

FUNCTIONS = 24
THREADS = 32
VARIABLES = ("a", "b", "c", "d")


@dataclass
class Writer:
    """Writes one random body, line by line."""

    random: Random
    lines: list[str] = field(default_factory=list)
    counters: int = 0
    loops: list[str] = field(default_factory=list)

    def body(self) -> str:
        self.block(1, self.random.randint(4, 8), loop="")
        return "\n".join(self.lines)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, count: int, loop: str) -> None:
        """`loop` is "for" or "while" inside one, and "" outside."""
        for _ in range(count):
            kinds = [self.assign] * 4 + [self.compound, self.swap, self.element]
            if depth < 4:
                kinds += [self.branch, self.count, self.repeat, self.block_of_one]
            self.random.choice(kinds)(depth, loop)
        if loop and self.random.random() < 0.4:
            self.leave(depth, loop)

    def atom(self) -> str:
        names = [*VARIABLES, "t", *self.loops]
        if self.random.random() < 0.25:
            return str(self.random.randint(0, 40))
        if self.random.random() < 0.2:
            return f"r[{self.random.choice(names)} & 3]"
        return self.random.choice(names)

    def expression(self) -> str:
        one, other = self.atom(), self.atom()
        match self.random.randrange(6):
            case 0:
                return f"({one} if {self.condition()} else {other}) & 1023"
            case 1:
                return f"({one} * {self.random.randint(2, 9)} + {other}) & 1023"
            case 2:
                return f"({one} ^ {other}) & 1023"
            case 3:
                return f"({one} + {other} >> 1) & 1023"
            case 4:
                return f"max({one}, {other}) & 1023"
            case _:
                return f"({one} + {other}) & 1023"

    def condition(self) -> str:
        sign = self.random.choice(("<", "<=", "==", "!=", ">"))
        test = f"{self.atom()} {sign} {self.atom()}"
        match self.random.randrange(5):
            case 0:
                return f"{test} and r[{self.random.choice(VARIABLES)} & 3] > {self.atom()}"
            case 1:
                return f"not ({test} or {self.atom()} > 500)"
            case _:
                return test

    def assign(self, depth: int, loop: str) -> None:
        self.line(depth, f"{self.random.choice(VARIABLES)} = {self.expression()}")

    def compound(self, depth: int, loop: str) -> None:
        name = self.random.choice(VARIABLES)
        self.line(depth, f"{name} += {self.atom()}")
        self.line(depth, f"{name} &= 1023")

    def swap(self, depth: int, loop: str) -> None:
        one, other = self.random.sample(VARIABLES, 2)
        self.line(depth, f"{one}, {other} = {other}, {self.expression()}")

    def element(self, depth: int, loop: str) -> None:
        self.line(depth, f"r[{self.atom()} & 3] = {self.expression()}")

    def branch(self, depth: int, loop: str) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1, self.random.randint(1, 2), loop)
        if self.random.random() < 0.4:
            self.line(depth, f"elif {self.condition()}:")
            self.block(depth + 1, 1, loop)
        if self.random.random() < 0.6:
            self.line(depth, "else:")
            self.block(depth + 1, self.random.randint(1, 2), loop)

    def count(self, depth: int, loop: str) -> None:
        self.counters += 1
        name = f"i{self.counters}"
        bounds = self.random.choice(("0, 4", "1, 9, 3", "5, 0, -2", "a & 3, 4", "0, t & 3"))
        self.line(depth, f"for {name} in range({bounds}):")
        self.loops.append(name)
        self.block(depth + 1, self.random.randint(1, 3), "for")
        self.loops.pop()

    def repeat(self, depth: int, loop: str) -> None:
        self.counters += 1
        name = f"w{self.counters}"
        self.line(depth, self.declared(name, str(self.random.randint(1, 4))))
        self.line(depth, f"while {name} > 0 and {self.condition()}:")
        self.line(depth + 1, f"{name} -= 1")
        self.block(depth + 1, self.random.randint(1, 3), "while")

    def block_of_one(self, depth: int, loop: str) -> None:
        """A variable of an inner scope."""
        self.counters += 1
        name = f"v{self.counters}"
        self.line(depth, self.declared(name, self.expression()))
        self.line(depth, f"{self.random.choice(VARIABLES)} = {name}")

    def declared(self, name: str, value: str) -> str:
        return f"{name}: int = {value}"

    def leave(self, depth: int, loop: str) -> None:
        self.line(depth, f"if {self.condition()}:")
        word = self.random.choice(("break", "continue", "return (a + b) & 1023"))
        self.line(depth + 1, word)


@cache
def bodies() -> tuple[str, ...]:
    return tuple(Writer(Random(seed)).body() for seed in range(FUNCTIONS))


@cache
def program() -> Compiled:
    parts: list[str] = []
    for number, body in enumerate(bodies()):
        declared = "\n".join(f"    {name}: int = t + {k}" for k, name in enumerate(VARIABLES))
        parts.append(f"""
@requires(thread[1])
def f{number}(t: int) -> int:
{declared}
    r: int[4] = 7
{body}
    return (a + b * 2 + c * 3 + d * 5 + r[0] + r[1] + r[2] + r[3]) & 0xffff

@requires(grid[1], block[1], thread[32])
@launch(threads = {THREADS})
kernel k{number}(Y: ptr(i32)):
    t: int @ thread[1] = id()
    partition Y as y @ thread[1] at t:
        y[0] = f{number}(t)
""")
    text = "".join(parts)
    return compile_texts({"random.prism": text}, "random.prism")


def in_python(number: int, t: int) -> int:
    declared = "\n".join(f"    {name} = t + {k}" for k, name in enumerate(VARIABLES))
    source = f"""
def f(t):
{declared}
    r = [7, 7, 7, 7]
{bodies()[number]}
    return (a + b * 2 + c * 3 + d * 5 + r[0] + r[1] + r[2] + r[3]) & 0xffff
"""
    scope: dict[str, object] = {}
    exec(source, scope)
    return scope["f"](t)


@pytest.mark.parametrize("number", range(FUNCTIONS))
def test_same_results_as_python(number: int) -> None:
    found = program().run(1, {"Y": np.full(THREADS, -1, np.int32)}, kernel=f"k{number}")["Y"]
    assert list(found) == [in_python(number, t) for t in range(THREADS)]

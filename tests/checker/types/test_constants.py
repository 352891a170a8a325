"""The compile-time evaluator: CUDA's integer arithmetic, IEEE floats, constants, `-D`, static."""

from __future__ import annotations

import math

import pytest

from prismc.checker.types import evaluate, typed
from support.elaborating import assert_marked, elaborate

INTEGERS = {
    "7 / 2": 3,
    "-7 / 2": -3,
    "7 / -2": -3,
    "7 % 2": 1,
    "-7 % 2": -1,
    "7 % -2": 1,
    "M / 2": -1073741824,
    "B + 1": -2147483648,
    "M - 1": 2147483647,
    "B * 2": -2,
    "M / -1": -2147483648,
    "-M": -2147483648,
    "~5": -6,
    "5 & 3 | 8 ^ 1": 9,
    "1 << 31 - 1": 1 << 30,
    "M >> 31": -1,
    "int(u32(M) >> 31)": 1,
    "int(u8(300))": 44,
    "int(i8(200))": -56,
    "int(-1.9)": -1,
    "int(u32(f32(3000000000.0)) >> 1)": 1500000000,
    "int(u8(255.9))": 255,
    "int(u32(-1) / 2)": 2147483647,
    "min(3, -4)": -4,
    "max(3, -4)": 3,
    "abs(-5)": 5,
    "clamp(9, 0, 7)": 7,
    "select(true, 1, 2)": 1,
    "popc(255)": 8,
    "popc(-1)": 32,
    "clz(1)": 31,
    "clz(0)": 32,
    "ctz(8)": 3,
    "ctz(0)": 32,
    "log2(1024)": 10,
    "log2(1023)": 9,
    "size(f64) + size(f16) + size(bool) + size(tf32)": 15,
    "size(vec(f32, 4))": 16,
    "1 if 3 > 2 else 0": 1,
    "int(bits(f32(1.0)))": 0x3F800000,
    "int(bits(f16(1.0)))": 0x3C00,
    "int(not (1 < 2 and 2 == 2 or false))": 0,
    "int(true != false) + int(2 >= 2) + int(2 <= 1)": 2,
    "square(square(3))": 81,
    "ceil(17, 4)": 5,
    "power(3, 4)": 81,
    "first_power(1000)": 1024,
    "0x_ff if false else 0b1_0": 2,
}

FUNCTIONS = """
const M: int = -2147483648
const B: int = 2147483647

def square(n: int) -> int:
    return n * n

def ceil(n: int, m: int) -> int:
    return (n + m - 1) / m

def power(n: int, m: int) -> int:
    r: int = 1
    for i in range(m):
        r *= n
    return r

def first_power(n: int) -> int:
    k: int = 1
    while true:
        if k >= n:
            break
        k = k << 1
    return k
"""


@pytest.mark.parametrize("text", INTEGERS)
def test_integers(text: str) -> None:
    value = INTEGERS[text]
    written = text.replace("0x_ff", "0xff")
    assert_marked(f"{FUNCTIONS}\nconst X: int = {written}\n" + _demand(f"X == {value}"))


FLOATS = {
    "1.0 / 3.0": 0.3333333432674408,
    "0.1 + 0.2": 0.30000001192092896,
    "f32(16777217)": 16777216.0,
    "1 / 4.0": 0.25,
    "-0.5": -0.5,
    "f32(f16(0.1))": 0.0999755859375,
    "f32(bf16(0.1))": 0.10009765625,
    "f32(tf32(0.1))": 0.0999755859375,
    "f32(tf32(2049))": 2050.0,
    "f32(tf32(-2049))": -2050.0,
    "1.0 / f32(bf16(-1e-40) / bf16(3.7))": -math.inf,
    "f32(f8e4m3(0.3))": 0.3125,
    "f32(f8e4m3(1e10))": 448.0,
    "f32(f8e5m2(-60000.0))": -57344.0,
    "f32(f8e5m2(0.3))": 0.3125,
    "f32(7) / 2": 3.5,
    "bits[f32](u32(0x40490fdb))": 3.1415927410125732,
    "max(1, 2.5)": 2.5,
}


@pytest.mark.parametrize("text", FLOATS)
def test_floats(text: str) -> None:
    done = elaborate(f"@requires(thread[1])\ndef f() -> f32:\n    return {text}\n")
    assert done.problems == ()
    (statement,) = done.program.bodies["f"].statements
    assert isinstance(statement, typed.Return)
    (value,) = statement.values
    assert isinstance(value, typed.Constant)
    assert value.value == FLOATS[text]


def _demand(condition: str) -> str:
    return f"\n@requires(thread[1])\ndef demand():\n    static assert {condition}\n"


PROGRAMS = {
    "float division by zero is infinite": """
@requires(thread[1])
def f() -> f32:
    static assert 1.0 / 0.0 > 3.0e38
    return -1.0 / 0.0
""",
    "floats that no integer holds": """
def truncated(x: f32) -> i8:
    return i8(x)

const A: i8 = i8(-128.9)
const B: i8 = i8(-129.0)  #! P0304
const C: int = int(3000000000.0)  #! P0304
const D: u32 = u32(-1.0)  #! P0304
const E: i64 = i64(1.0 / 0.0)  #! P0304
const F: i8 = truncated(127.5)
const G: i8 = truncated(128.0)  #! P0310
""",
    "constants that need themselves": """
const A: int = B  #! P0314
const B: int = C + 1
const C: int = A

const D: int = D  #! P0314

@requires(thread[1])
def f() -> int:
    return A + D
""",
    "constants have their type": """
const N: int = 4
const X: f32 = 2
const B: bool = N > 3
const L = 3
const Z: i64 = N  #! P0301
const P: ptr(f32) = 0  #! P0325
const W: int = f  #! P0321
const V: u8 = 256  #! P0304

@requires(thread[1])
def f(n: i64, x: f64) -> i64:
    a: i64 = n + N  #! P0302
    b: i64 = n + L
    c: f64 = x * L
    const K: int = N * 2
    d: f32[K]
    const R: i64 = n  #! P0310
    e: i64 = R
    return n
""",
    "static if takes one side": """
const N: int = 4

@requires(thread[1])
def f[T: type](x: T) -> T:
    static if T == f32:
        return x * 2.0
    elif T == i32 and size(T) == 4:
        return x << 1
    else:
        static assert false, "f32 or i32 only"
        return x

@requires(thread[1])
def g(x: f32, i: int, n: int) -> f32:
    a: int = f(i)
    static if n > 0:  #! P0310
        pass
    static if N:  #! P0305
        pass
    return f(x)
""",
    "static for": """
@requires(thread[1])
def f(p: ptr(f32), n: int):
    static for i in range(4):
        a: f32[i + 1] = 0
        p[i] = a[i]
    static for i in range(n):  #! P0310
        p[i] = 0.0
    static for i in range(10, 0, -3):
        static assert i > 0
    static for i in range(100000):  #! P0316
        p[0] = 0.0

@requires(thread[1])
def g(p: ptr(f32)):
    static for i in range(200):
        static for j in range(200):  #! P0316
            p[0] = 0.0
            p[1] = 0.0
""",
    "a decided condition leaves the other side out": """
const N: int = 0

@requires(thread[1])
def f(n: int) -> int:
    a: int = 1 if N == 0 else n / N
    b: bool = N != 0 and n / N > 1
    c: bool = N == 0 or n / N > 1
    return a
""",
    "constants of names": """
@requires(thread[1])
def f(n: int):
    static assert n > 0  #! P0310
    static assert 1  #! P0305
    static assert 2 > 1, "fine"
    x: int @ thread[2.5]  #! P0306
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program(text: str) -> None:
    assert_marked(text)


def test_a_failed_assertion_shows_its_values() -> None:
    text = """
const N: int = 48

@requires(P)
def f[P: perspective, T: type, Flag: bool](x: T @ thread[1]):
    static assert N % 32 == 0 and P <= thread[64] and T == f32 and Flag, "whole warps"

@requires(block[1], thread[64])
def g():
    f[thread[64], f32, true](1)
"""
    (problem,) = elaborate(text).problems
    assert problem.shown_message() == "static assertion: whole warps"
    assert problem.notes == ("with N = 48, P = thread[64], T = f32, Flag = true",)


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ({"N": "128"}, []),
        ({"N": "0x80"}, []),
        ({"X": "1.5", "B": "false"}, []),
        ({"X": "3"}, []),
        ({"N": "1.5"}, ["P0315"]),
        ({"N": "true"}, ["P0315"]),
        ({"B": "1"}, ["P0315"]),
        ({"N": "99999999999"}, ["P0315"]),
        ({"N": "many"}, ["P0315"]),
        ({"M": "1"}, ["P0207"]),
    ],
)
def test_defines(given: dict[str, str], codes: list[str]) -> None:
    text = "const N: int = 4\nconst X: f32 = 2.0\nconst B: bool = true\n"
    assert [code for _, code in elaborate(text, given).places()] == codes


def test_a_define_changes_what_follows_from_the_constant() -> None:
    text = "const N: int = 4\nconst M: int = N * 2\n" + _demand("M == 20 and N == 10")
    assert elaborate(text, {"N": "10"}).problems == ()


def test_a_define_is_for_root_files() -> None:
    text = "from m import N\n" + _demand("N == 1")
    done = elaborate(text, {"N": "2"}, {"m.prism": "const N: int = 1\n"})
    assert [code for _, code in done.places()] == ["P0207"]


def test_evaluations_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the common allowance is used up, a call stays a call; a constant cannot be one."""
    monkeypatch.setattr(evaluate, "MOST_STEPS_TOGETHER", 100)
    assert_marked("""
def ones(n: int) -> int:
    x: int = 0
    for i in range(n):
        x = x + 1
    return x

const N: int = ones(30)
const M: int = ones(31)  #! P0310

@requires(thread[1])
def f() -> int:
    return ones(32)
""")


def test_why_a_call_has_no_value() -> None:
    """What its function does is told; a function with problems of its own is told only there."""
    done = assert_marked("""
def shifted(i: int) -> int:
    return 1 << i
def part(i: int) -> int:
    return 64 / i
def whole(x: f32) -> int:
    return int(x * 1e20)
def endless(i: int) -> int:
    while i > 0:
        i = 1
    return i
def wrong(a: bool) -> int:
    return 1 if a > false else 0  #! P0303
def beside(i: int) -> int:
    return wrong(i == 1)

const A: int = shifted(40) + 1  #! P0310
const B: int = part(0)  #! P0310
const C: int = whole(2.0)  #! P0310
const D: int = endless(1)  #! P0310
const E: int = wrong(true)
const F: int = beside(3)

@requires(block[1], thread[64])
def f():
    shared S: int[64] layout beside
    shared T: int[64] layout shifted  #! P0319
    shared U: int[64] layout part  #! P0319
    shared V: int[E] layout beside
""")
    told = {
        (problem.shown_label() if problem.code == "P0310" else problem.shown_message())
        for problem in done.problems
    }
    assert told >= {
        "`shifted` shifts 32 bits by 40",
        "`part` divides by zero",
        "`whole` converts 2.0000000400817547e+20 to i32",
        "`endless` takes more than 100,000 steps",
        "`shifted` maps element 6 to 64, no place in 0 .. 63",
        "`part` divides by zero for element 0",
    }

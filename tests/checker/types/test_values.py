"""Types of values: literals that adapt, conversions that are written, operators that fit."""

from __future__ import annotations

import pytest

from support.elaborating import assert_marked, elaborate

PROGRAMS = {
    "literals take the type they meet": """
@requires(thread[1])
def f(a: i64, b: f16, c: u8) -> f64:
    x: f32 = 2
    y: f64 = 1 / 2.0 + 3
    z: i64 = a * 3 - 1
    h: f16 = b * 2 + 0.5
    u: u8 = c & 0x0f
    w: u64 = 1 << 40
    return y
""",
    "literals that do not fit": """
@requires(thread[1])
def f(c: u8) -> int:
    a: i8 = 128  #! P0304
    b: i8 = -128
    d: u32 = -1  #! P0304
    e: u32 = ~0  #! P0304
    g: u8 = c + 256  #! P0304
    h := 0xffffffff  #! P0304
    k: f16 = 65504
    l: f16 = 65520.0  #! P0304
    m: int = 1.0  #! P0301
    return 2147483648  #! P0304
""",
    "the smallest int": """
@requires(thread[1])
def f() -> int:
    return -2147483648
""",
    "nothing is converted silently": """
@requires(thread[1])
def f(i: int, u: u32, x: f32, d: f64, b: bool, w: i64) -> f32:
    a: i64 = i  #! P0301
    c: f32 = i  #! P0301
    e: f32 = d  #! P0301
    g: int = b  #! P0301
    h: bool = i  #! P0301
    k: int = u  #! P0301
    return x
""",
    "operands of two types": """
@requires(thread[1])
def f(i: int, u: u32, x: f32, d: f64, w: i64) -> f32:
    a: i64 = w + i  #! P0302
    b: f64 = d * x  #! P0302
    c: bool = i < u  #! P0302
    e: f32 = x * 1.5 + 2
    g: f32 = x + i  #! P0302
    return x
""",
    "operators and types": """
@requires(thread[1])
def f(i: int, x: f32, b: bool, p: ptr(const f32), t: tf32, h: bf16) -> int:
    a: f32 = x % 2.0  #! P0303
    c: f32 = x & x  #! P0303
    d: bool = b + b  #! P0303
    e: bool = b < b  #! P0303
    g: bool = b == true and b & b
    k: tf32 = t + t  #! P0303
    l: bf16 = h + h * 2.0
    m: bool = p == p  #! P0303
    n: bool = -b  #! P0303
    o: f32 = ~x  #! P0303
    return i ^ 3 | i << 2
""",
    "conditions": """
@requires(thread[1])
def f(n: int, x: f32, b: bool) -> int:
    if n:  #! P0305
        pass
    while x:  #! P0305
        pass
    a: bool = n and b  #! P0305
    c: bool = not n  #! P0305
    d: int = 1 if x else 2  #! P0305
    assert n  #! P0305
    return d
""",
    "conditional expressions": """
@requires(thread[1])
def f(n: int, x: f32, b: bool) -> f32:
    a: f32 = 1 if b else x
    c: f32 = x if b else 2
    d: f32 = 1 if b else 2
    e: f32 = n if b else x  #! P0301
    g := 1 if b else 2
    h: int = g
    return a
""",
    "shifts": """
@requires(thread[1])
def f(n: u64, i: int, h: u8) -> u64:
    a: u64 = n << i
    b: u64 = n >> 63
    c: u64 = n >> 64  #! P0312
    d: int = i << -1  #! P0312
    e: u8 = h << 8  #! P0312
    g: int = i << 1.0  #! P0303
    return a
""",
    "division by zero": """
const Z: int = 0

@requires(thread[1])
def f(n: int, x: f32) -> int:
    a: int = n / 0  #! P0311
    b: int = n % Z  #! P0311
    c: f32 = x / 0
    d: int = 4 / 0  #! P0311
    n /= 0  #! P0311
    return n
""",
    "conversions": """
@requires(thread[1])
def f(n: int, x: f32, b: bool, p: ptr(const f32)) -> f32:
    a: u8 = u8(n) + u8(300)
    c: f16 = f16(x)
    d: int = int(b) + int(x)
    e: bool = bool(n)
    g: i64 = i64(5000000000)
    h: int = int(p)  #! P0307
    k: int = int(n, 1)  #! P0346
    l: f8e4m3 = f8e4m3(x)
    return f32(c)
""",
    "bits": """
@requires(thread[1])
def f(x: f32, d: f64, h: bf16, u: u32, b: bool) -> f32:
    a: u32 = bits(x)
    c: u64 = bits(d)
    e: u16 = bits(h)
    g: f32 = bits(u)
    k: f64 = bits(u)  #! P0348
    l := bits[f32](u)
    m: u32 = bits(b)  #! P0348
    return l
""",
    "numbers": """
@requires(thread[1])
def f(i: int, u: u32, x: f32) -> int:
    a: f32 = max(x, 0)
    b: f32 = clamp(x, 0.0, 1)
    c: int = min(i, u)  #! P0301
    d: int = abs(i) + popc(u) + clz(u) + ctz(u)
    e: int = popc(x)  #! P0348
    g: f32 = select(i > 0, x, 1)
    h: int = min(i)  #! P0346
    k: u32 = pack(f16(x), f16(x))
    l: u32 = pack(x, x, x)  #! P0348
    m: vec(f16, 2) = unpack[f16](k)
    return d
""",
    "vectors": """
@requires(thread[1])
def f(p: ptr(const f32), q: ptr(f32), x: f32) -> f32:
    v: vec(f32, 4) = load_vec[4](p, 0)
    v.x = v.y + v.w
    v.z += 1.0
    store_vec[4](q, 4, v)
    store_vec[2](q, 0, vec2(x, 1))
    store_vec[4](p, 0, v)  #! P0336
    a: f32 = v.q  #! P0328
    b: f32 = x.x  #! P0328
    c: vec(f32, 4) = load_vec(p, 0)  #! P0348
    d: vec(f32, 8) = load_vec[4](p, 0)  #! P0327
    e: f32 = v + v  #! P0303
    g: f32 = load_vec[3](p, 0)  #! P0327
    w: vec(u8, 16)
    return v.x
""",
    "arrays": """
@requires(thread[1])
def f(i: int, x: f32) -> f32:
    a: f32[4] = 0
    b: f32[2][3] = x
    a[i] = x
    a[3] += 1
    a[4] = x  #! P0318
    a[-1] = x  #! P0318
    b[1][2] = a[0]
    b[1] = 2.0
    c: f32 = b[1]  #! P0308
    d: f32[4] = a  #! P0308
    a = a  #! P0308
    e: f32 = a[x]  #! P0306
    g := a  #! P0308
    h: f32 = a[0, 1]  #! P0330
    k: f32 = i[0]  #! P0329
    a += 1.0  #! P0303
    return b[0][0]
""",
    "array lengths": """
const N: int = 4

@requires(thread[1])
def f(n: int):
    a: f32[N * 2]
    b: f32[n]  #! P0310
    c: f32[0]  #! P0326
    d: f32[1.5]  #! P0306
    e: f32[N][n]  #! P0310
    g: ptr(f32)[2]  #! P0325
""",
    "memory": """
@requires(thread[1])
def f(p: ptr(f32), q: ptr(const f32[4, 8]), a: ptr(atomic u32), i: i64) -> f32:
    p[i] = q[1, 2] + q[i, 3]
    p[0] += p[1]
    b: f32 = q[1, 2, 3]  #! P0330
    c: f32 = p[1, 2]  #! P0330
    d: u32 = a[0]  #! P0338
    q[0] = 1.0  #! P0336
    p[0] = 1
    p[1] = i  #! P0301
    p.x = 1.0  #! P0328
    return q[5]
""",
    "names that are no values": """
const N: int = 4

@requires(thread[1])
def g() -> int:
    return 1

@requires(grid[1], block[1], thread[32])
kernel k(n: int):
    pass

@requires(thread[1])
def f(n: int) -> int:
    a: int = g  #! P0321
    b: int = f32  #! P0321
    c: int = max  #! P0321
    d: int = k  #! P0321
    e: int = thread[1]  #! P0321
    h: N = 1  #! P0320
    i: g = 1  #! P0320
    j: int = "text"  #! P0321
    return N
""",
    "one mistake, one message": """
@requires(thread[1])
def f(n: int) -> f32:
    a := n + 1.5  #! P0302
    b: f32 = a * 2.0
    c: int = a[0].x
    return b + f32(c) - a
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program(text: str) -> None:
    assert_marked(text)


def test_a_literal_that_meets_a_float_type_is_refused_with_both_types() -> None:
    (problem,) = elaborate("@requires(thread[1])\ndef f(n: int) -> f32:\n    return n\n").problems
    assert problem.shown_message() == "this needs f32, and gets i32"
    assert problem.shown_help() == "convert it: `f32(n)`"
    assert [related.message for related in problem.related] == ["the result is f32"]

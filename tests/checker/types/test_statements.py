"""Assignments, paths, narrowing and splitting, as far as they need no perspective."""

from __future__ import annotations

import pytest

from support.elaborating import assert_marked

PROGRAMS = {
    "what cannot be assigned": """
const N: int = 4

@requires(block[1], thread[32])
def f(x: ptr(f32), a: const f32[4] @ thread[1], n: int):
    const K: int = 2
    shared S: f32[32]
    t: int @ thread[1] = id()
    N = 5  #! P0337
    K = 3  #! P0337
    S = x  #! P0337
    f = 1  #! P0337
    a[0] = 1.0  #! P0336
    a = 0.0  #! P0336
    for i in range(n):
        i += 1  #! P0335
    static for j in range(2):
        j = 1  #! P0335
    partition S as s @ thread[1] at t:
        s = x  #! P0337
        s[0] = 1.0
    n = 3
""",
    "several at once": """
@requires(thread[1])
def f(a: int, b: int, x: ptr(const f32), y: ptr(const f32)) -> ptr(const f32):
    a, b = b, a
    a, b = b, a, 1  #! P0339
    a, b = 1, 2.5  #! P0301
    x, y = y, x
    a, N = b, a  #! P0201
    return x
""",
    "several results": """
@requires(thread[1])
def two(n: int) -> (u32 @ thread[1], f32):
    return u32(n), f32(n)

@requires(thread[1])
def f(n: int) -> f32:
    a, b := two(n)
    c, d, e := two(n)  #! P0339
    g, h := n  #! P0339
    i := two(n)  #! P0349
    j: f32 = b + c
    k: u32 = b  #! P0301
    two(n)
    return b
""",
    "returns": """
@requires(thread[1])
def none(n: int):
    if n > 0:
        return
    return n  #! P0361

@requires(thread[1])
def one(n: int) -> int:
    return  #! P0361

@requires(thread[1])
def two(n: int) -> (int, f32):
    return n  #! P0361

@requires(thread[1])
def wrong(n: int) -> (int, f32):
    return n, n  #! P0301
""",
    "a return on every path": """
@requires(thread[1])
def missing(n: int) -> int:  #! P0360
    while n > 0:
        return 1

@requires(thread[1])
def both(n: int) -> int:
    if n > 0:
        return 1
    elif n < 0:
        return 2
    else:
        return 3

@requires(thread[1])
def forever(n: int) -> int:
    while true:
        if n > 3:
            return n
        n += 1

@requires(thread[1])
def left(n: int) -> int:  #! P0360
    while true:
        if n > 3:
            break
        return n

@requires(thread[1])
def decided(n: int) -> int:
    static if true:
        return n
""",
    "unreachable": """
@requires(thread[1])
def f(n: int) -> int:
    for i in range(n):
        continue
        n += 1  #! P0362
    while n > 0:
        break
        n += 1  #! P0362
    return n
    return 2  #! P0362
""",
    "exits without a loop": """
@requires(thread[1])
def f(n: int):
    break  #! P0363
    for i in range(n):
        break
    static for i in range(2):
        continue  #! P0363
    for i in range(n):
        static for j in range(2):
            break  #! P0363
""",
    "shared values are assigned before they are read": """
@requires(block[1], thread[32])
def f(n: int) -> int:
    a: int
    if n > 0:
        a = 1
    else:
        a = 2
    b: int
    while n > 3:
        b = 1
        n -= 1
    c: int
    for i in range(n):
        if i > 2:
            c = 3
            break
    d: int @ thread[1]
    e: int = d
    g: int
    g += 1  #! P0341
    h: int[4]  #! P0342
    k: int[4] @ thread[1]
    return a + b + c  #! P0341 P0341
""",
    "arms of a split assign only for their own threads": """
@requires(block[1], thread[64])
def f(n: int) -> int @ thread[32]:
    a: int @ thread[32]
    b: int @ thread[32]
    split thread:
        case 32:
            a = 1
            b = 1
        case 32:
            a = 2
    first thread[32]:
        b = 2
    return a + b  #! P0341
""",
    "loops": """
@requires(thread[1])
def f(n: int, u: u32, w: i64, x: f32):
    for i in range(u):
        v: u32 = i
    for i in range(0, w, 2):
        v: i64 = i
    for i in range(n, u):  #! P0301
        pass
    for i in range(x):  #! P0301
        pass
    for i in range(0, 10, 0):  #! P0317
        pass
    for i in range(10, 0, -1):
        pass
    unroll for i in range(4):
        v: int = i
""",
    "narrowing": """
@requires(block[1], thread[64])
def f(x: ptr(f32), a: f32[4] @ thread[1], n: int, y: ptr(f32[8, 8])):
    t: int @ thread[1] = id()
    partition a as b @ thread[1] at t:  #! P0331
        b[0] = 1.0
    partition n as b @ thread[1] at t:  #! P0331
        pass
    partition x as b @ thread[1] at 1.5:  #! P0306
        b[0] = 1.0
    partition x as b @ thread[n] at t:  #! P0310
        b[0] = 1.0
    partition x as b @ thread[1] at (t, t):  #! P0330
        pass
    partition y as b @ thread[1] at (t, 0):
        b[1, 2] = 1.0
    partition x as b @ thread[1] by i => i * 2.5:  #! P0302
        pass
    claim x as b @ thread[32]:
        first thread[32]:
            pass
    partition x as b @ thread[1] at t, y as c @ thread[1] at t:
        b[0] = 1.0
        c[0] = 2.0
""",
    "perspectives": """
const N: int = 2

@requires(block[1], thread[64])
def f(n: int):
    group thread[0]:  #! P0323
        pass
    group grid[2]:  #! P0323
        pass
    group N:  #! P0322
        pass
    group thread[n]:  #! P0310
        pass
    split grid:  #! P0324
        case 1:
            pass
    split thread:
        case n:  #! P0310
            pass
    split warp:
        case -1:  #! P0324
            pass
    first grid[1]:  #! P0324
        pass
    x: int @ thread[0] = id()  #! P0323
    y: int = x
""",
    "shared memory": """
@requires(block[1], thread[64])
def f(n: int, k: int):
    shared a: f32  #! P0325
    shared b: f32[n]  #! P0310
    shared c: f32[4][2][8]  #! P0325
    shared d: f32[8] align 3  #! P0343
    shared e: f64[8] align 4  #! P0343
    shared g: f32[8] align 64
    shared s: f32[2][16]
    v: f32 @ thread[1] = s[0]  #! P0301
    w: f32 @ thread[1] = s[1][0]
    y: f32 @ thread[1] = s[2][0]  #! P0318
    z: f32 @ thread[1] = s[k][0]  #! P0332
    u: f32 @ thread[1] = g[8]  #! P0318
    s[0] = 1.0  #! P0337
    p := s  #! P0332
""",
    "lines that do nothing": """
def double(n: int) -> int:
    return n * 2

@requires(thread[1])
def f(n: int):
    n  #! P0350
    n + 1  #! P0350
    double(n)  #! P0350
    max(n, 2)  #! P0350
    f32(n)  #! P0350
""",
    "pointers": """
@requires(block[1], thread[32])
def inner(a: ptr(f32), b: ptr(f32)) -> ptr(f32):
    p: ptr(f32) = a
    q: ptr(const f32) = a
    r: ptr(f32) = q  #! P0301
    s: ptr(i32) = a  #! P0301
    t: ptr(f32)  #! P0340
    p, a = a, p
    p += 1  #! P0303
    return q  #! P0301

@requires(block[1], thread[32])
def local(a: ptr(f32)) -> ptr(f32):
    shared S: f32[32]
    p: ptr(f32) = a
    p = S
    return p  #! P0364

@requires(block[1], thread[32])
def passed(a: ptr(f32)) -> ptr(f32):
    shared S: f32[32]
    q: ptr(f32) = inner(a, S)
    return q  #! P0364
""",
    "not built yet, once": """
@requires(block[1], thread[32])
def f(x: ptr(f32), n: int, c: ptr(atomic u32)):
    async x as y:
        y[0] = 1.0  #! P0344
        v := load_vec[4](y, 0)  #! P0344
    a: f32[4] = 0
    async a as z:
        z[0] = 1.0  #! P0344
        b: f32 = z[0]  #! P0344
        z = 0  #! P0337
        async z as w:  #! P0344
            pass
    finish c:  #! P0379
        x[0] = nothing_here  #! P0201
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program(text: str) -> None:
    assert_marked(text)

"""Calls, generics and instances: who is called with what, and which copies exist."""

from __future__ import annotations

import pytest

from support.elaborating import assert_marked, elaborate

PROGRAMS = {
    "arguments": """
@requires(thread[1])
def g(n: int, x: f32, p: ptr(const f32), a: f32[4], c: const f32[4]) -> f32:
    a[0] = c[1]
    return x

@requires(thread[1])
def f(n: i64, q: ptr(f32), r: ptr(const i32), b: const f32[4], d: f32[4], e: f32[3]) -> f32:
    g(1, 2, q, d, b)
    g(n, 2, q, d, b)  #! P0301
    g(1, 2, r, d, b)  #! P0301
    g(1, 2, q, b, b)  #! P0336
    g(1, 2, q, e, b)  #! P0301
    g(1, 2, q, 0, b)  #! P0301
    g(1, 2, q)  #! P0346
    g(1, 2, q, d, b, 3)  #! P0346
    g(n = 1)  #! P0347
    return g(1, 2.5, q, d, d) + g(1.5, 2, q, d, d)  #! P0301
""",
    "what can be called": """
const N: int = 3

@requires(grid[1], block[1], thread[32])
kernel k(n: int):
    pass

@requires(thread[1])
def f(n: int) -> int:
    n(1)  #! P0345
    N(1)  #! P0345
    k(1)  #! P0345
    (n + 1)(2)  #! P0345
    return f32(n)  #! P0301
""",
    "pointers keep their qualifiers": """
@requires(thread[1])
def store(p: ptr(f32)):
    p[0] = 1.0

@requires(thread[1])
def load(p: ptr(const f32)) -> f32:
    return p[0]

@requires(thread[1])
def add(p: ptr(atomic u32)):
    pass

@requires(thread[1])
def f(p: ptr(const f32), q: ptr(f32), a: ptr(atomic u32), u: ptr(u32), c: ptr(const u32)):
    store(p)  #! P0301
    store(q)
    x: f32 = load(p) + load(q)
    add(a)
    add(u)
    add(c)  #! P0301
    add(q)  #! P0301
""",
    "recursion": """
@requires(thread[1])
def a(n: int) -> int:
    return b(n)

@requires(thread[1])
def b(n: int) -> int:
    return c(n)

@requires(thread[1])
def c(n: int) -> int:
    return a(n)  #! P0351

def e(n: int) -> int:
    return e(n - 1)  #! P0351

@requires(thread[1])
def fine(n: int) -> int:
    return a(n)
""",
    "recursion is judged on instances": """
@requires(thread[1])
def count_down[N: int]() -> int:
    static if N == 0:
        return 0
    else:
        return count_down[N - 1]() + 1

@requires(thread[1])
def f() -> int:
    return count_down[5]()
""",
    "specialisation without an end": """
@requires(thread[1])
def up[N: int]() -> int:
    return up[N + 1]()  #! P0352

@requires(thread[1])
def f() -> int:
    return up[0]()
""",
    "generic arguments": """
@requires(thread[1])
def fill[T: type, N: int](p: ptr(T), v: T) -> int:
    for i in range(N):
        p[i] = v
    return N

@requires(thread[1])
def sum[T: type, N: int, M: int](a: const T[N][M]) -> T:
    r: T = 0
    static for i in range(N):
        static for j in range(M):
            r += a[i][j]
    return r

@requires(thread[1])
def f(p: ptr(f32), q: ptr(i32), n: int) -> f32:
    a: f32[2][3] = 1
    b: f32[4] = 1
    fill[f32, 3](p, 1)
    fill[N = 3](p, 1.5)
    fill[N = 2, T = i32](q, 1)
    fill(p, 1)  #! P0353
    fill[f32](p, 1)  #! P0353
    fill[i32, 3](p, 1)  #! P0301
    fill[f32, n](p, 1)  #! P0310
    fill[f32, 3, 4](p, 1)  #! P0354
    fill[f32, N = 3, T = f32](p, 1)  #! P0354
    fill[M = 3](p, 1)  #! P0354
    fill[3, f32](p, 1)  #! P0320 P0321
    x: f32 = sum(b)  #! P0353
    return sum(a)
""",
    "functions as arguments": """
def add[T: type](a: T, b: T) -> T:
    return a + b

def plus(a: int, b: int) -> int:
    return a + b

def negated(a: int) -> int:
    return -a

@requires(thread[1])
def device(a: int, b: int) -> int:
    return a

@requires(thread[1])
def fold[T: type, Op: fn(T, T) -> T](a: T, b: T) -> T:
    return Op(a, b)

@requires(thread[1])
def twice[T: type, Op: fn(T, T) -> T](a: T, b: T) -> T:
    return fold[T, Op](a, fold[Op = Op](a, b))

@requires(thread[1])
def f(n: int, x: f32) -> f32:
    a: int = fold[int, plus](n, 1)
    b: int = fold[Op = plus](n, 1)
    c: f32 = twice[f32, add](x, x)
    d: int = fold[int, device](n, 1)  #! P0354
    e: int = fold[int, negated](n, 1)  #! P0354
    g: f32 = fold[f32, plus](x, 1)  #! P0354
    h: int = fold[int, n](n, 1)  #! P0354
    i: int = fold[int](n, 1)  #! P0353
    return c
""",
    "expression functions": """
def good(n: int, p: ptr(const int)) -> int:
    r: int = n
    a: int[2] = 0
    for i in range(n):
        if i > 3:
            r += p[i]
            a[0] = r
    return helper(r)

def helper(n: int) -> int:
    return n * 2

@requires(thread[1])
def device(n: int) -> int:
    return n

def bad(n: int @ thread[1], p: ptr(int)) -> int @ thread[1]:  #! P0356
    a: int = id(thread[1])
    b: int = count(thread[1])
    c: int = device(n)
    p[0] = 1
    shared S: f32[4]
    group thread[1]:
        pass
    return a + b + c

@requires(block[1], thread[32])
def f(p: ptr(const int)) -> int @ thread[1]:
    t: int @ thread[1] = id()
    return good(t, p) + good(1, p)
""",
    "generic bodies are tried without arguments": """
@requires(thread[N])
def f[T: type, N: int, P: perspective, Op: fn(T, T) -> T](p: ptr(T), v: T, a: T[N]) -> T @ P:
    x: T = Op(v, a[0]) + p[N] * 2
    y: f32[N] = 0
    group P:
        z: int @ thread[1] = id()
    static for i in range(N):
        a[i] = v
    static if T == f32:
        return x
    const K: int = N * 2
    b: int = missing  #! P0201
    c: int = 1.5  #! P0301
    d: f32 = K
    static assert N > 2
    return x
""",
    "perspective arguments": """
@requires(P, thread[32])
def f[P: perspective](x: int @ thread[1]) -> int @ P:
    static if P <= thread[32]:
        const n: int = count(thread[1])
        return n
    else:
        return count(thread[32])

@requires(block[1], thread[64])
def g() -> int:
    a: int @ thread[1] = 1
    group thread[8]:
        b: int = f[thread[8]](a)
        c: int = f(a)
    d: int = f[N](a)  #! P0201
    e: int = f[3](a)  #! P0322
    return f(a)
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program(text: str) -> None:
    assert_marked(text)


GENERIC = """
@requires(block[1], thread[32])
def units() -> int:
    return count(thread[1])

@requires(thread[32])
def lanes() -> int:
    return count(thread[1])

@requires(thread[1])
def fill[T: type, N: int](p: ptr(T)):
    p[N] = 0

@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel small(p: ptr(f32)):
    group block[1]:
        n: int = units() + lanes()
    group thread[1]:
        fill[f32, 3](q)

@requires(grid[1], block[1], thread[32])
@launch(threads = 128)
kernel large[N: int](p: ptr(f32)):
    group block[1]:
        n: int = units() + lanes()

@requires(thread[1])
def fill_f32_3():
    pass

export large_one = large[1]
export large_two = large[2]
"""


def test_instances_and_their_symbols() -> None:
    done = elaborate(GENERIC.replace("fill[f32, 3](q)", "fill[f32, 3](p)"))
    threads = {symbol: body.instance.threads for symbol, body in done.program.bodies.items()}
    assert threads == {
        "units": 64,
        "lanes": None,
        "fill_f32_3": None,
        "small": 64,
        "units_t128": 128,
        "large_one": 128,
        "large_two": 128,
        "main_fill_f32_3": None,
    }


def test_callees_come_before_callers() -> None:
    done = elaborate(GENERIC)
    order = list(done.program.bodies)
    assert order.index("units") < order.index("small")
    assert order.index("units_t128") < order.index("large_one")


def test_the_use_that_asked_for_an_instance_is_named() -> None:
    text = """
@requires(thread[1])
def f[N: int](a: f32[N]) -> f32:
    return a[3]

@requires(thread[1])
def g(a: f32[4], b: f32[2]) -> f32:
    return f(a) + f(b)
"""
    done = elaborate(text)
    (problem,) = done.problems
    assert [(done.files.position(r.at).line, r.message) for r in problem.related[-1:]] == [
        (8, "with N = 2, asked for here")
    ]


def test_the_uses_that_led_to_an_instance_are_named() -> None:
    text = """
@requires(thread[1])
def inner[N: int](a: f32[N]) -> f32:
    return a[3]

@requires(thread[1])
def outer[N: int](a: f32[N]) -> f32:
    return inner(a)

@requires(thread[1])
def go(a: f32[2]) -> f32:
    return outer(a)
"""
    done = elaborate(text)
    (problem,) = done.problems
    assert [(done.files.position(r.at).line, r.message) for r in problem.related[-2:]] == [
        (8, "with N = 2, asked for here"),
        (12, "`outer` with N = 2, asked for here"),
    ]


def test_refused_instances_are_listed_and_their_callers_are_not() -> None:
    text = """
@requires(thread[1])
def bad(n: int) -> f32:
    return n

@requires(thread[1])
def good(n: int) -> f32:
    return bad(n)
"""
    done = elaborate(text)
    assert done.program.refused == frozenset({"bad"})
    assert list(done.program.bodies) == ["bad", "good"]


def test_imported_functions_are_elaborated_as_used() -> None:
    module = """
@requires(thread[1])
def used(n: int) -> int:
    return n

@requires(thread[1])
def unused(n: int) -> f32:
    return n
"""
    text = "from m import used\n\n@requires(thread[1])\ndef f() -> int:\n    return used(1)\n"
    done = elaborate(text, modules={"m.prism": module})
    assert done.problems == ()
    assert list(done.program.bodies) == ["used", "f"]


def test_functions_of_two_modules_with_one_name() -> None:
    module = "@requires(thread[1])\ndef f() -> int:\n    return 1\n"
    text = "import m\n\n@requires(thread[1])\ndef f() -> int:\n    return m.f()\n"
    done = elaborate(text, modules={"m.prism": module})
    assert list(done.program.bodies) == ["m_f", "f"]


def test_help_names_what_is_to_be_passed() -> None:
    text = """
@requires(thread[1])
def load(p: ptr(const f32), i: int) -> f32:
    return p[i]

@requires(thread[1])
def g(row: ptr(const f32)) -> f32:
    a: f32 = load(row)
    return load(row[4], 0) + a
"""
    assert [problem.shown_help() for problem in elaborate(text).problems] == [
        "pass one argument for each parameter: `p`, `i`",
        "name memory from there on, `partition row as part @ .. at ..:`, and pass `part`",
    ]

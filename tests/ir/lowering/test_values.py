"""Small kernels through the whole compiler and the PTX machine, against plain Python.

Each looks at one thing that lowering does; all threads store one int to `Y`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from support.running import Compiled, compile_texts

THREADS = 64
T = np.arange(THREADS, dtype=np.int32)

KERNEL = """
@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel k({parameters}):
    b: int @ block[1] = id()
    partition Y as yb @ block[1] at b * 64:
        group block[1]:
            t: int @ thread[1] = id()
            partition yb as y @ thread[1] at t:
{body}
"""


def compiled(body: str, functions: str = "", parameters: str = "Y: ptr(i32)") -> Compiled:
    """A kernel whose innermost body is `body`, after some functions."""
    indented = "\n".join(" " * 16 + line for line in body.strip("\n").splitlines())
    text = functions + KERNEL.format(parameters=parameters, body=indented)
    return compile_texts({"k.prism": text}, "k.prism")


def stored(program: Compiled, **arguments: object) -> list[int]:
    """What one block leaves in `Y`."""
    result = program.run(1, {"Y": np.full(THREADS, -1, np.int32), **arguments})
    return list(map(int, result["Y"]))


def expected(each: Callable[[int], int]) -> list[int]:
    return [each(t) for t in range(THREADS)]


def remainder(a: int, b: int) -> int:
    return int(math.fmod(a, b))


# --------------------------------------------------------------------------- control flow


def test_variables_assigned_in_arms() -> None:
    program = compiled("""
v: int @ thread[1] = 0
w: int @ thread[1] = 7
group thread[1]:
    if t < 10:
        v = 1
    elif t < 20:
        w = 2
        v = w + 1
    else:
        v = w
y[0] = v * 100 + w
""")
    assert stored(program) == expected(lambda t: 107 if t < 10 else 302 if t < 20 else 707)


def _loops(t: int) -> int:
    s, p = 0, 1
    for i in range(t):
        if i == 5:
            continue
        if i > 30:
            break
        s += i
        p = s - p
    while s > 100:
        s -= 37
        if s < 50:
            break
    return s * 1000 + remainder(p, 1000)


def test_loops_that_carry_variables_and_are_left() -> None:
    program = compiled("""
s: int @ thread[1] = 0
p: int @ thread[1] = 1
group thread[1]:
    for i in range(t):
        if i == 5:
            continue
        if i > 30:
            break
        s += i
        p = s - p
    while s > 100:
        s -= 37
        if s < 50:
            break
y[0] = s * 1000 + p % 1000
""")
    assert stored(program) == expected(_loops)


def test_counting_down() -> None:
    program = compiled("""
s: int @ thread[1] = 0
for i in range(10, 0, -3):
    s = s * 10 + i
y[0] = s + t
""")
    assert stored(program) == expected(lambda t: 10741 + t)


def test_return_from_inside_a_loop() -> None:
    functions = """
@requires(thread[1])
def root(t: int) -> int:
    for i in range(100):
        if i * i > t:
            return i
    return -1
"""
    program = compiled("y[0] = root(t)", functions)
    assert stored(program) == expected(lambda t: math.isqrt(t) + 1)


def test_a_variable_without_a_value_before_a_branch() -> None:
    program = compiled("""
group thread[1]:
    v: int
    if t % 2 == 0:
        v = t
    else:
        v = -t
    y[0] = v
""")
    assert stored(program) == expected(lambda t: t if t % 2 == 0 else -t)


def test_lazy_operands_do_not_load() -> None:
    # X has 10 elements: the emulator would find a load beyond them.
    program = compiled(
        """
group thread[1]:
    v: int = X[t] if t < n else -5
    ok: bool = t < n and X[t] > 3 or t == 63
    y[0] = v * 2 + (1 if ok else 0)
""",
        parameters="Y: ptr(i32), X: ptr(const i32), n: int",
    )
    found = stored(program, X=np.arange(10, dtype=np.int32), n=10)
    assert found == expected(lambda t: (t * 2 if t < 10 else -10) + (3 < t < 10 or t == 63))


# --------------------------------------------------------------------------- arrays, results


def _arrays(t: int) -> int:
    a = [3, 3 + t, 3, 3]
    c = [[9, 9, 8, 9], [5, 5, 10, 5]]
    for i in range(4):
        a[0] += a[i] + c[1][i] + c[0][i]
    return a[0]


def test_arrays_by_reference() -> None:
    functions = """
@requires(thread[1])
def set(a: int[4], v: int):
    a[2] = v
"""
    program = compiled(
        """
a: int[4] @ thread[1] = 3
c: int[2][4] @ thread[1] = 1
a[1] += t
c[1] = 5
c[1][2] *= 2
c[0] = 9
group thread[1]:
    set(c[0], 8)
static for i in range(4):
    a[0] += a[i] + c[1][i] + c[0][i]
y[0] = a[0]
""",
        functions,
    )
    assert stored(program) == expected(_arrays)


def test_several_results_and_a_swap() -> None:
    functions = """
@requires(thread[1])
def divide(a: int, b: int) -> (int, int):
    return a / b, a % b
"""
    program = compiled(
        """
q, r := divide(t, 7)
a: int @ thread[1] = 1
c: int @ thread[1] = t
a, c = c, a
y[0] = q * 100 + r * 10 + a - c
""",
        functions,
    )
    assert stored(program) == expected(lambda t: t // 7 * 100 + t % 7 * 10 + t - 1)


def test_vectors_and_bits() -> None:
    program = compiled(
        """
v: vec(f32, 4) @ thread[1] = vec4(1.0, 2.0, 3.0, 4.0)
v.y = f32(t)
v.w += v.y
a: f32[4] @ thread[1] = 0
unsafe:
    assume(aligned(X, 16))
load_into[4](a, 0, X, 4)
word: u32 @ thread[1] = pack(f16(t), f16(2))
half: vec(f16, 2) @ thread[1] = unpack[f16](word)
y[0] = int(v.w) * 1000 + int(a[3] + a[1]) + int(f32(half.x) * f32(half.y)) + i32(bits(1.5)) % 7
""",
        parameters="Y: ptr(i32), X: ptr(const f32)",
    )
    found = stored(program, X=np.arange(8, dtype=np.float32))
    assert found == expected(lambda t: (t + 4) * 1000 + 12 + 2 * t + 0x3FC00000 % 7)


def _integers(t: int) -> int:
    a = t - 32
    u = a & 0xFFFFFFFF
    c = (a * 5 + 128) % 256 - 128
    return (
        int(a / 3) + remainder(a, 3) * 7 + (u >> 28) + (a >> 1) + u.bit_count()
        + 32 - u.bit_length() + min(a, 3) + max(t, 5) + abs(a) + c + max(-2, min(2, a))
        + (~a & 255) + (1 if a > 0 else 2)
    )  # fmt: skip


def test_integer_operators() -> None:
    program = compiled("""
a: int @ thread[1] = t - 32
u: u32 @ thread[1] = u32(a)
c: i8 @ thread[1] = i8(a * 5)
r: int @ thread[1] = a / 3 + a % 3 * 7 + int(u >> 28) + (a >> 1) + popc(a) + clz(u)
r += min(a, 3) + max(t, 5) + abs(a) + int(c) + clamp(a, -2, 2)
y[0] = r + (~a & 0xff) + select(a > 0, 1, 2)
""")
    assert stored(program) == expected(_integers)


# --------------------------------------------------------------------------- pointers


def test_index_functions_of_index_functions() -> None:
    text = """
@requires(grid[1], block[1], thread[32])
@launch(threads = 32)
kernel k(Y: ptr(i32)):
    b: int @ block[1] = id()
    partition Y as yb @ block[1] at b * 128:
        group block[1]:
            t: int @ thread[1] = id()
            partition yb as y @ thread[1] by j => t + j * 32:
                group thread[1]:
                    partition y as z @ thread[1] at 1:
                        z[0] = t
                        z[1] = -t
                        partition z as w @ thread[1] by i => 2 - i:
                            w[0] = t * 2
                            w[3] = t * 3
"""
    program = compile_texts({"k.prism": text}, "k.prism")
    found = program.run(2, {"Y": np.full(256, -1, np.int32)})["Y"]
    lane = np.arange(32)
    assert (found == np.tile(np.r_[lane * 3, lane, -lane, lane * 2], 2)).all()


SWAPS = """
@requires(block[1], thread[32])
def pick(x: ptr(i32), z: ptr(i32), n: int) -> int @ thread[1]:
    t: int @ thread[1] = id()
    for i in range(n):
        x, z = z, x
    return x[t]

@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel k(Y: ptr(i32), n: int):
    b: int @ block[1] = id()
    partition Y as yb @ block[1] at b * 64:
        group block[1]:
            t: int @ thread[1] = id()
            shared S: i32[64]
            shared U: i32[64]
            partition S as s @ thread[1] at t:
                s[0] = t
            partition U as u @ thread[1] at t:
                u[0] = -t
            r: int @ thread[1] = pick(S, U, n)
            partition yb as y @ thread[1] at t:
                y[0] = r
"""


@pytest.mark.parametrize(("count", "sign"), [(0, 1), (2, 1), (3, -1)])
def test_pointers_that_are_swapped(count: int, sign: int) -> None:
    program = compile_texts({"k.prism": SWAPS}, "k.prism")
    assert stored(program, n=count) == expected(lambda t: sign * t)


# --------------------------------------------------------------------------- perspectives

UNITS = """
@requires(thread[8])
def mirrored(v: int @ thread[1]) -> int @ thread[1]:
    shared H: i32[8]
    i: int @ thread[1] = id()
    partition H as h @ thread[1] at i:
        h[0] = v
    r: int @ thread[1] = H[7 - i]
    return r
"""


def _units(t: int) -> int:
    lane = t % 32
    v = t // 32 * 32 + 31 - lane
    if lane < 16:
        return v * 100 + lane + (lane // 8 * 8 + 7 - lane % 8) * 10000
    return v * 100 + lane % 4 * 10 + lane % 4 // 2 if lane < 24 else 0


def test_positions_and_memory_of_units() -> None:
    """`group` in `split` in `group`, an array for each warp, a call that is a group itself."""
    program = compiled(
        """
y[0] = 0
group thread[32]:
    l: int @ thread[1] = id()
    shared S: i32[32]
    partition S as s @ thread[1] at l:
        s[0] = t
    v: int @ thread[1] = S[31 - l]
    u: int @ thread[1] = mirrored(l)
    split thread:
        case 16:
            m: int @ thread[1] = id()
            y[0] = v * 100 + m + u * 10000
        case 8:
            group thread[4]:
                m: int @ thread[1] = id()
                g: int @ thread[2] = id()
                y[0] = v * 100 + m * 10 + g
""",
        UNITS,
    )
    assert stored(program) == expected(_units)


def test_a_named_barrier_in_a_function_of_sixty_four_threads() -> None:
    text = """
@requires(thread[64])
def mirrored(v: int @ thread[1]) -> int @ thread[1]:
    shared H: i32[64]
    i: int @ thread[1] = id()
    partition H as h @ thread[1] at i:
        h[0] = v
    r: int @ thread[1] = H[63 - i]
    return r

@requires(grid[1], block[1], thread[64])
@launch(threads = 256)
kernel k(Y: ptr(i32)):
    b: int @ block[1] = id()
    partition Y as yb @ block[1] at b * 256:
        group block[1]:
            t: int @ thread[1] = id()
            r: int @ thread[1] = mirrored(t)
            partition yb as y @ thread[1] at t:
                y[0] = r
"""
    program = compile_texts({"k.prism": text}, "k.prism")
    (barrier,) = [line for line in program.ptx.splitlines() if "bar" in line]
    assert barrier.startswith("\tbar.sync %r")
    assert barrier.endswith(", 64;")
    found = program.run(1, {"Y": np.full(256, -1, np.int32)})["Y"]
    i = np.arange(256)
    assert (found == i // 64 * 64 + 63 - i % 64).all()


def test_an_arm_that_starts_late_in_a_group() -> None:
    program = compiled("""
y[0] = -1
group thread[32]:
    split thread:
        case 16:
            pass
        case 8:
            group thread[4]:
                m: int @ thread[1] = id()
                y[0] = m
        case 8:
            m: int @ thread[1] = id()
            y[0] = m + 100
""")
    assert stored(program) == expected(
        lambda t: -1 if t % 32 < 16 else t % 4 if t % 32 < 24 else t % 8 + 100
    )


def test_units_of_the_grid() -> None:
    text = """
@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel k(Y: ptr(i32)):
    i: int @ thread[1] = id()
    w: int @ thread[32] = id()
    b: int @ block[1] = id()
    n: int = count(thread[1])
    warps: int = count(thread[32])
    blocks: int = count(block[1])
    partition Y as y @ thread[1] at i:
        y[0] = i + 1000 * (w + 10 * (b + 10 * blocks)) + n + warps
"""
    program = compile_texts({"k.prism": text}, "k.prism")
    found = program.run(3, {"Y": np.full(192, -1, np.int32)})["Y"]
    i = np.arange(192)
    assert (found == i + 1000 * (i // 32 + 10 * (i // 64 + 30)) + 192 + 6).all()


def test_groups_of_threads_straight_from_the_grid() -> None:
    text = """
@requires(thread[8])
def lane() -> int @ thread[1]:
    i: int @ thread[1] = id()
    return i

@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel k(Y: ptr(i32)):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i:
        u: int @ thread[1] = lane()
        group thread[32]:
            l: int @ thread[1] = id()
            h: int @ thread[16] = id()
            y[0] = u + 100 * l + 10000 * h
"""
    program = compile_texts({"k.prism": text}, "k.prism")
    found = program.run(2, {"Y": np.full(128, -1, np.int32)})["Y"]
    i = np.arange(128)
    assert (found == i % 8 + 100 * (i % 32) + 10000 * (i % 32 // 16)).all()


def test_broadcasts() -> None:
    program = compiled("""
m: int @ thread[8] = broadcast(t)
c: f32 @ thread[32] = broadcast(f32(t) * 2)
e: f16 @ thread[4] = broadcast(f16(t))
y[0] = m + int(c) * 100 + int(e) * 10000
""")
    assert stored(program) == expected(
        lambda t: t // 8 * 8 + t // 32 * 32 * 200 + t // 4 * 4 * 10000
    )


# --------------------------------------------------------------------------- unsafe


def test_asm_operands() -> None:
    functions = """
@requires(thread[1])
@effects()
unsafe def tricks(a: int, c: bool) -> (int, bool):
    r: int
    s: int = a
    p: bool
    asm("add.s32 $0, $2, $4; add.s32 $2, $2, 1; {.reg .pred q; setp.lt.s32 q, $4, 7; "
        "selp.s32 $1, 1, 0, q;} add.s32 $2, $2, $3;", outs(r, p), inouts(s), ins(c, a))
    return r * 100 + s, p
"""
    program = compiled(
        """
r, p := tricks(t, t % 2 == 0)
y[0] = r * 2 + (1 if p else 0)
""",
        functions,
    )
    assert stored(program) == expected(lambda t: (2 * t * 100 + t + 1 + (t % 2 == 0)) * 2 + (t < 7))

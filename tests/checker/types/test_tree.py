"""The typed tree itself, through its dump: what is left after elaboration."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.walk import expressions_in, statement_operands, statements_in
from support.elaborating import elaborate

EVERYTHING = """
const N: int = 2

def double(n: int) -> int:
    return n * 2

@requires(thread[1])
def both(n: int) -> (int, f32):
    return n, f32(n)

@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel k(x: ptr(const f32[8, 16]), y: ptr(f32), n: int):
    b: int @ block[1] = id()
    blocks: int = count(block[1])
    partition y as yb @ block[1] at b * 64:
        group block[1]:
            shared S: f32[2][64] align 32
            t: int @ thread[1] = id()
            w: int @ warp[1] = id(warp[1])
            threads: int = count(thread[1])
            partition S[N - 1] as s @ thread[1] at t, yb as z @ thread[1] by i => t + i * 64:
                s[0] = x[b, t] + f32(double(n)) + f32(double(N))
                static for j in range(N):
                    z[j] = s[0] if n > j else -1
            claim S[0] as c @ thread[32]:
                split warp:
                    case 1:
                        for i in range(n):
                            m: bool = i > 0 and not (n == 3)
                            if m:
                                continue
                            else:
                                break
                    case 1:
                        while n > N:
                            pass
            group thread[1]:
                p, q := both(t)
                v: vec(f32, 2) = vec2(q, 1)
                v.y *= 2
                a: f32[4]
                load_into[2](a, 2, S[1], 0)
                p, t = t, p
                assert p > 0, "positive"
                print("%d", p)
"""

DUMP = """\
expression function double: thread[1]
    parameter n: i32 @ thread[1]
    result i32 @ thread[1]
    5: return (n * 2)

device function both: thread[1]
    parameter n: i32 @ thread[1]
    result i32 @ thread[1]
    result f32 @ thread[1]
    9: return n, f32(n)

kernel k: grid[1] block[1] thread[32], 64 threads a block
    parameter x: ptr(const f32) @ grid[1]
    parameter y: ptr(f32) @ grid[1]
    parameter n: i32 @ grid[1]
    14: b: i32 @ block[1] = id(block[1] in grid[1])
    15: blocks: i32 @ grid[1] = count(block[1] in grid[1])
    16: partition y as yb: ptr(f32) @ block[1] at (b * 64):
        17: group block[1]:
            18: shared S: f32[64] @ block[1] align 32, 2 slots
            19: t: i32 @ thread[1] = id(thread[1] in block[1])
            20: w: i32 @ thread[32] = id(thread[32] in block[1])
            21: threads: i32 @ block[1] = 64
            22: partition S[1] as s: ptr(f32) @ thread[1] at t, \
yb as z: ptr(f32) @ thread[1] by i => (t + (i * 64)):
                23: s[0] = ((x[((b * 16) + t)] + f32(double(n))) + 4.0)
                25: z[0] = (s[0] if (n > 0) else -1.0)
                25: z[1] = (s[0] if (n > 1) else -1.0)
            26: claim S[0] as c: ptr(f32) @ thread[32]:
                27: split, 32 available:
                    28: thread[32] from 0:
                        29: for i: i32 @ thread[32] in range(0, n, 1):
                            30: m: bool @ thread[32] = ((i > 0) and (not (n == 3)))
                            31: if m:
                                32: continue
                            31: else:
                                34: break
                    35: thread[32] from 32:
                        36: while (n > 2):
            38: group thread[1]:
                39: p: i32 @ thread[1], q: f32 @ thread[1] = both(t)
                40: v: vec(f32, 2) @ thread[1] = vec(f32, 2)(q, 1.0)
                41: v.y *= 2.0
                42: a: f32[4] @ thread[1]
                43: load_into[2](a, 2, S[1], 0)
                44: p, t = t, p
                45: assert (p > 0)
                46: print(p)
"""


def test_dump() -> None:
    done = elaborate(EVERYTHING)
    assert done.problems == ()
    assert done.dump() == DUMP


def test_bare_index_takes_the_stated_destination() -> None:
    text = """
@requires(block[1], thread[64])
def f(x: ptr(const int)) -> int @ thread[1]:
    a: int @ thread[1] = x[id()] + id() * 2
    a = id()
    b: int = id()
    c: int[2] @ thread[32] = 0
    c[0] = id()
    if id() > 3:
        pass
    return a
"""
    statements = elaborate(text).program.bodies["f"].statements
    found = [
        str(expression.of)
        for statement in statements_in(statements)
        for operand in statement_operands(statement)
        for expression in expressions_in(operand)
        if isinstance(expression, typed.UnitIndex)
    ]
    assert found == ["thread[1]", "thread[1]", "thread[1]", "None", "thread[32]", "None"]


def test_identifiers_are_unique_and_stable() -> None:
    def dumped() -> list[int]:
        program = elaborate(EVERYTHING).program
        return [s.id for body in program.bodies.values() for s in statements_in(body.statements)]

    first = dumped()
    assert len(first) == len(set(first))
    assert first == dumped()


def test_a_refused_statement_leaves_the_others() -> None:
    text = """
@requires(thread[1])
def f(n: int, p: ptr(f32)):
    a: f32 = n
    p[0] = nothing
    p[1] = a
    partition n as q @ thread[1] at 0:
        p[2] = 1.0
"""
    done = elaborate(text)
    assert "refused" in done.dump()
    assert done.dump().splitlines()[3:] == [
        "    4: a: f32 @ thread[1] = ?",
        "    5: p[0] = ?",
        "    6: p[1] = a",
        "    8: p[2] = 1.0",
    ]

"""Attributes, parameters, results, exports: what a declaration promises."""

from __future__ import annotations

import pytest

from prismc.hardware.groups import Bound
from support.elaborating import assert_marked, elaborate

PROGRAMS = {
    "requires": """
@requires(thread[32], block[1])  #! P0372
def a():
    pass

@requires(block[1], block[1])  #! P0372
def b():
    pass

@requires(block[1], thread[32])  #! P0372
kernel blocks(n: int):
    pass

@requires(grid[1], block[1], thread[32], smem = 64, smem = 32)  #! P0371
kernel twice():
    pass

@requires()  #! P0372
def c():
    pass

@requires(block[1], smem = 64, memory = 2)  #! P0372
def d():
    pass

@requires(1 + 2)  #! P0372
def e():
    pass

@requires(thread[0])  #! P0323
def g():
    pass

@requires(block[1], smem = -1)  #! P0372
def h():
    pass

kernel k(n: int):  #! P0372
    pass

@requires(thread[1])
@requires(thread[1])  #! P0371
def i():
    pass
""",
    "launch": """
const T: int = 96

@requires(grid[1], block[1], thread[32])
@launch(threads = T, min_blocks = 2, cooperative = true)
kernel a():
    pass

@requires(grid[1], block[1], thread[32])
@launch(threads = 100)  #! P0373
kernel b():
    pass

@requires(grid[1], block[1], thread[32])
@launch(threads = 2048)  #! P0373
kernel c():
    pass

@requires(grid[1], block[1], thread[2048])
kernel d():  #! P0373
    pass

@requires(grid[1], block[1], thread[32])
@launch(treads = 32)  #! P0371
kernel e():
    pass

@requires(grid[1], block[1], thread[32])
@launch(threads = 0, min_blocks = n)  #! P0371 P0310
kernel g(n: int):
    pass

@requires(grid[1], block[1], thread[32])
@launch(32)  #! P0371
kernel h():
    pass

@requires(grid[1], block[1], thread[32])
@launch(threads = 32, cluster = 17)  #! P0431
kernel i():
    pass

@requires(thread[32])
@launch(threads = 32)  #! P0371
def j():
    pass
""",
    "unknown attributes": """
@require(thread[1])  #! P0370
@requires(thread[1])
def f():
    pass
""",
    "effects": """
@requires(thread[1])
@effects(reads(p), writes(q, a), syncs(thread[32]), agent(generic), needs(sm_80))
unsafe def a(p: ptr(const f32), q: ptr(f32), a: f32[4]):
    pass

@requires(thread[1])
@effects()  #! P0371
def b():
    pass

@requires(thread[1])
@effects(touches(p), reads(N), p)  #! P0371 P0371 P0371
unsafe def c(p: ptr(f32)):
    pass

@requires(thread[1])
@effects(writes(p), completes(commit_group))
unsafe def d(p: async ptr(f32)):
    pass

@requires(thread[1])
@effects(writes(p), completes(bulk_group), agent(bulk_store))
unsafe def e(p: async ptr(f32)):
    pass

@requires(thread[1])
@effects(writes(p), completes(mbarrier, bytes = 4 * n), agent(bulk_load))
unsafe def e1(p: async ptr(f32), n: int) -> u32:
    return completion()

@requires(thread[1])
@effects(writes(p), completes(mbarrier), agent(engine))  #! P0371 P0371
unsafe def e2(p: async ptr(f32)):
    x := completion()  #! P0348

@requires(thread[1])
@effects(completes(bulk_group, bytes = 4), completes(x), agent(wgmma, wgmma))  #! P0371 P0371 P0371
unsafe def e3(p: async ptr(f32)):
    pass

const N: int = 1
""",
    "assume": """
@requires(grid[1], block[1], thread[32])
@assume(n % 4 == 0, aligned(p, 16), n)  #! P0305
kernel a(n: int, p: ptr(f32)):
    pass

@requires(grid[1], block[1], thread[32])
@assume(aligned(n, 16), aligned(p), aligned(p, n))  #! P0331 P0346 P0310
kernel b(n: int, p: ptr(f32)):
    pass

@requires(thread[1])
@assume(n > 0, aligned(p, n), aligned(p, n, 16), aligned(p, 24), n)  #! P0394 P0305
def c(n: int, p: ptr(f32)):
    unsafe:
        assume(n > 0)
        assume(aligned(p, 8))
        assume(p)  #! P0305
""",
    "parameters and results": """
@requires(grid[1], block[1], thread[32])
kernel a(x: f32[4]):  #! P0325
    pass

@requires(grid[1], block[1], thread[32])
kernel b(A: tensor_map(bf16[64, 64], swizzle128), B: tensor_map(f32[16])):
    C: tensor_map(f32[16]) = B  #! P0325

def twice(i: int) -> int:
    return i * 2

@requires(grid[1], block[1], thread[32])
kernel b1(A: tensor_map(f32),  #! P0380
        B: tensor_map(f32[3]),  #! P0380
        C: tensor_map(f32[512, 4]),  #! P0380
        D: tensor_map(f32[1, 1, 1, 1, 1, 4]),  #! P0380
        E: tensor_map(f32[8, 64], swizzle128),  #! P0380
        F: tensor_map(f32[8, 32], twice),  #! P0380
        G: tensor_map(ptr(f32)[8]),  #! P0325
        H: tensor_map(f32[n])):  #! P0201
    pass

@requires(thread[1])
def c(x: async ptr(f32), y: async ptr(const f32), z: async int):  #! P0325 P0325
    pass

@requires(thread[1])
def c1(x: async f32[4]):
    y: f32 = x[0]  #! P0344
    x[0] = 1.0  #! P0344

@requires(grid[1], block[1], thread[32])
kernel c2(x: async ptr(f32)):  #! P0325
    pass

@requires(thread[1])
def d(p: ptr(f32[4][2]), q: ptr(ptr(f32))) -> f32[4]:  #! P0325 P0325 P0325
    pass

@requires(thread[1])
def e(x: vec(f32, 3), y: vec(f64, 4), z: vec(ptr(f32), 2)):  #! P0327 P0327 P0325
    pass

@requires(thread[1])
def h(n: const int, p: const ptr(f32), a: const f32[4]):  #! P0325 P0325
    pass

@requires(thread[1])
def g[N: float, T: type](x: T[N]):  #! P0355
    pass
""",
    "exports": """
@requires(grid[1], block[1], thread[N])
kernel k[N: int](p: ptr(f32)):
    pass

@requires(thread[1])
def f():
    pass

export a = k[32]
export b = k[N = 64]
export c = k  #! P0353
export d = f  #! P0374
export g = nothing[1]  #! P0201
export h = k[32, 1]  #! P0354
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program(text: str) -> None:
    assert_marked(text)


@pytest.mark.parametrize(
    ("requires", "bound"),
    [
        ("grid[1], block[1], thread[64]", Bound(1, 1, 64, 0)),
        ("grid[1]", Bound(1, 1, 1, 0)),
        ("grid[1], thread[32]", Bound(1, 1, 32, 0)),
        ("block[1], thread[64]", Bound(0, 1, 64, 1)),
        ("block[1]", Bound(0, 1, 1, 1)),
        ("warp[2]", Bound(0, 0, 64, 64)),
        ("warpgroup[1]", Bound(0, 0, 128, 128)),
        ("thread[N * 2]", Bound(0, 0, 24, 24)),
    ],
)
def test_bounds(requires: str, bound: Bound) -> None:
    done = elaborate(f"const N: int = 12\n@requires({requires})\ndef f():\n    pass\n")
    assert done.problems == ()
    assert done.instance("f").bound == bound


def test_entries_at_or_above_a_generic_top_are_dropped() -> None:
    text = """
@requires(P, thread[32])
def f[P: perspective]():
    pass

@requires(block[1], thread[64])
def g():
    f[block[1]]()
    f[thread[64]]()
    f[thread[8]]()
"""
    done = elaborate(text)
    bounds = {s: b.instance.bound for s, b in done.program.bodies.items() if s != "g"}
    assert bounds == {
        "f_block1": Bound(0, 1, 32, 1),
        "f_thread64": Bound(0, 0, 64, 64),
        "f_thread8": Bound(0, 0, 8, 8),
    }


def test_a_launch_is_kept() -> None:
    text = """
@requires(grid[1], block[1], thread[32], smem = 2 * 512)
@launch(threads = 64, min_blocks = 2, cooperative = true)
@assume(n % 4 == 0, aligned(p, 16))
kernel k(n: int, p: ptr(f32)):
    pass
"""
    kernel = elaborate(text).instance("k")
    assert kernel.launch is not None
    assert (kernel.launch.threads, kernel.launch.min_blocks) == (64, 2)
    assert kernel.launch.cooperative
    assert (kernel.threads, kernel.declared_shared) == (64, 1024)
    assert len(kernel.assumptions) == 2


def test_threads_default_to_the_bound() -> None:
    text = "@requires(grid[1], block[1], thread[96])\nkernel k():\n    pass\n"
    assert elaborate(text).instance("k").threads == 96


def test_parameters_default_to_the_top() -> None:
    text = "@requires(thread[32])\ndef f(a: int, b: int @ thread[1]) -> int:\n    return a\n"
    instance = elaborate(text).instance("f")
    shown = [(str(p.perspective), p.is_stated) for p in instance.parameters]
    assert shown == [("thread[32]", False), ("thread[1]", True)]
    assert str(instance.results[0].perspective) == "thread[32]"

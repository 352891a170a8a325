"""Many instructions together: CUDA's own math library, compiled to PTX, against NumPy.

A function of the library is some fifty instructions of argument reduction and polynomials that rely
on every rounding; CUDA states how many units in the last place its result may be off.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import NO_CHECKS, run_ptx
from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.ptx.tree import Module

Numbers = npt.NDArray[Any]

# The NumPy name, the CUDA name, and whether the argument is made positive.
FUNCTIONS = (
    ("sin", "sin", False),
    ("cos", "cos", False),
    ("exp", "exp", False),
    ("exp2", "exp2", False),
    ("expm1", "expm1", False),
    ("log", "log", True),
    ("log2", "log2", True),
    ("log1p", "log1p", True),
    ("tanh", "tanh", False),
    ("arctan", "atan", False),
    ("cbrt", "cbrt", False),
    ("sqrt", "sqrt", True),
    ("rint", "rint", False),
    ("floor", "floor", False),
)
LANES = 512


@cache
def library() -> Module:
    """A kernel for each function, in both precisions, and some integer and bit arithmetic."""
    kernels = []
    for _, name, _ in FUNCTIONS:
        for letter, type_name, suffix in (("f", "float", "f"), ("d", "double", "")):
            head = f'extern "C" __global__ void {letter}_{name}({type_name}* y, {type_name}* x)'
            body = f"int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = {name}{suffix}(x[i]);"
            kernels.append(f"{head} {{ {body} }}")
    kernels.append(INTEGERS)
    return parse_module(ptx_of("\n".join(kernels), "sm_90"))


INTEGERS = """
extern "C" __global__ void integers(int* out, const int* a, const int* b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = a[i], y = b[i], z;
    asm("{.reg.b32 t; xor.b32 t, %1, %2; popc.b32 %0, t;}" : "=r"(z) : "r"(x), "r"(y));
    out[i] = z + __popc(x) + 3 * __clz(y) + __brev(x) + __ffs(y) + __mulhi(x, y) + x / (y | 1)
           + x % (y | 1) + __byte_perm(x, y, 0x5173) + __funnelshift_l(x, y, 7) + __dp4a(x, y, 5)
           + (x >> (y & 31)) + abs(x) + max(x, y) + (int)((long long)x * y >> 20);
}
"""


def run(kernel: str, *arguments: Numbers) -> Numbers:
    out = np.zeros_like(arguments[0])
    result = run_ptx(library(), kernel, LANES // 128, 128, [out, *arguments], checks=NO_CHECKS)
    return result.array(0)


@pytest.mark.parametrize(("reference", "name", "positive"), FUNCTIONS)
@pytest.mark.parametrize("letter", ["f", "d"])
def test_functions(reference: str, name: str, positive: bool, letter: str) -> None:
    """Within two units in the last place, and one more where NumPy is the same precision."""
    dtype: type[np.floating[Any]] = np.float32 if letter == "f" else np.float64
    generator = np.random.default_rng(len(name))
    numbers = (generator.standard_normal(LANES) * 3).astype(dtype)
    if name in ("sin", "cos"):
        numbers[::4] *= dtype(1e6)
    if positive:
        numbers = np.abs(numbers)
    got = run(f"{letter}_{name}", numbers).astype(np.float64)
    want = getattr(np, reference)(numbers.astype(np.float64))
    unit = np.spacing(np.abs(want).astype(dtype)).astype(np.float64)
    assert np.max(np.abs(got - want) / unit) <= (2 if letter == "f" else 3)


def signed(number: int) -> int:
    return (number & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def integers(x: int, y: int) -> int:
    """The kernel of that name, in Python integers."""
    ux, uy, divisor = x & 0xFFFFFFFF, y & 0xFFFFFFFF, y | 1
    quotient = abs(x) // abs(divisor) * (1 if (x < 0) == (divisor < 0) else -1)
    octets = [*ux.to_bytes(4, "little"), *uy.to_bytes(4, "little")]
    chars = [octet - 256 if octet > 127 else octet for octet in octets]
    total = (ux ^ uy).bit_count() + ux.bit_count() + 3 * (32 - uy.bit_length())
    total += int(f"{ux:032b}"[::-1], 2) + (uy & -uy).bit_length() + (x * y >> 32)
    total += quotient + (x - divisor * quotient)
    total += sum(octets[place] << 8 * i for i, place in enumerate((3, 7, 1, 5)))
    total += (uy << 32 | ux) << 7 >> 32 & 0xFFFFFFFF
    total += 5 + sum(chars[i] * chars[4 + i] for i in range(4))
    return signed(total + (x >> (y & 31)) + abs(x) + max(x, y) + (x * y >> 20))


def test_integers() -> None:
    generator = np.random.default_rng(7)
    a, b = generator.integers(-(1 << 31), 1 << 31, (2, LANES)).astype(np.int32)
    b[:4] = [0, 1, -1, 31]
    want = [integers(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert run("integers", a, b).tolist() == want

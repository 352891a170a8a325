"""Indices that wrapped in 32 bits are told from indices that are merely wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import Checks, RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.host import Buffer, LaunchError

BIG = 2**31 + 100


def _run(body: str, *numbers: int, off: frozenset[Kind] = frozenset()) -> RunResult:
    """One thread over an array of BIG bytes of which the first hundred are given."""
    source = f'extern "C" __global__ void k(unsigned char* x, int a, int b) {{ {body} }}'
    x = Buffer(array=np.zeros(100, np.uint8), name="x", length=BIG)
    arguments: list[Any] = [x, *numbers]
    return run_ptx(ptx_of(source), None, 1, 1, arguments, checks=Checks(races=False, off=off))


@pytest.mark.parametrize(
    ("body", "numbers", "words"),
    [
        ("x[(int)((unsigned)a * b)] = 1;", (65536, 32768), "2147483648 becomes -2147483648"),
        ("x[(int)((unsigned)a + b)] = 1;", (2**31 - 1, 5), "2147483652 becomes -2147483644"),
        ("x[(int)((unsigned)a << b)] = 1;", (3, 30), "3 << 30 = 3221225472 becomes -1073741824"),
        ("x[(unsigned)a - b] = 1;", (3, 4), "3 - 4 = -1 becomes 4294967295"),
    ],
)
def test_a_wrapped_index(body: str, numbers: tuple[int, int], words: str) -> None:
    (finding,) = _run(body, *numbers).findings
    assert finding.kind is Kind.OVERFLOW
    assert words in finding.message
    assert finding.other is not None
    assert finding.other.form.name in ("mul", "add", "sub", "shl")


@pytest.mark.parametrize(
    ("body", "numbers"),
    [
        ("x[a - b] = 1;", (3, 4)),
        ("x[a * b] = 1;", (-5, 7)),
        ("x[(long long)a * b] = 1;", (65536, 65536)),
        ("x[((unsigned)a * b & 0xf) - 20ll] = 1;", (65536, 65537)),
    ],
)
def test_an_index_that_is_merely_wrong(body: str, numbers: tuple[int, int]) -> None:
    (finding,) = _run(body, *numbers).findings
    assert finding.kind is Kind.BOUNDS


def test_it_can_be_switched_off() -> None:
    body = "x[(int)((unsigned)a * b)] = 1;"
    (finding,) = _run(body, 65536, 32768, off=frozenset([Kind.OVERFLOW])).findings
    assert finding.kind is Kind.BOUNDS


def test_a_window_of_a_large_array() -> None:
    source = 'extern "C" __global__ void k(int* x, long long i) { x[i] += x[i - 1] + x[0]; }'
    x = Buffer(array=np.arange(5, 8, dtype=np.int32), start=2**20, length=2**20 + 3)
    result = run_ptx(ptx_of(source), None, 1, 1, [x, 2**20 + 1])
    assert not result.findings
    assert list(result.array(0)) == [5, 11, 7]


def test_a_window_that_leads_out() -> None:
    source = 'extern "C" __global__ void k(int* x) { x[0] = 1; }'
    with pytest.raises(LaunchError, match="the window leads out of 10 elements"):
        run_ptx(ptx_of(source), None, 1, 1, [Buffer(array=np.zeros(4), start=7, length=10)])

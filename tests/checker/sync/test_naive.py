"""What naive insertion costs, by programs whose operations can be counted by hand."""

from __future__ import annotations

import pytest

from checker.sync.naive import naive_operations

COPY = """\
partition A as async s @ thread[1] at t * 4:
    group thread[1]:
        if t < n:
            cp_async_16(s, 0, x, t * 4)
"""
LOADS = """\
pipeline k in range(n) through R as r:
    produce:
        claim r as async d @ thread[1]:
            first thread[1]:
                bulk_load(d, 0, x, k * 64, 256)
    consume:
        v += r[63 - t]
"""
ARMS = LOADS.replace("first thread[1]:", "split warp:")
ARM = "split warp:\n    case 1:\n        acc += 1\n    case 1:\n        A[0] = A[1]\n"
STORE = "partition A as s @ thread[1] at t:\n    s[0] = v\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("t: int @ thread[1] = id()\n", 1),
        (STORE, 2),
        (STORE + "v += A[63 - t] + A[0]\n", 3),
        ("if A[3] == 1:\n    v += helped(A, v)\n", 3),
        (COPY, 4),
        (ARM, 4),
        ("shared R: f32[3][64]\n" + LOADS, 1 + 5 * 6 + 3),
        ("shared R: f32[3][64]\n" + ARMS, 1 + 3 * (6 + 1 + 6)),
        ("for k in range(n):\n    shared R: f32[ 2 ][ 64 ]\n    v += filled( A )\n", 1 + 3),
    ],
)
def test_what_naive_insertion_costs(text: str, count: int) -> None:
    functions = "def helped(p, v):\n    p[0] = v\n\ndef filled(p):\n    cp_async(p, x, 4)\n"
    assert naive_operations(text, functions) == count

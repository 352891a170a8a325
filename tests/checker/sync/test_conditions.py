"""What conditions and assumptions say of the length of a row: pieces of 8 x 4 elements of it."""

from __future__ import annotations

import pytest

from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session

ROWS = """
@requires(block[1], thread[64])
@assume({assumed})
def rows(x: ptr(f32), n: int, m: int, k: int):
    t: int @ thread[1] = id()
    base: int = {start}
    partition x as y @ thread[1] at t / 8 * n + t % 8 * 4 + base:
        group thread[1]:
            static for j in range(4):
                if {condition}:
                    y[j] = 1.0
"""


@pytest.mark.parametrize(
    ("condition", "assumed", "start", "is_shown"),
    [
        ("t % 8 * 4 + 3 < n", "m > 0", "0", True),
        ("t % 8 * 4 + j < n", "m > 0", "0", True),
        ("t % 8 * 4 + 3 <= n", "m > 0", "0", False),
        ("t % 8 * 4 < n", "m > 0", "0", False),
        ("not (n <= t % 8 * 4 + j)", "m > 0", "0", True),
        ("m > 3 and t % 8 * 4 + j < n", "m > 0", "0", True),
        ("m > 3 or t % 8 * 4 + j < n", "m > 0", "0", False),
        # A multiple of 4 above 4 * i is at least 4 * i + 4.
        ("t % 8 * 4 < n", "n % 4 == 0", "0", True),
        ("t % 8 * 4 < n", "n % 12 == 0", "0", True),
        ("t % 8 * 4 < n", "n % 3 == 0", "0", False),
        ("n > 0", "n % 32 == 0", "0", True),
        ("m > 0", "n % 32 == 0 and n > 0", "0", True),
        ("m > 0", "n % 32 == 0", "0", False),
        ("m > 0", "n % 16 == 0 and n > 0", "0", False),
        # Where a tile begins is not negative if what it is divided by is not.
        ("base + t % 8 * 4 + j < n", "m > 0", "k * 32", False),
        ("base + t % 8 * 4 + j < n", "k >= 0", "k * 32", True),
        ("base + t % 8 * 4 + j < n", "k >= 0", "k / m * 32", False),
        ("base + t % 8 * 4 + j < n", "k >= 0 and m >= 0", "k / m * 32", True),
        ("base + t % 8 * 4 + j < n", "k >= 0", "k % m * 32", True),
        ("k + t < m and base + t % 8 * 4 + j < n", "k > 0", "k / ((m + 31) / 32) * 32", True),
        ("k < m and base + t % 8 * 4 + j < n", "n > 0", "k / ((m + 31) / 32) * 32", False),
        ("base + t % 8 * 4 + j < n", "k > 0", "k / ((m + 31) / 32) * 32", False),
    ],
)
def test_rows(condition: str, assumed: str, start: str, is_shown: bool) -> None:
    session = Session(Options(races="deny"))
    text = ROWS.format(condition=condition, assumed=assumed, start=start)
    run_stages(session, session.files.overlay("test.prism", text), CHECKS)
    assert {problem.code for problem in session.problems} == (set() if is_shown else {"P0609"})

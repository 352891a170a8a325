"""`prismc doc`: a module's page."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.cli.main import run

pytestmark = pytest.mark.usefixtures("in_folder")

SUMS = """\
# Sums of groups.
#   a table

const N: int = 4

# Twice *v*, as `a * b`.
def twice(v: int) -> int:
    return v + v

def _own(v: int) -> int:
    return v

# The neighbour's value, through `temp`.
@requires(block[1], thread[64])
def turn(temp: ptr(f32) @ block[1],     # of 64
         v: f32 @ thread[1]) -> f32 @ thread[1]:
    t: int @ thread[1] = id()
    partition temp as s @ thread[1] at t:
        s[0] = v
    return temp[63 - t]
"""
PAGE = """\
# sums

Sums of groups.

```text
  a table
```

## N

```prism
const N: int = 4
```

## twice

```prism
def twice(v: int) -> int
```

Twice \\*v\\*, as `a * b`.

## turn

```prism
@requires(block[1], thread[64])
def turn(temp: ptr(f32) @ block[1],
         v: f32 @ thread[1]) -> f32 @ thread[1]
```

The neighbour's value, through `temp`.

- Synchronises inside, calls included: block barrier of block[1].
- Around a call: earlier uses of `temp` by other threads are put before it.
- Around a call: later writes of `temp` by other threads are put after it.
"""


def test_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("sums.prism").write_text(SUMS)
    assert run(["doc", "sums.prism"]) == 0
    out = capsys.readouterr().out
    assert out == PAGE


def test_the_standard_library(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doc", "std.warp"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# std.warp\n")
    assert "\n## warp_sum\n" in out
    assert run(["doc", "std.block"]) == 0
    described = capsys.readouterr().out.partition("\n## sum\n")[2].partition("\n## ")[0]
    assert described.rstrip().endswith("""
With P = thread[32], T = f32:

- Synchronises inside, calls included: nothing.

With P = block[1], T = f32:

- Synchronises inside, calls included: block barrier of block[1].
- Around a call: earlier uses of `part` by other threads are put before it.
- Around a call: later writes of `part` by other threads are put after it.""")


def test_errors(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.prism").write_text("def f() -> int:\n    return x\n")
    assert run(["doc", "bad.prism"]) == 1
    captured = capsys.readouterr()
    assert (captured.out, "error[P0201]" in captured.err) == ("", True)
    assert run(["doc", "std.nothing"]) == 2

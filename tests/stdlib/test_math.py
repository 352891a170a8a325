"""std.math on the PTX machine, against NumPy in float64."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from support.groups import PLANS, draws
from support.running import Array, Compiled, compile_texts

LIBRARY = Path(__file__).parents[2] / "stdlib" / "math.prism"
DTYPES: dict[str, Any] = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
}  # fmt: skip
ANYWHERE, POSITIVE, NEAR = (-20.0, 20.0), (1e-3, 80.0), (-3.0, 3.0)
# f16 holds e to the power of these, and their third powers.
SMALL, BASE = (-9.0, 9.0), (1e-2, 30.0)
UNIT, ABOVE = (-0.9, 0.9), (1.2, 80.0)


def _rcp(x: Array) -> Array:
    return 1 / x


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


@np.vectorize
def _fma(x: float, y: float, z: float) -> float:
    """Rounded once, as NumPy cannot."""
    return float(Fraction(x) * Fraction(y) + Fraction(z))


# The exact functions: NumPy's, where arguments come from, errors in units in the last place (f32).
EXACT: dict[str, tuple[Callable[..., Array], tuple[tuple[float, float], ...], float]] = {
    "exp": (np.exp, (SMALL,), 2),
    "exp2": (np.exp2, (SMALL,), 2),
    "exp10": (lambda x: 10.0**x, (NEAR,), 2),
    "expm1": (np.expm1, (NEAR,), 2),
    "log": (np.log, (POSITIVE,), 2),
    "log2": (np.log2, (POSITIVE,), 2),
    "log10": (np.log10, (POSITIVE,), 2),
    "log1p": (np.log1p, (POSITIVE,), 2),
    "sqrt": (np.sqrt, (POSITIVE,), 0.5),
    "rsqrt": (_rsqrt, (POSITIVE,), 2),
    "cbrt": (np.cbrt, (ANYWHERE,), 2),
    "sin": (np.sin, (ANYWHERE,), 2),
    "cos": (np.cos, (ANYWHERE,), 2),
    "tan": (np.tan, (NEAR,), 4),
    "tanh": (np.tanh, (NEAR,), 2),
    "erf": (np.vectorize(math.erf), (NEAR,), 2),
    "floor": (np.floor, (ANYWHERE,), 0),
    "ceil": (np.ceil, (ANYWHERE,), 0),
    "trunc": (np.trunc, (ANYWHERE,), 0),
    "round": (np.rint, (ANYWHERE,), 0),
    "pow": (np.power, (BASE, NEAR), 4),
    "fmod": (np.fmod, (ANYWHERE, POSITIVE), 0),
    "atan2": (np.arctan2, (ANYWHERE, ANYWHERE), 3),
    "copysign": (np.copysign, (ANYWHERE, ANYWHERE), 0),
    "fma": (_fma, (ANYWHERE, ANYWHERE, ANYWHERE), 0.5),
    "rcp": (_rcp, (POSITIVE,), 0.5),
    "asin": (np.arcsin, (UNIT,), 2),
    "acos": (np.arccos, (UNIT,), 2),
    "atan": (np.arctan, (ANYWHERE,), 2),
    "sinh": (np.sinh, (NEAR,), 3),
    "cosh": (np.cosh, (NEAR,), 2),
    "asinh": (np.arcsinh, (ANYWHERE,), 3),
    "acosh": (np.arccosh, (ABOVE,), 4),
    "atanh": (np.arctanh, (UNIT,), 3),
    "erfc": (np.vectorize(math.erfc), (NEAR,), 4),
    "hypot": (np.hypot, (ANYWHERE, ANYWHERE), 3),
    "max": (np.fmax, (ANYWHERE, ANYWHERE), 0),
    "min": (np.fmin, (ANYWHERE, ANYWHERE), 0),
}
# The fast functions: the same, with a relative and an absolute error.
FAST: dict[str, tuple[Callable[..., Array], tuple[tuple[float, float], ...], float, float]] = {
    "fast_exp2": (np.exp2, (ANYWHERE,), 2**-22, 0),
    "fast_exp": (np.exp, (NEAR,), 2**-20, 0),
    "fast_log2": (np.log2, (POSITIVE,), 2**-22, 2**-22),
    "fast_log": (np.log, (POSITIVE,), 2**-21, 2**-22),
    "fast_sqrt": (np.sqrt, (POSITIVE,), 2**-22, 0),
    "fast_rsqrt": (_rsqrt, (POSITIVE,), 2**-22, 0),
    "fast_rcp": (_rcp, (POSITIVE,), 2**-22, 0),
    "fast_sin": (np.sin, (NEAR,), 0, 2**-20),
    "fast_cos": (np.cos, (NEAR,), 0, 2**-20),
    "fast_tanh": (np.tanh, (NEAR,), 2**-10, 0),
    "fast_divide": (np.divide, (ANYWHERE, POSITIVE), 2**-21, 0),
    "fast_pow": (np.power, (POSITIVE, NEAR), 2**-17, 0),
}

TEXT = """
from std.math import {names}

@requires(grid[1], block[1], thread[1])
@launch(threads = 64)
kernel k(X: ptr(const {t}), Y: ptr({t})):
    i: int @ thread[1] = id()
    partition X as x @ thread[1] at i * {inputs}, Y as y @ thread[1] at i * {outputs}:
        group thread[1]:
{body}
"""


@cache
def compiled(t: str, names: tuple[str, ...]) -> Compiled:
    rows = {name: (EXACT | FAST)[name][1] for name in names}
    body, first = "", 0
    for k, (name, ranges) in enumerate(rows.items()):
        arguments = ", ".join(f"x[{first + j}]" for j in range(len(ranges)))
        body += f"            y[{k}] = {name}({arguments})\n"
        first += len(ranges)
    text = TEXT.format(names=", ".join(names), t=t, inputs=first, outputs=len(names), body=body)
    return compile_texts({"k.prism": text}, "k.prism")


def evaluate(t: str, names: tuple[str, ...], seed: int) -> tuple[Array, list[Array]]:
    """What came out in every order, a column a function; and what the arguments were, function by
    function."""
    blocks, chance = 1 + seed % 4, np.random.default_rng(seed)
    columns = [
        chance.uniform(*bounds, 64 * blocks).astype(DTYPES[t])
        for name in names
        for bounds in (EXACT | FAST)[name][1]
    ]
    x = np.stack(columns, axis=1)
    raw = x.view(np.uint16) if t == "bf16" else x
    given = {"X": raw.ravel(), "Y": np.zeros(64 * blocks * len(names), raw.dtype)}
    program = compiled(t, names)
    found, *others = (program.run(blocks, given, plan=plan)["Y"] for plan in PLANS)
    assert all(np.array_equal(found.view(np.uint8), each.view(np.uint8)) for each in others)
    found = found.reshape(-1, len(names))
    wide = [column.astype(np.float64) for column in columns]
    return (found.view(DTYPES[t]) if t == "bf16" else found).astype(np.float64), wide


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("t", DTYPES)
def test_exact(t: str, seed: int) -> None:
    names = tuple(EXACT)
    found, arguments = evaluate(t, names, seed)
    for k, name in enumerate(names):
        function, ranges, units = EXACT[name]
        expected = function(*(arguments.pop(0) for _ in ranges))
        spacing = np.spacing(np.abs(expected).astype(np.float32 if t != "f64" else np.float64))
        if t in ("f16", "bf16"):  # one rounding more, of 11 or 8 bits
            spacing = np.maximum(np.abs(expected) * 2.0 ** (-10 if t == "f16" else -7), 2.0**-24)
        # NumPy's own functions of f64 are not better than the ones they judge.
        allowed = (units + (2 if t == "f64" and units else 0.01)) * spacing
        assert (np.abs(found[:, k] - expected) <= allowed).all(), name


@pytest.mark.parametrize("seed", draws())
def test_fast(seed: int) -> None:
    names = tuple(FAST)
    found, arguments = evaluate("f32", names, seed)
    for k, name in enumerate(names):
        function, ranges, relative, absolute = FAST[name]
        expected = function(*(arguments.pop(0) for _ in ranges))
        allowed = relative * np.abs(expected) + absolute + 2.0**-40
        assert (np.abs(found[:, k] - expected) <= allowed).all(), name


PREDICATES = """
from std.math import is_finite, is_inf, is_nan

@requires(grid[1], block[1], thread[1])
@launch(threads = 64)
kernel k(X: ptr(const f32), Y: ptr(i32)):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i:
        y[0] = int(is_inf(X[i])) * 4 + int(is_nan(X[i])) * 2 + int(is_finite(X[i]))
"""


def test_predicates() -> None:
    x = np.resize([0.0, -1.5, np.inf, -np.inf, np.nan, 3e38], 64).astype(np.float32)
    program = compile_texts({"k.prism": PREDICATES}, "k.prism")
    found = program.run(1, {"X": x, "Y": np.zeros(64, np.int32)})["Y"]
    assert np.array_equal(found, np.isinf(x) * 4 + np.isnan(x) * 2 + np.isfinite(x))


def test_every_function_is_tested() -> None:
    declared = re.findall(r"^(?:unsafe )?def ([a-z]\w*)", LIBRARY.read_text(), re.MULTILINE)
    assert sorted(declared) == sorted([*EXACT, *FAST, "is_nan", "is_finite", "is_inf"])

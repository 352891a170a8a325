"""What `@assume` states is verified by the launch function, as the kernel would compute it."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.support import LANGUAGES, Language, build_text, compiled, execute, program
from prismc.backend.host.formulas import c_formula
from prismc.hardware.scalars import F32, I32, I64, U32
from prismc.ir.conditions import Formula

KERNEL = """\
const STEP: int = 8

@assume(n % STEP == 0, aligned(x, 16))
@assume(n >= 0 and (m == 0 or n / m < 4), u >= 0, not flag or s > -2.5)
@assume(i16(n) < i16(100), min(w, 5) == 5, w + -3 > 0)
@requires(grid[1], block[1], thread[32])
kernel k(n: i32, m: i32, x: ptr(const f32), u: u32, flag: bool, s: f32, w: i64):
    pass
"""
GOOD = {"n": "16", "m": "0", "x": "0x1000", "u": "3u", "flag": "true", "s": "1.0f", "w": "5"}


def _host(folder: Path, cases: dict[str, dict[str, str]]) -> Path:
    build_text(KERNEL, folder)
    lines = []
    for name, changes in cases.items():
        values = GOOD | changes
        values["x"] = f"reinterpret_cast<const float *>({values['x']})"
        given = ", ".join(f"k_{name}({value})" for name, value in values.items())
        lines.append(f'    std::printf("{name}: %d %s\\n", k_launch(1, nullptr, {given}),')
        lines.append("                prism_message());")
    body = "\n".join(lines)
    return program(folder, f'#include <cstdio>\n#include "k.h"\nint main()\n{{\n{body}\n}}\n')


CASES = {
    "good": {},
    "remainder": {"n": "12"},
    "address": {"x": "0x1008"},
    "quotient": {"m": "2"},
    "divided": {"m": "5"},
    "negative": {"n": "-8"},
    "floats": {"s": "-2.5f"},
    "unless": {"s": "-3.0f", "flag": "false"},
    "narrow": {"n": "65536 + 104"},
    "cut off": {"n": "65536 + 8"},
    "least": {"w": "4"},
}
REFUSED = {
    "remainder": "n % 8 == 0",
    "address": "aligned(x, 16)",
    "quotient": "n >= 0 and (m == 0 or n / m < 4)",
    "negative": "n >= 0 and (m == 0 or n / m < 4)",
    "floats": "not flag or s > -2.5",
    "narrow": "i16(n) < i16(100)",
    "least": "min(w, i64(5)) == i64(5)",
}


def test_conditions_are_verified(tmp_path: Path) -> None:
    """Without a driver: what is refused is refused before one is looked for."""
    (tmp_path / "empty").mkdir()
    said = execute(_host(tmp_path, CASES), tmp_path / "empty").stdout.splitlines()
    assert len(said) == len(CASES)
    for line in said:
        name, _, rest = line.partition(": ")
        if name in REFUSED:
            assert rest == f"8 k: the arguments do not keep to `{REFUSED[name]}`", name
        else:
            assert rest.startswith("1 there is no CUDA driver"), name


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_conditions_compile_without_a_warning(tmp_path: Path, language: Language) -> None:
    build_text(KERNEL, tmp_path)
    options = (*language.strict, "-O1", "-fsyntax-only")
    done = compiled(language, tmp_path, '#include "k.h"\n', *options)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("value", "scalar", "text"),
    [
        (5, I32, "5"),
        (-5, I32, "(-5)"),
        (-(2**31), I32, "INT32_MIN"),
        (-(2**63), I64, "INT64_MIN"),
        (2**32 - 1, U32, "4294967295u"),
        (0.5, F32, "0x1.0000000000000p-1f"),
    ],
)
def test_literals(value: float, scalar: object, text: str) -> None:
    formula = Formula(operator="constant", scalar=scalar, constant=value)  # type: ignore[arg-type]
    assert c_formula(formula, {}) == text

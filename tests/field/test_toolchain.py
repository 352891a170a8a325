"""Field faults of toolchains: targets (E02), spills (E03), lines (E06), stale results (F01).

Rebuilding and headers that stand alone (E04) are in `tests/host`, as is what shows at a launch.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.compilation import Compilation
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.cli.main import run
from prismc.driver import compilers, findings, project
from prismc.emulator.api import run_ptx

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Captured = pytest.CaptureFixture[str]


# ------------------------------------------------------------------ E02: targets


PRODUCT = """\
from std.wgmma import wgmma_k16

@requires(grid[1], block[1], thread[128])
@launch(threads = 128)
kernel product(C: ptr(f32)):
    partition C as C_b @ block[1]:
        group block[1]:
            shared A_s: f16[64 * 64] layout swizzle128
            shared B_s: f16[16 * 64] layout swizzle128
            t: int @ thread[1] = id()
            acc: f32[8] @ thread[1] = 0
            partition A_s as a @ thread[1] at t:
                for r in range(32):
                    a[r * 128] = 1.0
            partition B_s as b @ thread[1] at t:
                for r in range(8):
                    b[r * 128] = 1.0
            group thread[128]:
                async acc as d:
                    wgmma_k16(d, A_s, 0, B_s, 0, true)
            partition C_b as c @ thread[1] at t:
                c[0] = acc[0]
"""


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100a", "sm_120a"])
def test_products_of_a_warpgroup_are_refused_where_they_are_used(
    target: str, tmp_path: Path, capsys: Captured
) -> None:
    source = tmp_path / "product.prism"
    source.write_text(PRODUCT)
    assert run(["check", str(source), "--target", target]) == 1
    said = capsys.readouterr().out
    assert said.count("error[") == 1
    line = PRODUCT.splitlines().index("                    wgmma_k16(d, A_s, 0, B_s, 0, true)") + 1
    assert f"product.prism:{line}:" in said
    assert target in said
    assert "sm_90a" in said


def test_the_right_target_is_accepted(tmp_path: Path) -> None:
    source = tmp_path / "product.prism"
    source.write_text(PRODUCT)
    assert run(["check", str(source), "--target", "sm_90a"]) == 0
    assert run(["check", str(EXAMPLES / "saxpy.prism"), "--target", "sm_80"]) == 0


# ------------------------------------------------------------------ E03: registers

MANY = """\
@requires(grid[1], block[1], thread[32])
@launch(threads = 512)
kernel k(x: ptr(const f32), y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i * 162:
        group thread[1]:
            a: f32[162]
            sum: f32 = 0
            unroll for j in range(162):
                a[j] = x[j * 512 + i]
                sum += a[j]
            unroll for j in range(162):
                mine[j] = a[j] / sum
"""


def test_the_bound_on_registers_is_always_there(tmp_path: Path, capsys: Captured) -> None:
    """162 registers for each of 512 threads are more than a multiprocessor has."""
    source = tmp_path / "k.prism"
    source.write_text(MANY)
    out = tmp_path / "k.ptx"
    for option in ("--no-report", "--asserts"):
        assert run(["build", str(source), "-o", str(out), option]) == 0
        assert "warning[P0704]: `k` does not fit its registers on sm_80" in capsys.readouterr().err
        assert ".maxntid 512" in out.read_text()
    out.unlink()
    assert run(["build", str(source), "-o", str(out), "--deny", "P0704"]) == 1
    assert "error[P0704]: `k` does not fit its registers" in capsys.readouterr().err
    assert not out.exists()


def test_the_report_tells_what_a_kernel_costs(capsys: Captured, tmp_path: Path) -> None:
    source = str(EXAMPLES / "block_sum.prism")
    assert run(["build", source, "-o", str(tmp_path / "k.cubin"), "--report"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    columns = ["registers", "shared bytes", "spill bytes", "blocks an SM"]
    assert re.split(r"  +", head)[2:6] == columns
    assert row.split()[3:6] == ["32", "0", "8"]


# ------------------------------------------------------------------ E06: lines

FILES = {
    "k.prism": """\
from one import scaled

@requires(grid[1], block[1], thread[64])
kernel k(x: ptr(const f32), y: ptr(f32)):
    partition y as tile @ block[1]:
        group block[1]:
            shared s: f32[64]
            t: int @ thread[1] = id()
            partition s as mine @ thread[1] at t:
                mine[0] = scaled(x[t])
            partition tile as out @ thread[1] at t:
                out[0] = s[63 - t]
""",
    "one.prism": """\
from two import FACTOR, more

@requires(thread[1])
def scaled(v: f32) -> f32:
    w: f32 = v * FACTOR
    return more(w)
""",
    "two.prism": """\
const FACTOR: f32 = 3.0

@requires(thread[1])
def more(v: f32) -> f32:
    return sqrt_of(v)

@requires(thread[1])
@effects()
unsafe def sqrt_of(v: f32) -> f32:
    r: f32
    asm("sqrt.rn.f32 $0, $1;", outs(r), ins(v))
    return r
""",
}


def _written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder / "k.prism"


def test_every_instruction_has_its_line(tmp_path: Path) -> None:
    source = _written(tmp_path, FILES)
    assert run(["build", str(source), "-o", str(tmp_path / "k.ptx")]) == 0
    ptx = (tmp_path / "k.ptx").read_text()
    names = dict(re.findall(r'\.file\s+(\d+) "([^"]+)"', ptx))
    assert {Path(name).name for name in names.values()} == set(FILES)
    assert all(Path(name).exists() for name in names.values())
    place = ("", 0)
    lines: dict[str, tuple[str, int]] = {}
    for line in ptx.splitlines():
        if match := re.match(r"\s*\.loc\s+(\d+) (\d+)", line):
            place = (Path(names[match[1]]).name, int(match[2]))
        elif match := re.match(r"\s*((?:[a-z]\w*)(?:\.\w+)*)\b.*;", line):
            lines.setdefault(match[1], place)
    assert lines["ld.global.nc.f32"] == ("k.prism", 10)
    assert lines["mul.f32"] == ("one.prism", 5)
    assert lines["sqrt.rn.f32"] == ("two.prism", 11)
    assert lines["st.shared.f32"] == ("k.prism", 10)
    # The inserted barrier is where the access is that made it necessary, or the loop around it.
    (barrier,) = [each for each in lines if each.startswith(("bar.sync", "barrier.sync"))]
    assert lines[barrier] == ("k.prism", 12)


# ------------------------------------------------------------------ F01: stale results

COMBINE = """\
from operation import add

const WHICH: int = 0

@requires(grid[1], block[1], thread[1])
kernel k(x: i32, y: i32, out: ptr(i32)):
    partition out as o @ thread[1]:
        o[0] = add(x, y) if WHICH == 0 else x - y
"""
ADD = """\
@requires(thread[1])
def add(x: i32, y: i32) -> i32:
    return x {} y
"""


class Combining:
    """A program that combines 3 and 4, built again after each change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = _written(folder, {"k.prism": COMBINE, "operation.prism": ADD.format("*")})

    def result(self, *options: str) -> int:
        out = self.folder / "k.ptx"
        assert run(["build", str(self.source), "-o", str(out), *options]) == 0
        found = run_ptx(out.read_text(), "k", 1, 1, [3, 4, np.zeros(1, np.int32)])
        assert found.outputs[2] is not None
        return int(found.outputs[2][0])


@pytest.fixture
def combining(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Combining:
    monkeypatch.setenv("PRISMC_CACHE", str(tmp_path / "cache"))
    return Combining(tmp_path)


def test_a_changed_helper_is_compiled(combining: Combining) -> None:
    assert [combining.result(), combining.result()] == [12, 12]
    (combining.folder / "operation.prism").write_text(ADD.format("+"))
    assert combining.result() == 7
    (combining.folder / "operation.prism").write_text(ADD.format("*"))
    assert combining.result() == 12


def test_a_changed_flag_is_heard(combining: Combining) -> None:
    assert combining.result() == 12
    assert combining.result("-D", "WHICH=1") == -1
    assert combining.result() == 12


def test_a_changed_target_is_compiled(combining: Combining) -> None:
    for target in ("sm_80", "sm_90", "sm_80"):
        combining.result("--target", target)
        assert f".target {target}" in (combining.folder / "k.ptx").read_text()


@pytest.mark.parametrize("changed", ["compiler_identity", "tool_identity"])
def test_another_compiler_compiles_anew(
    combining: Combining, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """Another build of prismc, or another version of the CUDA compiler."""
    runs: list[str] = []
    compile_one = Nvrtc.compile

    def counted(self: Nvrtc, module: CudaModule, target: str) -> Compilation:
        runs.append(target)
        return compile_one(self, module, target)

    monkeypatch.setattr(Nvrtc, "compile", counted)
    assert [combining.result(), combining.result()] == [12, 12]
    assert runs == ["sm_80"]
    for place in (findings, compilers, project):
        if hasattr(place, changed):
            monkeypatch.setattr(place, changed, lambda *_: "another")
    assert combining.result() == 12
    assert runs == ["sm_80", "sm_80"]

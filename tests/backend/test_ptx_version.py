"""What version a PTX text states: the least that has all it uses, and never less."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from examples.launches import EXAMPLES, LAUNCHES
from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain import build as toolchain
from prismc.backend.toolchain.compilation import Compilation, ToolchainFailure
from prismc.backend.toolchain.find import find_nvcc
from prismc.backend.toolchain.ptx_version import (
    Need,
    greatest_need,
    restated,
    stated_version,
    with_version,
)
from prismc.cli.main import run
from prismc.diagnostics.sink import Sink
from prismc.hardware.ptx_versions import version_text
from prismc.hardware.targets import TARGETS
from prismc.source.files import Files

SM_80, SM_90A = TARGETS["sm_80"], TARGETS["sm_90a"]
TEXT = """\
// A comment names barrier.cluster.arrive and %clusterid.
.version 9.5
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 a, .param .b64 b);
.visible .entry k(.param .u64 .ptr .global .align 4 k_0) .maxntid 32, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .loc 1 5 3
$L__BB0_1:
    .pragma "nounroll";
    { .reg .b32 own; mov.u32 own, %tid.x; }
    call.uni (result),
    vprintf,
    (
    a,
    b
    );
    @%p1 bra $L__BB0_1;
    /* mapa.u64 */
    MORE
    ret;
}
"""


def needed(more: str) -> Need:
    return greatest_need(TEXT.replace("MORE", more), SM_80)


@pytest.mark.parametrize(
    ("more", "what", "since"),
    [
        ("", "sm_80", (7, 0)),
        ('st.shared.u32 [x], %r1; // ".b128"', "sm_80", (7, 0)),
        (".loc 1 7 3, function_name $s, inlined_at 1 5 3\n", ".loc with `inlined_at`", (7, 2)),
        ("@!%p1 ld.global.L2::128B.u32 %r1, [a];", "ld.global.L2::128B.u32", (7, 4)),
        ("{ szext.wrap.u32 a, b, c; griddepcontrol.wait; }", "griddepcontrol.wait", (7, 8)),
        ("here: elect.sync %r1|p, -1;", "elect.sync", (8, 0)),
        ("mov.u32 %r1, %cluster_ctarank;", "%cluster_ctarank", (7, 8)),
        ("frobnicate.u32 %r1;", "frobnicate.u32", None),
        ("pmevent 7;", "pmevent", None),
        ("mov.b128 %rq1, {a, b};", "mov.b128", None),
        ("add.f32x2 %l1, %l2, %l3;", "add.f32x2", None),
        ("mov.u32 %r1, %unheard_of;", "%unheard_of", None),
        (".reg .b128 %q;", ".b128", None),
        ('.pragma "used_bytes_mask 0xfff";', '.pragma "used_bytes_mask 0xfff"', None),
    ],
)
def test_what_asks_for_a_version(more: str, what: str, since: tuple[int, int] | None) -> None:
    assert needed(more) == Need(what=what, since=since)


def test_a_target_has_a_least_version_of_its_own() -> None:
    text = TEXT.replace("MORE", "").replace("sm_80", "sm_90a")
    assert greatest_need(text, SM_90A) == Need(what="sm_90a", since=(8, 0))
    assert greatest_need(text, TARGETS["sm_75"]).since == (7, 0)


def test_only_the_version_changes() -> None:
    assert stated_version(TEXT) == (9, 5)
    assert with_version(TEXT, (7, 0)) == TEXT.replace(".version 9.5", ".version 7.0")
    with pytest.raises(ValueError, match=r"without a \.version"):
        stated_version("// 9.5")


@pytest.mark.parametrize("name", LAUNCHES)
def test_examples_state_little_and_assemble_alike(tmp_path: Path, name: str) -> None:
    """Their PTX is that of CUDA 11.0, of 11.2 where functions are inlined, of 12.0 for Hopper's."""
    target = LAUNCHES[name].target
    out = tmp_path / "k.ptx"
    command = ["build", str(EXAMPLES / f"{name}.prism"), "-o", str(out), "--target", target]
    assert run(command) == 0
    has_inlined = "inlined_at" in out.read_text()
    wanted = (8, 0) if target == "sm_90a" else (7, 2) if has_inlined else (7, 0)
    assert stated_version(out.read_text()) == wanted
    try:
        ptxas = find_nvcc().resolve().with_name("ptxas")
    except ToolchainFailure as failure:
        pytest.skip(str(failure))
    text, made = out.read_text(), []
    for version in (wanted, (9, 0)):  # the first that all toolkits with these targets read
        out.write_text(with_version(text, version))
        options = [f"-arch={target}", "-O1", "-o", "k.cubin", "k.ptx"]
        done = subprocess.run(
            [ptxas, *options], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        code = (tmp_path / "k.cubin").read_bytes()
        # For debuggers, the text is in it too.
        made.append(code.replace(f".version {version_text(version)}".encode(), b""))
    assert made[0] == made[1]  # what a text means does not depend on the version it states


SAXPY = str(EXAMPLES / "saxpy.prism")


@pytest.mark.parametrize("version", ["7.8", "8.4"])
def test_a_version_that_is_asked_for(tmp_path: Path, version: str) -> None:
    out = tmp_path / "k.ptx"
    assert run(["build", SAXPY, "-o", str(out), "--ptx-version", version]) == 0
    assert f".version {version}\n" in out.read_text()
    assert run(["build", SAXPY, "-o", str(out), "--ptx-version", "newest"]) == 0
    assert stated_version(out.read_text()) >= (9, 0)


def test_only_who_sees_the_ptx_pays_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def noted(
        compilation: Compilation, module: CudaModule, wanted: str, files: Files, sink: Sink
    ) -> str | None:
        asked.append(wanted)
        return restated(compilation, module, wanted, files, sink)

    monkeypatch.setattr(toolchain, "restated", noted)
    for suffix in ("cubin", "ptx", "json", "py"):
        assert run(["build", SAXPY, "-o", str(tmp_path / f"k.{suffix}"), "--no-cache"]) == 0
    assert asked == ["newest", "least", "least", "least"]


@pytest.mark.parametrize(
    ("version", "code", "says"),
    [
        ("9.9", 2, "error[P0768]: NVRTC"),
        ("99.9", 2, "and `--ptx-version 99.9` is asked for"),
        ("6.5", 2, "'6.5' is none of `least`, `newest`, or a version such as `8.4`, from 7.0 on"),
        ("9.99", 2, "'9.99' is none of"),
        ("eight", 2, "'eight' is none of"),
        ("7.8", 1, "error[P0766]: `sm_90a` came with PTX 8.0, and `--ptx-version 7.8` is asked"),
    ],
)
def test_a_version_that_cannot_be(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], version: str, code: int, says: str
) -> None:
    out = tmp_path / "k.ptx"
    options = ["--target", "sm_90a", "--ptx-version", version]
    assert run(["build", SAXPY, "-o", str(out), *options]) == code
    assert says in capfd.readouterr().err
    assert not out.exists()

"""Objects, fatbins and records: what is in them, and that the same input gives the same bytes."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from host.conftest import EXAMPLES
from host.support import ROOT, build, build_text
from prismc.backend.host.images import Image, ptx_version
from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.find import find_c_compiler, find_fatbinary, programs_in
from prismc.backend.toolchain.packing import compile_object, pack_fatbin
from prismc.cli.main import run

SCHEMA = json.loads((ROOT / "docs" / "record.schema.json").read_text())


def require_fatbinary() -> None:
    try:
        find_fatbinary()
    except ToolchainFailure as failure:
        pytest.skip(str(failure))


def record(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, SCHEMA)
    return found


def test_a_record_tells_what_a_launch_needs(saxpy: Path) -> None:
    found = record(saxpy, "saxpy")
    text = (EXAMPLES / "saxpy.prism").read_bytes()
    assert found["sources"][0]["sha256"] == hashlib.sha256(text).hexdigest()
    assert [each["name"] for each in found["targets"]] == ["sm_80", "sm_90a"]
    (kernel,) = found["kernels"]
    assert kernel["symbol"] == "saxpy"
    assert kernel["launch"] == {
        "threads": 256, "min_blocks": 0, "cluster": 1, "cooperative": False
    }  # fmt: skip
    assert [(each["name"], each["type"], each["offset"]) for each in kernel["parameters"]] == [
        ("n", "i32", 0), ("a", "f32", 4), ("x", "ptr(const f32)", 8), ("y", "ptr(f32)", 16)
    ]  # fmt: skip
    assert 0 < kernel["targets"]["sm_80"]["registers"] < 64


def test_a_record_tells_offsets_sources_and_defines(tmp_path: Path) -> None:
    (tmp_path / "sizes.prism").write_text("const LENGTH: int = 8\n")
    text = """\
from sizes import LENGTH

const N: int = 1

@requires(grid[1], block[1], thread[32])
@launch(threads = 64, min_blocks = 2)
kernel k(a: u8, b: i64, c: bool, d: vec(f32, 4), e: ptr(const vec(f16, 8))):
    group block[1]:
        shared s: u8[LENGTH * N]
"""
    build_text(text, tmp_path, "-D", "N=7000")
    found = record(tmp_path, "k")
    assert found["defines"] == {"N": "7000"}
    assert [Path(each["file"]).name for each in found["sources"]] == ["k.prism", "sizes.prism"]
    (kernel,) = found["kernels"]
    places = [(each["offset"], each["size"]) for each in kernel["parameters"]]
    assert places == [(0, 1), (8, 8), (16, 1), (32, 16), (48, 8)]
    assert kernel["parameters"][4]["pointee_alignment"] == 16
    assert kernel["launch"]["min_blocks"] == 2
    assert kernel["targets"]["sm_80"]["dynamic_shared_bytes"] == 56_000


def test_offsets_are_those_of_the_ptx(tmp_path: Path) -> None:
    from prismc.driver.cpu.server import _places
    from prismc.emulator.ptx.parser import parse_module

    text = """\
@requires(grid[1], block[1], thread[32])
kernel k(a: u8, b: i64, c: bool, d: vec(f32, 4), e: u16, f: vec(u8, 2), g: f64):
    pass
"""
    build_text(text, tmp_path, "--emit", "ptx")
    module = parse_module((tmp_path / "k.ptx").read_text())
    parameters = record(tmp_path, "k")["kernels"][0]["parameters"]
    places = [(each["offset"], each["size"]) for each in parameters]
    assert places == _places(module.functions["k"])


@pytest.mark.parametrize("kind", ["obj", "fatbin", "header", "record"])
def test_the_same_bytes_again(tmp_path: Path, kind: str) -> None:
    if kind == "fatbin":
        require_fatbinary()
    made = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        out = folder / "out"
        options = ["--emit", kind, "--target", "sm_80", "--target", "sm_90a", "--no-cache"]
        assert run(["build", str(EXAMPLES / "saxpy.prism"), "-o", str(out), *options]) == 0
        made.append(out.read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("k.o", b"\x7fELF"),
        ("k.h", b"/* Launch"),
        ("k.json", b"{"),
        ("k.fatbin", b"\x50\xed\x55\xba"),
    ],
)
def test_the_ending_of_the_output_says_what_it_is(tmp_path: Path, name: str, start: bytes) -> None:
    if name == "k.fatbin":
        require_fatbinary()
    out = tmp_path / name
    assert run(["build", str(EXAMPLES / "saxpy.prism"), "-o", str(out)]) == 0
    assert out.read_bytes().startswith(start)


def test_a_header_needs_no_cuda_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISMC_NVRTC", "/nowhere")
    out = tmp_path / "saxpy.h"
    assert run(["build", str(EXAMPLES / "saxpy.prism"), "-o", str(out), "--no-cache"]) == 0
    assert "saxpy_launch" in out.read_text()


def test_an_object_defines_its_images_alone(saxpy: Path) -> None:
    done = subprocess.run(
        ["nm", "-g", "saxpy.o"], cwd=saxpy, capture_output=True, text=True, check=True
    )
    assert [line.split()[1:] for line in done.stdout.splitlines()] == [["D", "saxpy_images"]]


def test_tools_that_are_missing_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(EXAMPLES / "saxpy.prism")
    monkeypatch.setenv("CC", "/nowhere/cc")
    assert run(["build", source, "-o", str(tmp_path / "k.o")]) == 2
    said = capsys.readouterr().err
    assert "error[P0776]: CC names `/nowhere/cc`, which is no program" in said
    monkeypatch.delenv("CC")
    monkeypatch.setenv("CC", "false")
    assert run(["build", source, "-o", str(tmp_path / "k.o")]) == 2
    assert "error[P0776]: `false` fails: exit code 1" in capsys.readouterr().err
    assert not (tmp_path / "k.o").exists()


def test_where_tools_are_looked_for(tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path)}
    with pytest.raises(ToolchainFailure, match="no `fatbinary` was found"):
        find_fatbinary(nothing, [])
    with pytest.raises(ToolchainFailure, match="no C compiler was found"):
        find_c_compiler(nothing)
    wheel = tmp_path / "nvidia" / "cu13" / "bin"
    wheel.mkdir(parents=True)
    for place in (wheel / "fatbinary", tmp_path / "clang"):
        place.write_text("#!/bin/sh\n")
        place.chmod(0o755)
    assert find_fatbinary(nothing, [str(tmp_path)]) == wheel / "fatbinary"
    clang = str(tmp_path / "clang")
    assert find_c_compiler(nothing) == (clang,)
    for named, command in (
        ("clang -m64 --target=aarch64-linux-gnu", (clang, "-m64", "--target=aarch64-linux-gnu")),
        (f"'{clang}' -x c ", (clang, "-x", "c")),
        (clang, (clang,)),
    ):
        assert find_c_compiler(nothing | {"CC": named}) == command
    assert [*programs_in(("fatbinary", "clang", "-x", "clang"), nothing)] == [clang]
    for named in ("gcc -m64", "'clang"):
        with pytest.raises(ToolchainFailure, match=f"CC names `{named}`, which is no program"):
            find_c_compiler(nothing | {"CC": named})


def test_images_are_words_of_the_right_bytes(tmp_path: Path) -> None:
    """Any length, and a zero after the last byte."""
    from prismc.backend.host.images import emit_images
    from prismc.backend.host.interface import HostModule

    contents = [bytes(range(length)) for length in (0, 1, 7, 8, 9, 33)]
    module = HostModule(name="k", source="k.prism", targets=("sm_80",), kernels=(), signature="s")
    images = [Image(target="sm_80", content=each) for each in contents]
    (tmp_path / "k.o").write_bytes(compile_object("k.c", emit_images(module, images)))
    main = """
#include <stdio.h>
struct image { int target, version; const unsigned char *data; };
extern const struct { const char *signature; int count; const struct image *images; } k_images;
int main(void)
{
    static const int lengths[] = {0, 1, 7, 8, 9, 33};
    int i, j, wrong = k_images.count != 6;
    for (i = 0; i < 6; i++) {
        for (j = 0; j < lengths[i]; j++)
            wrong += k_images.images[i].data[j] != j;
        wrong += k_images.images[i].data[lengths[i]] != 0;
    }
    return wrong;
}
"""
    (tmp_path / "main.c").write_text(main)
    subprocess.run([*find_c_compiler(), "main.c", "k.o", "-o", "host"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "host"], check=False).returncode == 0


def test_a_full_disk_is_told_where_temporary_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(
        "#!/bin/sh\necho error writing to $TMPDIR: No space left on device\nexit 1\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(
        ToolchainFailure, match=r"`cc` fails: error writing to /.*: No space"
    ) as told:
        compile_object("k.c", "")
    assert told.value.remedy.startswith("make room in ")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ToolchainFailure, match="files cannot be written: No space left") as told:
        compile_object("k.c", "")
    assert told.value.remedy.endswith("or set TMPDIR to another folder")


def test_what_a_packing_tool_says_is_told() -> None:
    require_fatbinary()
    with pytest.raises(ToolchainFailure, match=r"`fatbinary` fails: .*fatbinary elf mismatch"):
        pack_fatbin([Image(target="sm_80", content=b"no image")])
    with pytest.raises(ToolchainFailure, match=r"fails: k\.c:1:1: error"):
        compile_object("k.c", "}")


def test_the_version_of_a_ptx_text() -> None:
    assert ptx_version("// x\n.version 8.7\n.target sm_90\n") == 87
    with pytest.raises(ValueError, match="version"):
        ptx_version("")


def test_build_systems_are_told_where_things_are(capsys: pytest.CaptureFixture[str]) -> None:
    for option, name in (("--cmake-dir", "prismcConfig.cmake"), ("--make-fragment", "")):
        assert run([option]) == 0
        assert (Path(capsys.readouterr().out.rstrip("\n")) / name).exists()
    assert run(["--libs"]) == 0
    assert run(["--cflags"]) == 0
    assert capsys.readouterr().out == "-ldl\n\n"


def test_files_of_one_stem_go_by_their_identifier(tmp_path: Path) -> None:
    source = tmp_path / "2-d.scale.prism"
    source.write_text("@requires(grid[1], block[1], thread[32])\nkernel k():\n    pass\n")
    build(source, tmp_path)
    assert "_2_d_scale_images" in (tmp_path / "2-d.scale.h").read_text()

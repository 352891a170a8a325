"""The commands, run in this process: exit codes, formats, inputs, outputs."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import jsonschema
import pytest

from prismc.backend.toolchain.find import find_nvrtc
from prismc.driver.catalog import codes
from prismc.driver.depfile import dependency_rule
from prismc.source.identity import compiler_file
from support.command import Ran, Runner, runner

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "diagnostics.schema.json").read_text())

GOOD = """\
@requires(grid[1], block[1], thread[32])
@launch(threads = 32)
kernel fill(Y: ptr(f32)):
    b: int @ block[1] = id()
    partition Y as yb @ block[1] at b * 32:
        group block[1]:
            t: int @ thread[1] = id()
            partition yb as y @ thread[1] at t:
                y[0] = 1.0
"""
BAD = "@requires(block[1], thread[64])\ndef f():\n    group thread[5]:\n        pass\n"
BAD_CODE = "P0402"
RING = """\
from std.copy import cp_async_16

@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
@assume(aligned(X, 16))
kernel turn(X: ptr(const f32), Y: ptr(f32), n: int):
    partition Y as y @ block[1]:
        group block[1]:
            shared S: f32[2][256]
            t: int @ thread[1] = id()
            pipeline k in range(n) through S as s:
                produce:
                    partition s as async p @ thread[1] at 4 * t:
                        cp_async_16(p, 0, X, k * 256 + 4 * t)
                consume:
                    v: f32 @ thread[1] = s[255 - t]
                    partition y as m @ thread[1] at k * 64 + t:
                        m[0] = v
"""

RACE = """\
@requires(block[1], thread[64])
def f(x: ptr(f32)):
    t: int @ thread[1] = id()
    partition x as y @ thread[1] at t / 2:
        y[0] = 1.0
"""


@pytest.fixture
def prismc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Runner:
    """Runs a command in a folder of its own with `good.prism` and `bad.prism` in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    (tmp_path / "good.prism").write_text(GOOD)
    (tmp_path / "bad.prism").write_text(BAD)
    return runner(monkeypatch, capfd)


def test_check_good(prismc: Runner) -> None:
    assert prismc("check", "good.prism") == Ran(0, "", "")


def test_races_are_judged_by_option(prismc: Runner) -> None:
    Path("race.prism").write_text(RACE)
    warned, denied, silent = (
        prismc("check", "race.prism", "--races", races) for races in ("warn", "deny", "off")
    )
    assert warned.out.startswith("warning[P0603]")
    assert denied.out.startswith("error[P0603]")
    assert [warned.code, denied.code, silent] == [0, 1, Ran(0, "", "")]


def test_a_solver_that_is_not_there_is_told(
    prismc: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prismc.cli.options.find_spec", lambda name: None)
    ran = prismc("check", "good.prism", "--footprints", "smt")
    assert ran.code == 2
    assert "pip install 'prismc[smt]'" in ran.err


def test_check_bad(prismc: Runner) -> None:
    ran = prismc("check", "bad.prism")
    assert ran.code == 1
    assert f"error[{BAD_CODE}]" in ran.out
    assert "--> bad.prism:3:" in ran.out
    assert ran.out.endswith("\n1 error\n")
    assert ran.err == ""


def test_check_folder_and_standard_input(prismc: Runner, tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "no.prism").write_text("(")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "worse.prism").write_text(BAD)
    ran = prismc("check", ".", "-", stdin=BAD.encode())
    assert ran.code == 1
    assert ran.out.count(f"error[{BAD_CODE}]") == 3
    for name in ("bad.prism:3", "sub/worse.prism:3", "<stdin>:3"):
        assert f"--> {name}" in ran.out


def test_a_file_named_twice_is_checked_once(prismc: Runner) -> None:
    assert prismc("check", "bad.prism", "bad.prism").out.count("error[") == 1


def test_check_for_several_targets_tells_once(prismc: Runner) -> None:
    ran = prismc("check", "bad.prism", "--target", "sm_80", "--target", "sm_90a")
    assert ran.out.count("error[") == 1


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_a_file_without_end(prismc: Runner) -> None:
    ran = prismc("check", "/dev/zero", "good.prism")
    assert ran.code == 2
    assert "`/dev/zero` cannot be read: it has more than 64 MiB" in ran.out


def test_missing_file_and_empty_folder(prismc: Runner, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = prismc("check", "nowhere.prism", "nothing.prism", "empty", "bad.prism")
    assert ran.code == 2
    assert ran.out.count("error[P0751]") == 2
    assert "error[P0752]" in ran.out
    assert f"error[{BAD_CODE}]" in ran.out


def test_not_utf8(prismc: Runner) -> None:
    ran = prismc("check", "-", stdin=b"# one\n# caf\xe9\n")
    assert ran.code == 1
    assert "--> <stdin>:2:6" in ran.out


def test_json(prismc: Runner) -> None:
    ran = prismc("check", "bad.prism", "good.prism", "nowhere.prism", "--format", "json")
    record = json.loads(ran.out)
    jsonschema.validate(record, SCHEMA)
    assert [d["code"] for d in record["diagnostics"]] == ["P0751", BAD_CODE]
    assert record["diagnostics"][1]["start"]["line"] == 3
    assert ran.err == ""
    assert json.loads(prismc("check", "good.prism", "--format", "json").out)["diagnostics"] == []


def test_colours(prismc: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in prismc("check", "bad.prism").out
    assert "\x1b[" in prismc("check", "bad.prism", "--color", "always").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in prismc("check", "bad.prism", "--color", "auto").out


def test_max_errors(prismc: Runner, tmp_path: Path) -> None:
    functions = [BAD.replace("f()", f"f{number}()") for number in range(60)]
    (tmp_path / "many.prism").write_text("\n".join(functions))
    ran = prismc("check", "many.prism")
    assert ran.out.count("error[") == 50
    assert ran.out.endswith("\n60 errors (10 not shown; see --max-errors)\n")
    assert prismc("check", "many.prism", "--max-errors", "0").out.count("error[") == 60


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "good.prism", "--target", "sm_1"],
        ["check", "good.prism", "-D", "N"],
        ["check", "good.prism", "-D", "=3"],
        ["check", "good.prism", "-I", "nowhere"],
        ["build", "good.prism", "--emit", "exe"],
        ["build", "-"],
        ["build", "good.prism", "-o", "-", "--emit", "ptx", "--emit", "cuda"],
        ["build", "good.prism", "-o", "bad.prism", "--emit", "ptx", "--emit", "cuda"],
        ["build", "good.prism", "-o", "good.prism", "--emit", "cuda"],
        ["build", "good.prism", "-o", "-", "--emit", "cuda", "--format", "json"],
        ["dump", "good.prism"],
        ["dump", "good.prism", "--after", "lunch"],
        ["explain", "P9999"],
        ["nonsense"],
    ],
    ids=" ".join,
)
def test_usage(prismc: Runner, arguments: list[str]) -> None:
    ran = prismc(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert "Error: " in ran.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("chekc good.prism", "No such command 'chekc'. Did you mean 'check'?"),
        ("zzz", "No such command 'zzz'."),
        ("doc std.wrap", "no module `std.wrap`; did you mean `std.warp`?"),
        ("doc std.nothing", "no module `std.nothing`; there are std.atomic, std.block, "),
        ("build good.prism -o k.ptx --emit ptx --emit cubin", "a folder, `-o k/`"),
        ("build good.prism -o k.cubin --target sm_80 --target sm_90", "`k.cubin` names one output"),
        ("build good.prism bad.prism -o k.ptx", "names one output, and there are several"),
        ("build good.prism -o ''", "`-o` names no output"),
    ],
)
def test_usage_that_is_nearly_right(prismc: Runner, line: str, says: str) -> None:
    ran = prismc(*shlex.split(line))
    assert ran.code == 2
    assert says in ran.err
    assert sorted(Path().iterdir()) == [Path("bad.prism"), Path("good.prism")]


def test_explain(prismc: Runner) -> None:
    assert prismc("explain", BAD_CODE).out.startswith(f"# {BAD_CODE}: ")
    assert prismc("explain", BAD_CODE.lower()).code == 0
    listed = prismc("explain").out
    assert all(code in listed for code in codes())
    assert "did you mean P0402" in prismc("explain", "402").err


def test_targets(prismc: Runner) -> None:
    assert "sm_90a" in prismc("targets").out
    assert "wgmma" in prismc("targets", "--features").out


def test_define_changes_a_constant(prismc: Runner, tmp_path: Path) -> None:
    (tmp_path / "n.prism").write_text(
        "const N: int = 4\n\n@requires(block[1], thread[64])\ndef f():\n"
        "    group thread[N]:\n        pass\n"
    )
    assert prismc("check", "n.prism").code == 0
    assert prismc("check", "n.prism", "-D", "N=5").code == 1


def test_include_finds_modules(prismc: Runner, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sizes.prism").write_text("const N: int = 4\n")
    (tmp_path / "use.prism").write_text("from sizes import N\n\nconst M: int = N\n")
    assert prismc("check", "use.prism").code == 1
    assert prismc("check", "use.prism", "-I", "lib") == Ran(0, "", "")


def test_build_default_place(prismc: Runner, tmp_path: Path) -> None:
    ran = prismc("build", "good.prism")
    assert ran == Ran(0, "", "")
    assert (tmp_path / "good.cubin").read_bytes().startswith(b"\x7fELF")


def test_build_several(prismc: Runner, tmp_path: Path) -> None:
    arguments = ["build", "good.prism", "-o", "out", "--emit", "cuda", "--emit", "ptx"]
    arguments += ["--target", "sm_80", "--target", "sm_90a", "--report"]
    ran = prismc(*arguments)
    assert ran.code == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["good.sm_80.cu", "good.sm_80.ptx", "good.sm_90a.cu", "good.sm_90a.ptx"]
    head, *rows = ran.out.splitlines()
    assert head.split() == [
        *("kernel", "target", "registers", "shared", "bytes", "spill", "bytes"),
        *("blocks", "an", "SM", "barriers"),
    ]
    assert [row.split()[:2] for row in rows] == [["fill", "sm_80"], ["fill", "sm_90a"]]


def test_build_tells_how_pipelines_are_written(prismc: Runner, tmp_path: Path) -> None:
    """From the cache, too; targets with the same plan share a line."""
    (tmp_path / "ring.prism").write_text(RING, encoding="utf-8")
    arguments = ["build", "ring.prism", "-o", "out/", "--target", "sm_80", "--report"]
    expected = (
        "turn: the pipeline of line 11 (2 slots, 1 iteration filled ahead) is unrolled: its steps "
        "are few and small (unrolled about 9 instructions, of 1000 at most); waits: wait group "
        "(line 13), block barrier (line 13)"
    )
    for _ in range(2):
        assert prismc(*arguments).out.splitlines()[-1] == expected
    both = prismc(*arguments, "--target", "sm_90a").out.splitlines()[-1]
    assert both == expected.replace("turn:", "turn (sm_80, sm_90a):")


def test_build_to_one_file_and_to_standard_output(prismc: Runner, tmp_path: Path) -> None:
    assert prismc("build", "good.prism", "-o", "deep/k.ptx", "--emit", "ptx").code == 0
    assert ".entry fill" in (tmp_path / "deep" / "k.ptx").read_text()
    out = prismc("build", "-", "-o", "-", "--emit", "cuda", stdin=GOOD.encode()).out
    assert 'extern "C"' in out


def test_build_twice_writes_the_same(prismc: Runner, tmp_path: Path) -> None:
    kinds = ["--emit", "cuda", "--emit", "ptx", "--emit", "cubin"]
    contents = []
    for folder in ("one", "two"):
        assert prismc("build", "good.prism", "-o", folder, *kinds).code == 0
        contents.append({p.name: p.read_bytes() for p in (tmp_path / folder).iterdir()})
    assert contents[0] == contents[1]
    assert len(contents[0]) == 3


def test_the_ending_says_what_to_write(prismc: Runner, tmp_path: Path) -> None:
    for name, start in (("k.ptx", b"//"), ("k.cu", b"// CUDA"), ("k.bin", b"\x7fELF")):
        assert prismc("build", "good.prism", "-o", name).code == 0
        assert (tmp_path / name).read_bytes().startswith(start)
    assert prismc("build", "good.prism", "-o", "k.ptx", "--emit", "cubin").code == 0
    assert (tmp_path / "k.ptx").read_bytes().startswith(b"\x7fELF")


def test_depfile(prismc: Runner, tmp_path: Path) -> None:
    (tmp_path / "sizes.prism").write_text("const N: int = 4\n")
    (tmp_path / "use.prism").write_text("from sizes import N\n\n" + GOOD)
    emits = ("--emit", "ptx", "--emit", "cuda")
    assert prismc("build", "use.prism", "-o", "b", *emits, "--depfile", "b/use.d").code == 0
    rule = (tmp_path / "b" / "use.d").read_text()
    assert rule.startswith("b/use.ptx b/use.cu: \\\n  use.prism \\\n  sizes.prism \\\n")
    compiler = [str(compiler_file()), str(find_nvrtc())]
    assert [name for name in compiler if f"\n  {name}" not in rule] == []
    assert rule.endswith("".join(f"\n{name}:\n" for name in ("sizes.prism", *compiler)))
    (tmp_path / "sizes.prism").write_text("wrong")
    assert prismc("build", "use.prism", "-o", "b", *emits, "--depfile", "b/use.d").code == 1
    assert (tmp_path / "b" / "use.d").read_text() == rule
    assert prismc("build", "good.prism", "-o", "-", "--depfile", "d").code == 2


def test_names_in_a_depfile_are_spelled_for_make() -> None:
    assert dependency_rule(["a b.ptx"], ["c$#.prism"]) == "a\\ b.ptx: \\\n  c$$\\#.prism\n"


def test_the_source_is_never_an_output(prismc: Runner, tmp_path: Path) -> None:
    source = tmp_path / "odd.cu"
    source.write_text(GOOD)
    for arguments in ([], ["-o", "odd.cu"], ["-o", "."], ["-o", "../" + tmp_path.name + "/odd.cu"]):
        ran = prismc("build", "odd.cu", "--emit", "cuda", *arguments)
        assert ran.code == 2
        assert "is the source itself" in ran.err
    assert source.read_text() == GOOD


def test_no_output_replaces_a_module_or_another_output(prismc: Runner, tmp_path: Path) -> None:
    module = tmp_path / "sizes.prism"
    module.write_text("const N: int = 1\n")
    (tmp_path / "good.prism").write_text(f"import sizes\n{GOOD}")
    for output in ("sizes.prism", str(module)):
        ran = prismc("build", "good.prism", "-o", output)
        assert ran.code == 2
        assert "it is a source of this build" in ran.err
    ran = prismc("build", "good.prism", "-o", "a.cubin", "--depfile", "./a.cubin")
    assert (ran.code, "two outputs go there" in ran.err) == (2, True)
    assert module.read_text() == "const N: int = 1\n"
    assert not (tmp_path / "a.cubin").exists()


def test_a_build_without_kernels_warns(prismc: Runner) -> None:
    ran = prismc("build", "-", "-o", "a.cubin", stdin=b"const N: int = 1\n")
    assert (ran.code, "warning[P0757]" in ran.err) == (0, True)


def test_failing_build_leaves_older_outputs(prismc: Runner, tmp_path: Path) -> None:
    old = tmp_path / "bad.cubin"
    old.write_bytes(b"old")
    os.utime(old, (1_000, 1_000))
    ran = prismc("build", "bad.prism")
    assert ran.code == 1
    assert f"error[{BAD_CODE}]" in ran.err
    assert ran.out == ""
    assert old.read_bytes() == b"old"
    assert old.stat().st_mtime == 1_000


def test_an_output_that_cannot_be_written(prismc: Runner, tmp_path: Path) -> None:
    ran = prismc("build", "good.prism", "-o", "bad.prism/k.cubin")
    assert ran.code == 2
    assert "error[P0755]: `bad.prism/k.cubin` cannot be written: Not a directory" in ran.err
    assert (tmp_path / "bad.prism").read_text() == BAD


def test_no_compiler(prismc: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISMC_NVRTC", "/nowhere/libnvrtc.so")
    ran = prismc("build", "good.prism")
    assert ran.code == 2
    assert "error[P0701]" in ran.err
    assert prismc("build", "good.prism", "--emit", "cuda").code == 0


def test_dump(prismc: Runner) -> None:
    assert "Kernel" in prismc("dump", "good.prism", "--after", "ast").out
    assert 'extern "C"' in prismc("dump", "good.prism", "--after", "cuda").out
    ran = prismc("dump", "bad.prism", "--after", "cuda")
    assert ran.code == 1
    assert ran.out == ""
    assert f"error[{BAD_CODE}]" in ran.err


def test_json_gives_way_to_a_dump(prismc: Runner) -> None:
    ran = prismc("dump", "bad.prism", "--after", "perspectives", "--format", "json")
    assert "block[1]" in ran.out
    assert [each["code"] for each in json.loads(ran.err)["diagnostics"]] == [BAD_CODE]


ORDERED = """\
@requires(grid[1], block[1], thread[64])
kernel turn(x: ptr(const f32), y: ptr(f32)):
    partition y as yb @ block[1] at id(block[1]) * 64:
        group block[1]:
            shared S: f32[64]
            t: int @ thread[1] = id()
            partition S as s @ thread[1] at t:
                s[0] = x[t]
            partition yb as out @ thread[1] at t:
                out[0] = S[63 - t]
"""


def test_a_planned_operation_can_be_left_out(prismc: Runner, tmp_path: Path) -> None:
    (tmp_path / "turn.prism").write_text(ORDERED)
    build = ("build", "turn.prism", "-o", "-", "--emit", "cuda")
    assert "  #0 before" in prismc("dump", "turn.prism", "--after", "plan").out
    assert "__syncthreads" in prismc(*build).out
    without = prismc(*build, "--drop-sync", "0")
    assert (without.code, without.err) == (0, "")
    assert "__syncthreads" not in without.out


def test_an_operation_that_is_not_planned_cannot_be_left_out(
    prismc: Runner, tmp_path: Path
) -> None:
    (tmp_path / "turn.prism").write_text(ORDERED)
    ran = prismc("build", "turn.prism", "--emit", "cuda", "--drop-sync", "0", "--drop-sync", "1")
    assert ran.code == 2
    assert ran.err.startswith("error[P0756]: `--drop-sync 1`: operations of this program's plan: 1")
    assert not (tmp_path / "turn.cu").exists()


def test_sarif_and_annotations(prismc: Runner) -> None:
    ran = prismc("check", "good.prism", "bad.prism", "--format", "sarif")
    (result,) = json.loads(ran.out)["runs"][0]["results"]
    assert (ran.code, result["ruleId"], ran.err) == (1, BAD_CODE, "")
    ran = prismc("build", "bad.prism", "--format", "github")
    assert ran.code == 1
    assert ran.out.startswith("::error file=bad.prism,line=3,")
    assert prismc("check", "good.prism", "--format", "github") == Ran(0, "", "")


def test_denied_warnings(prismc: Runner, tmp_path: Path) -> None:
    (tmp_path / "race.prism").write_text(RACE)
    assert prismc("check", "race.prism").code == 0
    ran = prismc("check", "race.prism", "--deny", "warnings")
    assert (ran.code, ran.out.splitlines()[0][:13]) == (1, "error[P0603]:")
    assert prismc("check", "race.prism", "--deny", "p0603").code == 1
    assert prismc("check", "race.prism", "--allow", "P0603") == Ran(0, "", "")
    assert prismc("check", "race.prism", "--deny", "warnings", "--allow", "P0603").code == 0
    assert prismc("build", "race.prism", "--emit", "cuda", "--deny", "P0603").code == 1
    assert not (tmp_path / "race.cu").exists()
    assert prismc("build", "race.prism", "--emit", "cuda", "--deny", "P0757").code == 1
    assert prismc("build", "race.prism", "--emit", "cuda").code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--allow", "P0405"], "P0405 is an error"),
        (["--deny", "P0405"], "P0405 is an error"),
        (["--deny", "P603"], "did you mean `P0603`?"),
        (["--allow", "warnings"], "no diagnostic has the code"),
        (["--allow", "P0603", "--deny", "P0603"], "P0603 is both denied and allowed"),
    ],
)
def test_codes_of_warnings_only(prismc: Runner, options: list[str], words: str) -> None:
    ran = prismc("check", "good.prism", *options)
    assert ran.code == 2
    assert words in ran.err

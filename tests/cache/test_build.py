"""Builds of many files: what is built again, what is left alone, and what survives."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prismc.cli.main import run
from prismc.driver import project
from prismc.source.identity import compiler_file

SIZES = "const N: int = 32\n"
KERNEL = """\
from sizes import N

@requires(grid[1], block[1], thread[32])
@launch(threads = 32)
kernel {name}(y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        mine[0] = f32(N) + {value}
"""
NAMES = ("a", "b", "c")


class Ran:
    """What a build did: exit code, what it said, the roots that were worked on."""

    def __init__(self, code: int, err: str, worked: list[str]) -> None:
        self.code, self.err, self.worked = code, err, worked


Build = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three kernels that import one module, and a cache of their own."""
    monkeypatch.setenv("PRISMC_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "sizes.prism").write_text(SIZES)
    for name in NAMES:
        (place / f"{name}.prism").write_text(KERNEL.format(name=name, value="1.0"))
    (place / "alone.prism").write_text(KERNEL.format(name="alone", value="1.0").split("\n", 1)[1])
    (place / "alone.prism").write_text(
        (place / "alone.prism").read_text().replace("f32(N)", "32.0")
    )
    for path in place.iterdir():
        os.utime(path, (1_000, 1_000))
    return place


@pytest.fixture
def build(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Build:
    """Runs `prismc build` with one job, so that what it works on is seen."""
    worked: list[str] = []
    real = project.build_file

    def counted(session: object, file: object, *rest: object) -> object:
        worked.append(Path(file.name).stem)  # type: ignore[attr-defined]
        return real(session, file, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(project, "build_file", counted)

    def run_build(*arguments: str) -> Ran:
        worked.clear()
        code = run(["build", "-j", "1", *arguments])
        return Ran(code, capfd.readouterr().err, [*worked])

    return run_build


ALL = ("a.prism", "b.prism", "c.prism", "alone.prism", "-o", "out/")


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "out").iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_only_what_changed_is_built(folder: Path, build: Build) -> None:
    first = build(*ALL)
    assert (first.code, first.worked) == (0, ["a", "b", "c", "alone"])
    assert "4 files: 4 built, 0 up to date" in first.err
    before = times(folder)
    again = build(*ALL)
    assert (again.worked, times(folder)) == ([], before)
    assert "4 files: 0 built, 4 up to date" in again.err
    (folder / "b.prism").write_text(KERNEL.format(name="b", value="2.0"))
    changed = build(*ALL)
    assert changed.worked == ["b"]
    assert "4 files: 1 built, 3 up to date" in changed.err
    assert {name for name, at in times(folder).items() if at != before[name]} == {"b.cubin"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_several_processes_do_the_work(folder: Path, build: Build) -> None:
    """What they build comes back: this process does nothing again."""
    assert build(*ALL, "-j", "2", "--no-cache").worked == []
    built = contents(folder / "out")
    assert len(built) == 4
    build(*ALL, "--always", "--no-cache")
    assert contents(folder / "out") == built


def test_a_changed_import_builds_its_importers(folder: Path, build: Build) -> None:
    build(*ALL)
    (folder / "sizes.prism").write_text("const N: int = 64\n")
    assert build(*ALL).worked == ["a", "b", "c"]


def test_a_removed_output_comes_from_the_cache(folder: Path, build: Build) -> None:
    build(*ALL)
    before = contents(folder / "out")
    (folder / "out" / "a.cubin").unlink()
    (folder / "out" / "b.cubin").write_bytes(b"damaged")
    again = build(*ALL)
    assert (again.code, again.worked) == (0, [])
    assert "2 built, 2 up to date" in again.err
    assert contents(folder / "out") == before


def test_with_an_empty_cache_the_same_comes_out(folder: Path, build: Build) -> None:
    build(*ALL)
    before, at = contents(folder / "out"), times(folder)
    run(["cache", "clear"])
    assert build(*ALL).worked == ["a", "b", "c", "alone"]
    assert (contents(folder / "out"), times(folder)) == (before, at)
    assert build(*ALL, "--no-cache").worked == ["a", "b", "c", "alone"]
    assert (contents(folder / "out"), times(folder)) == (before, at)
    assert build(*ALL, "--always").code == 0
    assert contents(folder / "out") == before
    assert all(now > at[name] for name, now in times(folder).items())


def test_an_entry_that_was_evicted_is_built_again(
    folder: Path, build: Build, tmp_path: Path
) -> None:
    """The record of a build may outlive the outputs that it names."""
    build(*ALL)
    before = contents(folder / "out")
    for place in (tmp_path / "cache" / "entries").rglob("*"):
        if place.is_file() and place.stat().st_size > 4_000:
            place.unlink()
    assert build(*ALL).worked == []
    shutil.rmtree(folder / "out")
    assert build(*ALL).code == 0
    assert contents(folder / "out") == before


def test_what_differs_is_never_mixed_up(folder: Path, build: Build) -> None:
    """Targets, kinds, options and places are part of what is remembered."""
    seen = []
    for options in (
        ["--target", "sm_80"],
        ["--target", "sm_90a"],
        ["--emit", "ptx"],
        ["-D", "EXTRA=2"],
        ["--sync", "paper"],
    ):
        (folder / "a.prism").write_text(
            "const EXTRA: int = 1\n" + KERNEL.format(name="a", value="1.0")
        )
        assert build("a.prism", "-o", "out/k", *options).worked == ["a"]
        seen.append((folder / "out" / "k").read_bytes())
        assert build("a.prism", "-o", "out/k", *options).worked == []
        assert (folder / "out" / "k").read_bytes() == seen[-1]
    assert len(set(seen[:3])) == 3


def test_a_failure_spares_the_others(folder: Path, build: Build) -> None:
    build(*ALL)
    old = (folder / "out" / "b.cubin").read_bytes()
    (folder / "b.prism").write_text(KERNEL.format(name="b", value="wrong"))
    (folder / "c.prism").write_text(KERNEL.format(name="c", value="3.0"))
    ran = build(*ALL)
    assert (ran.code, ran.worked) == (1, ["b", "c"])
    assert "1 built, 2 up to date, 1 failed" in ran.err
    assert (folder / "out" / "b.cubin").read_bytes() == old
    again = build(*ALL)
    assert (again.code, again.worked) == (1, [])
    assert again.err.split("\n\n")[0] == ran.err.split("\n\n")[0]


def test_warnings_are_told_again(folder: Path, build: Build) -> None:
    (folder / "a.prism").write_text(SIZES)
    first = build("a.prism")
    assert "warning[P0757]" in first.err
    again = build("a.prism")
    assert (again.worked, again.err) == ([], first.err)


def test_several_jobs_make_the_same(folder: Path, build: Build) -> None:
    build(*ALL)
    before = contents(folder / "out")
    shutil.rmtree(folder / "out")
    assert run(["build", "-j", "3", "--no-cache", *ALL]) == 0
    assert contents(folder / "out") == before


def test_sources_of_one_name_clash(folder: Path, build: Build) -> None:
    (folder / "deep").mkdir()
    shutil.copy(folder / "alone.prism", folder / "deep")
    ran = build("alone.prism", "deep/alone.prism", "-o", "out/")
    assert (ran.code, ran.worked) == (2, [])
    assert "error[P0765]: `alone.prism` and `deep/alone.prism` would both build" in ran.err
    assert build("alone.prism", "deep/alone.prism").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("a.prism", "b.prism", "-o", "-"),
        ("a.prism", "b.prism", "-MF", "x.d"),
        ("a.prism", "b.prism", "-MD", "-MT", "x"),
        ("a.prism", "-MF", "x.d", "--depfile", "y.d"),
        ("a.prism", "-o", "-", "-MD"),
        ("a.prism", "b.prism", "-o", "sizes.prism"),
        (),
    ],
)
def test_usage(arguments: tuple[str, ...], build: Build) -> None:
    ran = build(*arguments)
    assert (ran.code, ran.worked) == (2, [])
    assert "Error: " in ran.err


# --------------------------------------------------------------------------- times, make, Ninja


def test_times_follow_the_inputs(folder: Path, build: Build) -> None:
    build(*ALL)
    for path in (folder / "out").iterdir():
        os.utime(path, (2_000, 2_000))
    assert build(*ALL).worked == []
    now = times(folder)  # the compiler's own file is newer than 2,000
    assert all(at > 2_000 * 10**9 for at in now.values())
    build(*ALL)
    assert times(folder) == now


def test_times_may_be_kept(folder: Path, build: Build) -> None:
    build(*ALL)
    for path in (folder / "out").iterdir():
        os.utime(path, (2_000, 2_000))
    build(*ALL, "--keep-times")
    assert set(times(folder).values()) == {2_000 * 10**9}
    (folder / "a.prism").write_text("# Nothing else.\n" + (folder / "a.prism").read_text())
    build("a.prism", "-o", "out/a.cu")
    at = (folder / "out" / "a.cu").stat().st_mtime_ns
    build("a.prism", "-o", "out/a.cu", "--keep-times")
    assert (folder / "out" / "a.cu").stat().st_mtime_ns == at


def test_rules(folder: Path, build: Build) -> None:
    compiler = str(compiler_file())
    build("a.prism", "-o", "out/k.cu", "-MD")
    rule = (folder / "out" / "k.d").read_text()
    assert rule == f"out/k.cu: \\\n  a.prism \\\n  sizes.prism \\\n  {compiler}\n"
    build("a.prism", "-o", "out/k.cu", "-MMD", "-MP", "-MF", "r", "-MT", "$(X)", "-MT", "y")
    assert (folder / "r").read_text() == "$(X) y: \\\n  a.prism \\\n  sizes.prism\n\nsizes.prism:\n"
    build("a.prism", "b.prism", "-o", "out/", "-MMD")
    assert (folder / "out" / "b.d").read_text() == (
        "out/b.cubin: \\\n  b.prism \\\n  sizes.prism\n"
    )


PRISMC = f"{sys.executable} -m prismc"
MAKEFILE = f"""\
all: $(patsubst %,out/%.cu,a b alone)
out/%.cu: %.prism
\t@echo $*
\t@{PRISMC} build $< -o $@ -MD -MP
-include $(wildcard out/*.d)
"""
NINJA = f"""\
rule prism
  command = echo $in && {PRISMC} build $in -o $out -MD -MF $out.d --keep-times
  description = building $in
  depfile = $out.d
  deps = gcc
  restat = 1
rule count
  command = echo counted && wc -c $in > $out
build out/a.cu: prism a.prism
build out/b.cu: prism b.prism
build out/alone.cu: prism alone.prism
build sizes.txt: count out/a.cu out/b.cu out/alone.cu
"""


def told(*command: str) -> set[str]:
    """The words that a run of make or Ninja echoes."""
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    known = {"a", "b", "alone", "a.prism", "b.prism", "alone.prism", "counted"}
    return {line for line in result.stdout.split() if line in known}


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_make_builds_exactly_what_is_out_of_date(folder: Path) -> None:
    (folder / "Makefile").write_text(MAKEFILE)
    assert told("make", "-j3") == {"a", "b", "alone"}
    assert told("make") == set()
    time.sleep(0.01)
    (folder / "sizes.prism").touch()
    assert told("make", "-j3") == {"a", "b"}
    assert told("make") == set()
    (folder / "alone.prism").write_text("# Moved.\n" + (folder / "alone.prism").read_text())
    assert told("make") == {"alone"}
    assert told("make") == set()
    (folder / "sizes.prism").rename(folder / "measures.prism")
    for name in ("a", "b"):
        path = folder / f"{name}.prism"
        path.write_text(path.read_text().replace("sizes", "measures"))
    assert told("make", "-j3") == {"a", "b"}
    assert told("make") == set()


@pytest.mark.skipif(not shutil.which("ninja"), reason="there is no Ninja")
def test_ninja_builds_exactly_what_is_out_of_date(folder: Path) -> None:
    (folder / "build.ninja").write_text(NINJA)
    assert told("ninja", "-v") == {"a.prism", "b.prism", "alone.prism", "counted"}
    assert told("ninja", "-v") == set()
    time.sleep(0.01)
    (folder / "sizes.prism").touch()
    assert told("ninja", "-v") == {"a.prism", "b.prism"}  # what they make did not change
    assert told("ninja", "-v") == set()
    (folder / "sizes.prism").write_text("const N: int = 16\n")
    assert told("ninja", "-v") == {"a.prism", "b.prism", "counted"}
    assert told("ninja", "-v") == set()


# --------------------------------------------------------------------------- what goes wrong


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prismc", "build", *arguments]


def test_sixteen_processes_with_one_cold_cache(folder: Path) -> None:
    kinds = ("--emit", "ptx", "--emit", "cubin")
    processes = [
        subprocess.Popen(command("a.prism", "alone.prism", "-o", f"out{number}/", *kinds))
        for number in range(16)
    ]
    assert [process.wait() for process in processes] == [0] * 16
    first = contents(folder / "out0")
    assert len(first) == 4
    assert all(contents(folder / f"out{number}") == first for number in range(1, 16))


def test_a_killed_build_leaves_nothing_broken(folder: Path, build: Build, tmp_path: Path) -> None:
    build(*ALL)
    good = contents(folder / "out")
    for delay in (0.15, 0.3, 0.6):
        shutil.rmtree(tmp_path / "cache")
        shutil.rmtree(folder / "out")
        process = subprocess.Popen(command(*ALL, "-j", "2"), stdout=subprocess.PIPE)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        # Its workers end by themselves, each after the file in hand: the pipe closes with the last.
        process.communicate(timeout=300)
        left = contents(folder / "out") if (folder / "out").exists() else {}
        written = {name: content for name, content in left.items() if not name.startswith(".")}
        assert written == {name: good[name] for name in written}
        assert build(*ALL).code == 0
        assert {n: c for n, c in contents(folder / "out").items() if n in good} == good


# Python would leave its own caches cut off where there is no room.
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sys.argv = ["prismc", *sys.argv[1:]]
from prismc.cli.entry import main
sys.exit(main())
"""


def test_a_full_disk_is_told_and_leaves_the_old_outputs(folder: Path, build: Build) -> None:
    """A limit on the size of files stands for the disk: outputs and entries do not fit."""
    build("a.prism", "-o", "out/", "--emit", "cubin", "--emit", "ptx")
    before, at = contents(folder / "out"), times(folder)
    (folder / "a.prism").write_text(KERNEL.format(name="a", value="2.0"))
    full = subprocess.run(
        [sys.executable, "-c", LIMITED, "build", "a.prism", "-o", "out/", "--emit", "cubin"],
        env=os.environ | NO_BYTECODE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode == 2
    assert "error[P0755]: `out/a.cubin` cannot be written: File too large" in full.stderr
    assert (contents(folder / "out"), times(folder)) == (before, at)
    assert build("a.prism", "-o", "out/").code == 0
    assert contents(folder / "out") != before


FULL = """
mount -t tmpfs -o size=24k none disk || exit 77
cp a.prism sizes.prism disk/ && cd disk || exit 1
"$@" --emit cuda || exit 1
head -c 20k /dev/zero > rest 2> /dev/null
sed -i s/1.0/2.0/ a.prism
"$@" --emit cuda --emit header --emit cubin -MD
code=$?
ls -A > ../left
cp a.cu ../
exit $code
"""


@pytest.mark.skipif(not shutil.which("unshare"), reason="there is no unshare")
def test_a_disk_that_is_full_keeps_its_outputs(folder: Path) -> None:
    """A real one of 24 KiB, in memory; only root may mount it."""
    (folder / "disk").mkdir()
    build = command("a.prism", "-o", "./")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", FULL, "sh", *build],
        cwd=folder, env=os.environ | NO_BYTECODE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 77 or "unshare: " in done.stderr:
        pytest.skip(f"nothing can be mounted: {done.stderr}")
    assert done.returncode == 2, done.stderr
    assert "error[P0755]: `" in done.stderr
    assert "cannot be written: No space left on device" in done.stderr
    assert "help: make room there, or name an output elsewhere" in done.stderr
    assert (folder / "left").read_text().split() == ["a.cu", "a.prism", "rest", "sizes.prism"]
    assert "33.0f" in (folder / "a.cu").read_text()  # with the old value


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_device_is_told(build: Build) -> None:
    ran = build("a.prism", "-o", "/dev/full")
    assert ran.code == 2
    assert "error[P0755]: `/dev/full` cannot be written: No space left on device" in ran.err

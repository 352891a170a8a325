"""The projects in `examples/`, copied and built by make and Ninja, gcc and clang; what is rebuilt.

What a build makes is what it says: no test waits for a clock.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from host.support import ROOT, printed_by, require
from prismc.cli import queries

EXAMPLES = ROOT / "examples"
COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}


def copied(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / name, folder / name, ignore=lambda _, __: ["build"]))


def made(said: str) -> set[str]:
    """The files that a build says it makes, by their stems; programs and libraries are left out."""
    sources = re.findall(r"([\w-]+)\.(?:prism|cpp|c)(?: -o|\.o$| *$)", said, re.MULTILINE)
    return set(sources)


AARCH64 = 183  # EM_AARCH64 of elf.h


def machine_of(file: Path) -> int:
    """What machine an ELF file is for: e_machine, behind e_ident and e_type."""
    return int.from_bytes(file.read_bytes()[18:20], "little")


# ------------------------------------------------------------------ make


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> str:
    """In the place of a C++ compiler: finds all headers, makes outputs that are not to be run."""
    script = tmp_path_factory.mktemp("bin") / "c++"
    script.write_text(
        "#!/bin/sh\n"
        'for each in "$@"; do test "$last" = -o && out=$each; last=$each; done\n'
        'case "$out" in *.o) exec g++ -E "$@" -MF "${out%.o}.d" -MT "$out";; esac\n'
        'touch "$out"\n'
    )
    script.chmod(0o755)
    return f"CXX={script}"


def make(prismc: Path, folder: Path, *arguments: str, compiler: str = "gcc") -> str:
    require("make")
    require(COMPILERS[compiler][0])
    c, cpp = COMPILERS[compiler]
    return printed_by(["make", f"PRISMC={prismc}", f"CC={c}", f"CXX={cpp}", *arguments], folder)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_make_project_passes_its_tests(prismc: Path, tmp_path: Path, compiler: str) -> None:
    said = make(prismc, copied("cpp-make", tmp_path), "-j2", "test", compiler=compiler)
    assert "all is well" in said
    assert "-1.2247 0.0000 1.2247" in said


def test_make_rebuilds_exactly_what_depends_on_a_file(
    prismc: Path, quick: str, tmp_path: Path
) -> None:
    folder = copied("cpp-make", tmp_path)
    everything = {"moments", "standardise", "main", "standardise_rows"}
    assert made(make(prismc, folder, quick)) == everything
    assert made(make(prismc, folder, quick)) == set()
    (folder / "kernels" / "rows.prism").touch()  # both kernels import it
    assert made(make(prismc, folder, quick)) == everything
    assert made(make(prismc, folder, quick)) == set()
    (folder / "kernels" / "standardise.prism").touch()
    assert made(make(prismc, folder, quick)) == {"standardise", "standardise_rows"}
    (folder / "src" / "main.cpp").touch()
    assert made(make(prismc, folder, quick)) == {"main"}
    assert made(make(prismc, folder, quick)) == set()


def test_make_follows_imports_that_come_and_go(prismc: Path, tmp_path: Path) -> None:
    """Field fault E04: a.prism imports b.prism; b is touched; the import is deleted."""
    folder = tmp_path / "project" / "kernels"
    folder.mkdir(parents=True)
    (folder.parent / "Makefile").write_text(
        "all:\nPRISM_SOURCES := kernels/a.prism\ninclude $(shell $(PRISMC) --make-fragment)\n"
        "all: $(PRISM_OBJECTS)\n"
    )
    kernel = "@requires(grid[1], block[1], thread[N])\nkernel a():\n    pass\n"
    (folder / "b.prism").write_text("const N: int = 32\n")
    (folder / "a.prism").write_text(f"from b import N\n\n{kernel}")
    project = folder.parent
    assert made(make(prismc, project)) == {"a"}
    assert made(make(prismc, project)) == set()
    (folder / "b.prism").touch()
    said = make(prismc, project)
    assert made(said) == {"a"}
    assert "a.d.o" not in said  # a rule of make's own for `a.d`
    assert made(make(prismc, project)) == set()
    (folder / "a.prism").write_text(f"const N: int = 64\n\n{kernel}")
    (folder / "a.prism").touch()
    assert made(make(prismc, project)) == {"a"}
    assert "64" in (project / "build/prism/a.h").read_text().partition("a_THREADS = ")[2][:3]
    (folder / "b.prism").unlink()
    assert made(make(prismc, project)) == set()


def test_make_refuses_sources_of_one_name(prismc: Path, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(
        "PRISM_SOURCES := one/a.prism other/a.prism\ninclude $(shell $(PRISMC) --make-fragment)\n"
    )
    with pytest.raises(AssertionError, match="two of PRISM_SOURCES have one name"):
        make(prismc, tmp_path)


def test_make_notices_other_settings(prismc: Path, tmp_path: Path) -> None:
    folder = copied("cpp-make", tmp_path)
    objects = "build/prism/moments.o"
    assert made(make(prismc, folder, objects)) == {"moments"}
    assert made(make(prismc, folder, objects)) == set()
    assert made(make(prismc, folder, objects, "PRISM_TARGETS=sm_80")) == {"moments"}
    assert 'moments_TARGETS "sm_80"' in (folder / "build/prism/moments.h").read_text()
    # Others that leave the header as it is: it is made once all the same.
    asserts = "PRISM_FLAGS=--asserts"
    for goal in (objects, "build/prism/moments.h"):
        said = [made(make(prismc, folder, goal, asserts)) for _ in range(2)]
        assert said == ([{"moments"}, set()] if goal == objects else [set(), set()])
    make(prismc, folder, "clean", objects)
    assert (folder / objects).exists()


def test_make_builds_objects_with_its_own_compiler(prismc: Path, tmp_path: Path) -> None:
    """One that has options and a launcher; for another machine than this one."""
    require("clang")
    shutil.copy(EXAMPLES / "saxpy.prism", tmp_path)
    (tmp_path / "Makefile").write_text(
        "CC := env clang --target=aarch64-linux-gnu\nPRISM_SOURCES := saxpy.prism\nall:\n"
        "include $(shell $(PRISMC) --make-fragment)\nall: $(PRISM_OBJECTS)\n"
    )
    for options, machine in (([], AARCH64), ([f"CC={shutil.which('gcc')}"], None)):
        said = printed_by(["make", f"PRISMC={prismc}", *options], tmp_path)
        assert made(said) == {"saxpy"}
        found = machine_of(tmp_path / "build/prism/saxpy.o")
        assert found == machine if machine else found != AARCH64
        assert made(printed_by(["make", f"PRISMC={prismc}", *options], tmp_path)) == set()


def test_the_fragment_of_make_may_lie_in_any_folder(prismc: Path, tmp_path: Path) -> None:
    said = printed_by([prismc, "--make-fragment"], tmp_path).strip()
    folder = tmp_path / "with blanks"
    shutil.copytree(Path(said).parent, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "build_systems_folder", lambda: folder)
        _, answer = queries.QUERIES["--make-fragment"]
        (tmp_path / "Makefile").write_text(f"all:\n\t@echo in $(PRISM_DIR)\ninclude {answer()}\n")
    assert "in build/prism" in printed_by(["make"], tmp_path)


def test_make_mends_what_was_deleted(prismc: Path, quick: str, tmp_path: Path) -> None:
    folder = copied("cpp-make", tmp_path)
    make(prismc, folder, quick)
    for name in ("moments.o", "moments.h", "moments.json"):
        (folder / "build/prism" / name).unlink()
        make(prismc, folder, f"build/prism/{name}")
        assert (folder / "build/prism" / name).exists()


def test_parallel_make_never_fails(prismc: Path, quick: str, tmp_path: Path) -> None:
    folder = copied("cpp-make", tmp_path)
    for _ in range(10):
        make(prismc, folder, "clean")
        make(prismc, folder, "-j8", quick)
        assert (folder / "build" / "standardise").exists()


def test_a_failed_build_leaves_nothing_half_made(prismc: Path, quick: str, tmp_path: Path) -> None:
    folder = copied("cpp-make", tmp_path)
    source = folder / "kernels" / "moments.prism"
    text = source.read_text()
    source.write_text(text.replace("average: f32", "average: nothing"))
    with pytest.raises(AssertionError, match="error"):
        make(prismc, folder, quick)
    assert not (folder / "build" / "prism" / "moments.h").exists()
    source.write_text(text)
    make(prismc, folder, quick)


# ------------------------------------------------------------------ CMake


@pytest.fixture(params=["Ninja", "Unix Makefiles"])
def cmake(request: pytest.FixtureRequest, prismc: Path) -> Callable[..., str]:
    """Configure and build the CMake project, or only build it again."""
    require("cmake")
    require("ninja" if request.param == "Ninja" else "make")

    def build(folder: Path, *options: str, compiler: str = "gcc") -> str:
        require(COMPILERS[compiler][0])
        if not (folder / "build").exists():
            printed_by(
                ["cmake", "-S", ".", "-B", "build", "-G", request.param,
                 f"-DCMAKE_C_COMPILER={COMPILERS[compiler][0]}",
                 f"-DPRISMC_EXECUTABLE={prismc}"],
                folder,
            )  # fmt: skip
        return printed_by(["cmake", "--build", "build", *options], folder)

    return build


def test_the_cmake_project_passes_its_tests(
    cmake: Callable[..., str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """With gcc and Ninja, and with clang and make."""
    folder = copied("cpp-cmake", tmp_path)
    cmake(folder, "-j2", compiler="gcc" if "Ninja" in request.node.name else "clang")
    said = printed_by(["ctest", "--test-dir", "build"], folder)
    assert "100% tests passed, 0 tests failed out of 2" in said


def test_cmake_rebuilds_exactly_what_depends_on_a_file(
    cmake: Callable[..., str], tmp_path: Path
) -> None:
    folder = copied("cpp-cmake", tmp_path)
    cmake(folder, "-j2")
    assert made(cmake(folder)) == set()
    (folder / "kernels" / "blend.prism").touch()
    # Ninja goes on only where an output is another one; make compares times.
    is_ninja = (folder / "build" / "build.ninja").exists()
    assert made(cmake(folder)) == ({"blend"} if is_ninja else {"blend", "pictures"})
    assert made(cmake(folder)) == set()
    pixels = folder / "kernels" / "pixels.prism"
    pixels.write_text(pixels.read_text().replace("= 256", "= 128"))
    pixels.touch()
    assert made(cmake(folder)) == {"blend", "stretch", "pictures", "test_pictures"}
    assert made(cmake(folder)) == set()
    (folder / "src" / "pictures.c").touch()
    assert made(cmake(folder)) == {"pictures"}


def test_cmake_notices_other_targets(cmake: Callable[..., str], tmp_path: Path) -> None:
    folder = copied("cpp-cmake", tmp_path)
    cmake(folder, "--target", "kernels")
    listing = folder / "CMakeLists.txt"
    listing.write_text(listing.read_text().replace("sm_80 sm_90", "sm_80"))
    listing.touch()
    assert made(cmake(folder, "--target", "kernels")) >= {"blend", "stretch"}
    header = folder / "build" / "kernels.prism" / "blend.h"
    assert 'blend_TARGETS "sm_80"' in header.read_text()
    before = header.read_bytes()
    listing.write_text(
        listing.read_text().replace("TARGETS sm_80", "TARGETS sm_80 OPTIONS --asserts")
    )
    assert made(cmake(folder, "--target", "kernels")) >= {"blend", "stretch"}
    assert made(cmake(folder, "--target", "kernels")) == set()
    assert header.read_bytes() == before


def test_cmake_tells_of_a_wrong_call(prismc: Path, tmp_path: Path) -> None:
    require("cmake")
    text = "cmake_minimum_required(VERSION 3.20)\nproject(x LANGUAGES CXX)\n"
    text += "find_package(prismc 0.1 REQUIRED)\nprism_add_library(k {})\n"
    where = printed_by([prismc, "--cmake-dir"], tmp_path).rstrip("\n")
    options = [f"-Dprismc_DIR={where}", f"-DPRISMC_EXECUTABLE={prismc}"]
    wrong = {"TARGETS sm_80": "name the SOURCES", "a.prism": "what is `a.prism`"}
    for arguments, words in wrong.items():
        (tmp_path / "CMakeLists.txt").write_text(text.format(arguments))
        with pytest.raises(AssertionError, match=words):
            printed_by(["cmake", "-B", "build", *options], tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(text.replace("0.1", "99.1"))
    with pytest.raises(AssertionError, match=r"prismcConfig\.cmake, version"):
        printed_by(["cmake", "-B", "build2", *options], tmp_path)


LISTING = """\
cmake_minimum_required(VERSION 3.10)
project(old LANGUAGES C)
set(CMAKE_C_STANDARD 11)
find_package(prismc 0.1 REQUIRED)
prism_add_library(kernels SOURCES "kérnels/my.saxpy.prism" OPTIONS $<$<CONFIG:Debug>:--asserts>)
add_library(shared SHARED shared.c)
target_link_libraries(shared PRIVATE kernels)
set_target_properties(shared PROPERTIES LINK_FLAGS "-Wl,-z,text -Wl,-z,defs")
install(TARGETS kernels shared EXPORT old INCLUDES DESTINATION include)
install(EXPORT old DESTINATION cmake NAMESPACE old::)
"""
SHARED = '#include "my.saxpy.h"\nint load(void);\nint load(void) { return my_saxpy_load(); }\n'
CONSUMER = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
include("${OLD}/cmake/old.cmake")
add_executable(consumer shared.c main.c)
target_link_libraries(consumer PRIVATE old::kernels)
"""


def test_a_cmake_project_is_installed_and_used_by_another(prismc: Path, tmp_path: Path) -> None:
    """Of an old version of CMake, in a folder with blanks, as a library that is shared."""
    require("ninja")
    folder, installed, other = (tmp_path / name for name in ("a földer (1)", "inst all", "other"))
    (folder / "kérnels").mkdir(parents=True)
    shutil.copy(EXAMPLES / "saxpy.prism", folder / "kérnels" / "my.saxpy.prism")
    (folder / "CMakeLists.txt").write_text(LISTING)
    (folder / "shared.c").write_text(SHARED)
    where = printed_by([prismc, "--cmake-dir"], tmp_path).rstrip("\n")
    options = [f"-Dprismc_DIR={where}", f"-DPRISMC_EXECUTABLE={prismc}", "-DCMAKE_BUILD_TYPE=Debug"]
    start = ["cmake", "-G", "Ninja", "-S", ".", "-B", "out of it"]
    said = printed_by([*start, *options, f"-DCMAKE_INSTALL_PREFIX={installed}"], folder)
    assert "Warning" not in said
    said = printed_by(["cmake", "--build", "out of it", "-v"], folder)
    assert "--asserts" in said
    (folder / "kérnels" / "my.saxpy.prism").touch()
    assert "my.saxpy.prism" in printed_by(["cmake", "--build", "out of it", "-v"], folder)
    assert "no work to do" in printed_by(["cmake", "--build", "out of it"], folder)
    printed_by(["cmake", "--install", "out of it"], folder)
    other.mkdir()
    (other / "CMakeLists.txt").write_text(CONSUMER)
    (other / "shared.c").write_text(SHARED)
    (other / "main.c").write_text("int load(void);\nint main(void) { return load() == 0; }\n")
    printed_by([*start, f"-DOLD={installed}"], other)
    printed_by(["cmake", "--build", "out of it"], other)


def test_cmake_builds_objects_for_the_machine_of_the_project(prismc: Path, tmp_path: Path) -> None:
    require("clang")
    require("ninja")
    shutil.copy(EXAMPLES / "saxpy.prism", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(cross LANGUAGES C)\n"
        "find_package(prismc 0.1 REQUIRED)\nprism_add_library(kernels SOURCES saxpy.prism)\n"
    )
    (tmp_path / "arm.cmake").write_text(
        "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR aarch64)\n"
        "set(CMAKE_C_COMPILER clang)\nset(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)\n"
        "set(CMAKE_C_COMPILER_WORKS 1)\n"
    )
    where = printed_by([prismc, "--cmake-dir"], tmp_path).rstrip("\n")
    options = [f"-Dprismc_DIR={where}", f"-DPRISMC_EXECUTABLE={prismc}"]
    chain = f"-DCMAKE_TOOLCHAIN_FILE={tmp_path / 'arm.cmake'}"
    printed_by(["cmake", "-G", "Ninja", "-B", "build", chain, *options], tmp_path)
    printed_by(["cmake", "--build", "build"], tmp_path)
    assert machine_of(tmp_path / "build" / "kernels.prism" / "saxpy.o") == AARCH64

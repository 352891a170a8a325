"""The header compiles everywhere, by itself, and refuses arguments in each other's place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from host.support import C11, CPP17, LANGUAGES, Language, build_text, compiled, require, toolkit
from support.checking import check_texts

# All kinds of parameters, and a kernel with none.
ALL_TYPES = """\
@requires(grid[1], block[1], thread[32])
kernel every(a: bool, b: i8, c: u16, d: i32, e: i64, f: u64, g: f16, h: bf16, i: f32, j: f64,
        p: ptr(const f16), q: ptr(bf16), r: ptr(const vec(f32, 4)), s: ptr(u8),
        t: ptr(vec(i32, 2)), new: ptr(const tf32), class: ptr(const f8e4m3), v: vec(f32, 2),
        w: tensor_map(bf16[4, 64], swizzle128), z: tensor_map(u8[16])):
    pass

@requires(grid[1], block[1], thread[32])
kernel nothing():
    pass
"""

USE = """\
#include "saxpy.h"
prism_status {name}(float *x, float *y);
prism_status {name}(float *x, float *y)
{{
    return saxpy_launch({grid}, saxpy_n(4), saxpy_a(2.0f), saxpy_x(x), saxpy_y(y));
}}
"""


def grid(language: Language) -> str:
    """The blocks and the stream of a launch."""
    return "1, nullptr" if language.suffix == ".cpp" else "prism_blocks(1), NULL"


@pytest.mark.parametrize("more", ["-O0", "-O1", "-O2", "-DNDEBUG", "-DPRISM_IMAGES_FROM_FILES"])
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_compiles_without_a_warning(
    saxpy: Path, tmp_path: Path, language: Language, more: str
) -> None:
    text = USE.format(name="use", grid=grid(language))
    options = (f"-I{saxpy}", *language.strict, "-c", "-o", "use.o")
    done = compiled(language, tmp_path, text, *options, more)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_every_type_compiles(tmp_path: Path, language: Language) -> None:
    build_text(ALL_TYPES, tmp_path, targets=("sm_90a",))
    text = '#include "k.h"\n#include "k.h"\n'
    done = compiled(language, tmp_path, text, "-fsyntax-only")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_compiles_as_the_main_file(saxpy: Path, language: Language) -> None:
    require(language.driver)
    kind = "c" if language.suffix == ".c" else "c++"
    flags = (*language.flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", kind)
    done = subprocess.run(
        [language.driver, *flags, "saxpy.h"], cwd=saxpy, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


CLANG_C11, CLANG_CPP17 = LANGUAGES[2], LANGUAGES[3]
PAIRS = (
    (C11, C11), (CPP17, CPP17), (C11, CPP17), (CLANG_C11, CLANG_C11), (CLANG_CPP17, CLANG_CPP17),
    (C11, CLANG_CPP17),
)  # fmt: skip


@pytest.mark.parametrize(
    "languages", PAIRS, ids=lambda pair: " ".join(language.name for language in pair)
)
def test_two_units_share_one_state(
    saxpy: Path, tmp_path: Path, languages: tuple[Language, Language]
) -> None:
    """Each unit tells where the message of the last failure lies: in one place for both."""
    linkage = '#ifdef __cplusplus\nextern "C"\n#endif\n'
    for number, language in enumerate(languages):
        text = f'#include "saxpy.h"\n{linkage}const void *state{number}(void);\n'
        text += f"const void *state{number}(void) {{ return prism_message(); }}\n"
        text += f"prism_status use{number}(float *x, float *y);\n"
        text += USE.partition("\n")[2].format(name=f"use{number}", grid=grid(language))
        options = (f"-I{saxpy}", "-c", "-o", f"{number}.o")
        done = compiled(language, tmp_path, text, *options, name=f"unit{number}")
        assert done.returncode == 0, done.stderr
    main = f"{linkage}const void *state0(void);\n{linkage}const void *state1(void);\n"
    main += "int main(void) { return state0() != state1(); }\n"
    objects = ("0.o", "1.o", str(saxpy / "saxpy.o"), "-ldl", "-o", "host")
    done = compiled(languages[1], tmp_path, main, *objects, name="main")
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "host"], check=False).returncode == 0


WRONG = (
    ("saxpy_x(x), saxpy_y(y)", "saxpy_y(y), saxpy_x(x)"),
    ("saxpy_n(4), saxpy_a(2.0f)", "saxpy_a(2.0f), saxpy_n(4)"),
    ("saxpy_x(x), saxpy_y(y)", "x, y"),
    ("saxpy_n(4)", "4"),
    ("saxpy_y(y)", "saxpy_y((const float *)y)"),
    ("saxpy_x(x)", "saxpy_x((double *)x)"),
    (", saxpy_y(y)", ""),
)


@pytest.mark.parametrize(
    ("language", "right", "wrong"),
    [
        pytest.param(language, *case, id=f"{language.name}-{number}")
        for language in LANGUAGES
        for number, case in enumerate(WRONG if language in (C11, CPP17) else WRONG[:1])
    ],
)
def test_arguments_in_the_wrong_place_do_not_compile(
    saxpy: Path, tmp_path: Path, language: Language, right: str, wrong: str
) -> None:
    text = USE.format(name="use", grid=grid(language))
    assert right in text
    done = compiled(language, tmp_path, text.replace(right, wrong), f"-I{saxpy}", "-fsyntax-only")
    assert done.returncode != 0
    assert "saxpy_" in done.stderr


@pytest.mark.parametrize("before", [True, False], ids=["toolkit-first", "header-first"])
def test_the_toolkits_own_types_are_taken(tmp_path: Path, before: bool) -> None:
    build_text(ALL_TYPES, tmp_path, targets=("sm_90a",))
    theirs = "".join(
        f"#include <{name}.h>\n" for name in ("cuda_fp16", "cuda_bf16", "vector_types", "cuda")
    )
    ours = '#include "k.h"\n'
    text = (
        (theirs + ours if before else ours + theirs)
        + """
void use(const __half *p, __nv_bfloat16 *q, const float4 *r, int2 *t, CUtensorMap *w);
void use(const __half *p, __nv_bfloat16 *q, const float4 *r, int2 *t, CUtensorMap *w)
{
    (void)every_w(w);
    every_g g{__float2half(1.0f)};
    (void)g;
    (void)every_p(p);
    (void)every_q(q);
    (void)every_r(r);
    (void)every_t(t);
}
"""
    )
    done = compiled(CPP17, tmp_path, text, "-isystem", str(toolkit()), "-fsyntax-only")
    assert (done.returncode, done.stderr) == (0, "")
    wrong = text.replace("every_q(q)", "every_p(q)")
    assert compiled(CPP17, tmp_path, wrong, "-isystem", str(toolkit()), "-fsyntax-only").returncode


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_finds_the_driver_by_cudas_runtime_where_asked(
    saxpy: Path, tmp_path: Path, language: Language
) -> None:
    launch = grid(language).replace("nullptr", "stream").replace("NULL", "stream")
    text = USE.format(name="use", grid=launch)
    text = "#define PRISM_USE_CUDART\n" + text.replace(
        "float *y)", "float *y, cudaStream_t stream)"
    )
    done = compiled(
        language, tmp_path, text, f"-I{saxpy}", "-isystem", str(toolkit()), "-fsyntax-only"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_functions_of_the_driver_are_as_cuda_h_declares_them(saxpy: Path, tmp_path: Path) -> None:
    """Each field of the driver's table takes what the function of cuda.h takes."""
    text = """
#include <cuda.h>
#include <type_traits>
#include "saxpy.h"
template <class T> struct plain { using type = T; };
template <> struct plain<CUresult> { using type = int; };
template <> struct plain<CUdevice_attribute> { using type = int; };
template <> struct plain<CUfunction_attribute> { using type = int; };
template <> struct plain<CUstream> { using type = prism_stream; };
template <> struct plain<CUtensorMap *> { using type = prism_tensor_map *; };
template <> struct plain<CUtensorMapDataType> { using type = int; };
template <> struct plain<CUtensorMapInterleave> { using type = int; };
template <> struct plain<CUtensorMapSwizzle> { using type = int; };
template <> struct plain<CUtensorMapL2promotion> { using type = int; };
template <> struct plain<CUtensorMapFloatOOBfill> { using type = int; };
static_assert(sizeof(prism_tensor_map) == sizeof(CUtensorMap), "size");
static_assert(alignof(prism_tensor_map) >= alignof(CUtensorMap), "alignment");
template <class T> struct same;
template <class R, class... A> struct same<R (*)(A...)> {
    using type = typename plain<R>::type (*)(typename plain<A>::type...);
};
#define SAME(field, name, suffix, since, parameters) \\
    static_assert(std::is_same<decltype(prism_driver_::field), \\
                  same<decltype(&NAMED_##field)>::type>::value, name);
"""
    runtime = (saxpy / "saxpy.h").read_text(encoding="utf-8")
    fields = [
        line.split("(", 1)[1].split(", ")[:3]
        for line in runtime.splitlines()
        if line.startswith("    X(")
    ]
    assert len(fields) > 20
    text += "".join(f"#define NAMED_{field} {name.strip(chr(34))}\n" for field, name, _ in fields)
    text += "PRISM_DRIVER_(SAME)\n"
    options = (f"-I{saxpy}", "-isystem", str(toolkit()), "-fsyntax-only")
    done = compiled(CPP17, tmp_path, text, *options)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("kernels", "name"),
    [
        ("kernel k(THREADS: int):\n    pass\n", "k_THREADS"),
        ("kernel prism(open: int):\n    pass\n", "prism_open"),
        (
            "kernel k(a_n: int):\n    pass\n\n@requires(grid[1], block[1], thread[32])\n"
            "kernel k_a(n: int):\n    pass\n",
            "k_a_n",
        ),
    ],
)
def test_two_things_of_one_name_are_refused(kernels: str, name: str) -> None:
    text = f"@requires(grid[1], block[1], thread[32])\n{kernels}"
    session = check_texts({"main.prism": text}, "main.prism", "--build")
    (problem,) = session.problems
    assert problem.code == "P0775"
    assert f"`{name}`" in problem.shown_message()


def test_a_file_with_the_headers_own_name_is_refused() -> None:
    text = "@requires(grid[1], block[1], thread[32])\nkernel k():\n    pass\n"
    session = check_texts({"prism.prism": text}, "prism.prism", "--build")
    (problem,) = session.problems
    assert problem.code == "P0775"
    assert problem.shown_help() == "rename the file"

"""Launches from C++ by generated headers: right arguments, right results, and what is refused.

The programs run on the CPU driver, which executes the PTX that they load; NumPy judges.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples.launches import EXAMPLES, LAUNCHES, Launch
from host.support import C11, CPP17, build, build_text, compiled, execute, program, toolkit
from prismc.backend.cuda_module import KernelEntry
from prismc.backend.host.header import emit_header
from prismc.backend.host.interface import HostKernel, HostModule
from prismc.diagnostics.sink import Sink
from prismc.driver.running import DTYPES
from prismc.source.span import NOWHERE
from support.numbers import random_for

PREFACE = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

static void need(prism_status status)
{
    if (status) {
        std::printf("%d: %s\\n", status, prism_message());
        std::exit(1);
    }
}
"""

# An argument from a file of its bytes; an array comes back into the same file.
ARGUMENT = """\
template <class T, bool is_pointer = std::is_pointer<T>::value> struct Argument {
    T value;
    explicit Argument(const std::string &path)
    {
        std::ifstream(path, std::ios::binary).read(reinterpret_cast<char *>(&value), sizeof value);
    }
};
template <class T> struct Argument<T, true> {
    T value;
    std::string path;
    std::vector<char> bytes;
    void *memory = nullptr;
    explicit Argument(const std::string &path_) : path(path_)
    {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        need(prism_allocate(bytes.size() + 1, &memory));
        need(prism_upload(memory, bytes.data(), bytes.size()));
        value = static_cast<T>(memory);
    }
    ~Argument()
    {
        need(prism_download(bytes.data(), memory, bytes.size()));
        std::ofstream(path, std::ios::binary).write(
            bytes.data(), static_cast<std::streamsize>(bytes.size()));
        need(prism_free(memory));
    }
};
"""


# The map of an array whose extents stand in a file beside it.
MAP = """\
template <class Element> struct MapArgument {
    Argument<Element *> array;
    prism_tensor_map map;
    const prism_tensor_map *value = &map;
    template <class Encode> MapArgument(const std::string &path, Encode encode) : array(path)
    {
        uint64_t extents[5];
        std::ifstream(path + ".extents", std::ios::binary)
            .read(reinterpret_cast<char *>(extents), sizeof extents);
        need(encode(&map, array.value, extents, nullptr));
    }
};
"""


def _launcher(kernel: dict[str, Any]) -> str:
    """A function that launches a kernel with arguments from files named like its parameters."""
    name, lines, given = kernel["symbol"], [], ["blocks", "nullptr"]
    for parameter in kernel["parameters"]:
        each = f"{name}_{parameter['name']}"
        if parameter["type"].startswith("tensor_map"):
            element = parameter["type"].removeprefix("tensor_map(").partition("[")[0]
            lines.append(f'    MapArgument<prism_{element}> v_{each}("{each}", {each}_map);')
        else:
            lines.append(f'    Argument<decltype({each}::value)> v_{each}("{each}");')
        given.append(f"{each}(v_{each}.value)")
    head = [f"static void {name}(unsigned blocks)", "{"]
    return "\n".join([*head, *lines, f"    need({name}_launch({', '.join(given)}));", "}", ""])


def _target(name: str) -> str:
    return getattr(LAUNCHES[name], "target", "sm_80")


def _program_of_all(folder: Path, kernels: dict[str, dict[str, Any]]) -> Path:
    """A program that launches examples, each by its name and a number of blocks."""
    functions = "".join(map(_launcher, kernels.values()))
    includes = "".join(f'#include "{name}.h"\n' for name in kernels)
    cases = "".join(
        f'        if (!std::strcmp(argv[i], "{name}"))\n            {kernel["symbol"]}(blocks);\n'
        for name, kernel in kernels.items()
    )
    main = "int main(int count, char **argv)\n{\n    need(prism_open(0));\n"
    main += "    for (int i = 1; i < count; i += 2) {\n"
    main += f"        unsigned blocks = unsigned(std::atoi(argv[i + 1]));\n{cases}    }}\n}}\n"
    return program(folder, includes + PREFACE + ARGUMENT + MAP + functions + main)


def test_examples_compute_what_numpy_does(driver: Path, tmp_path: Path) -> None:
    """All in one program, and on one device: PTX for sm_80 runs there too."""
    for name in LAUNCHES:
        build(EXAMPLES / f"{name}.prism", tmp_path, targets=(_target(name),))
    launches = {
        name: sizes.make(random_for(name), *sizes.chosen[-1]) for name, sizes in LAUNCHES.items()
    }
    kernels = {
        name: _kernel(json.loads((tmp_path / f"{name}.json").read_text())["kernels"], launch)
        for name, launch in launches.items()
    }
    for name, launch in launches.items():
        _write_arguments(tmp_path, kernels[name], launch)
    words = [word for name, launch in launches.items() for word in (name, str(launch.blocks))]
    host = _program_of_all(tmp_path, kernels)
    done = execute(host, driver, *words, PRISM_CPU_DEVICE="sm_90a")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = {name: _wrong(tmp_path, kernels[name], each) for name, each in launches.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def _kernel(kernels: list[dict[str, Any]], launch: Launch) -> dict[str, Any]:
    """The record of the kernel to launch, the only one where no name is given."""
    (kernel,) = (each for each in kernels if launch.kernel in (None, each["symbol"]))
    return kernel


def _write_arguments(folder: Path, kernel: dict[str, Any], launch: Launch) -> None:
    """A file for each argument, of its bytes; for a tensor map also one of its array's extents."""
    for parameter in kernel["parameters"]:
        value = launch.arguments[parameter["name"]]
        file = folder / f"{kernel['symbol']}_{parameter['name']}"
        if parameter["type"].startswith("tensor_map"):
            file.with_suffix(".extents").write_bytes(np.array(value.shape, np.uint64).tobytes())
        elif not parameter["is_pointer"]:
            value = np.asarray(value, DTYPES[parameter["type"]])
            assert value.nbytes == parameter["size"]
        file.write_bytes(value.tobytes())


def _wrong(folder: Path, kernel: dict[str, Any], launch: Launch) -> str:
    """What is wrong with the result, or nothing."""
    before = launch.arguments[launch.output]
    content = (folder / f"{kernel['symbol']}_{launch.output}").read_bytes()
    after = np.frombuffer(content, before.dtype).reshape(before.shape)
    return launch.wrong(after.astype(np.float64))


# ------------------------------------------------------------------ one kernel, many launches

# What a program does with x and y, arrays of 1000 floats on the device, by its first argument.
STEPS = {
    "right": "launch(4, dx, dy)",
    "block": "launch({4, 128}, dx, dy)",
    "no blocks": "launch(0, dx, dy)",
    "too many blocks": "launch(unsigned(-1), dx, dy)",
    "the same": "launch(4, dy, dy)",
    "odd": "launch(4, dx, reinterpret_cast<float *>(reinterpret_cast<char *>(dy) + 2))",
    "beyond": "launch(4, dx + 1, dy)",
    "twice": "launch(4, dx, dy)); need(launch(4, dx, dy)",
    "load": "saxpy_load()); need(saxpy_load()); need(launch(4, dx, dy)",
    "no context": "PRISM_OK); prism_the_driver_.set_context(nullptr); need(launch(4, dx, dy)",
}
MAIN = """
static prism_status launch(prism_grid grid, const float *x, float *y)
{
    return saxpy_launch(grid, nullptr, saxpy_n(1000), saxpy_a(3.0f), saxpy_x(x), saxpy_y(y));
}

static bool does(const char *wanted, const char *name)
{
    return !std::strcmp(wanted, name);
}

int main(int count, char **argv)
{
    std::vector<float> x(1000, 1.0f), y(1000, 2.0f);
    void *x_, *y_;
    need(prism_open(0));
    need(prism_allocate(4000, &x_));
    need(prism_allocate(4000, &y_));
    need(prism_upload(x_, x.data(), 4000));
    need(prism_upload(y_, y.data(), 4000));
    const float *dx = static_cast<const float *>(x_);
    float *dy = static_cast<float *>(y_);
#ifdef PRISM_IMAGES_FROM_FILES
    if (count > 2)
        need(saxpy_load_file(argv[2]));
#endif
    (void)count;
%s
    need(prism_synchronize(nullptr));
    need(prism_download(y.data(), dy, 4000));
    std::printf("%%g %%g\\n", double(y[0]), double(y[999]));
}
"""


def saxpy_program(saxpy: Path, folder: Path, *options: str, more: str = "") -> Path:
    lines = [
        f'    if (does(argv[1], "{name}")) {{\n        need({step});\n    }}'
        for name, step in STEPS.items()
    ]
    text = f'#include "saxpy.h"\n{PREFACE}{MAIN % (chr(10).join(lines) + more)}'
    objects = () if "-DPRISM_IMAGES_FROM_FILES" in options else (str(saxpy / "saxpy.o"),)
    return program(folder, text, f"-I{saxpy}", *options, *objects)


@pytest.fixture(scope="session")
def host(saxpy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saxpy_program(saxpy, tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="session")
def host_with_files(saxpy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saxpy_program(saxpy, tmp_path_factory.mktemp("host"), "-DPRISM_IMAGES_FROM_FILES")


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("right", "5 5"),
        ("twice", "8 8"),
        ("load", "5 5"),
        ("block", "7: saxpy has blocks of 256 threads, not of 128"),
        ("no blocks", "6: saxpy: a grid of 0 blocks; from 1 to 2147483647 are possible"),
        ("too many blocks",
         "6: saxpy: a grid of 4294967295 blocks; from 1 to 2147483647 are possible"),
        ("the same", "8: saxpy: `y` (0x700000002000), which the kernel may write, shares memory "
         "with `x` (0x700000002000)"),
        ("odd", "8: saxpy: `y` (0x700000002002) is not aligned to 4 bytes"),
        ("no context", "2: saxpy: this thread has no CUDA context; call prism_open, "
         "cuCtxSetCurrent or cudaSetDevice first"),
    ],
)  # fmt: skip
def test_a_launch_is_done_or_refused(host: Path, driver: Path, step: str, words: str) -> None:
    done = execute(host, driver, step)
    assert (done.stdout, done.stderr) == (f"{words}\n", "")


def test_a_fault_of_the_kernel_is_told_and_fails_the_launch(host: Path, driver: Path) -> None:
    done = execute(host, driver, "beyond")
    assert done.stdout == "10: saxpy: unspecified launch failure (CUDA error 719)\n"
    assert "BOUNDS: reads 4 bytes right behind the end" in done.stderr
    assert "saxpy.prism:16" in done.stderr


def test_pointers_are_not_checked_in_release_builds(
    saxpy: Path, driver: Path, tmp_path: Path
) -> None:
    done = execute(saxpy_program(saxpy, tmp_path, "-DNDEBUG"), driver, "odd")
    assert "10: saxpy: unspecified launch failure (CUDA error 719)" in done.stdout
    assert "ALIGN" in done.stderr


def test_what_is_written_has_a_first_element_of_its_own(driver: Path, tmp_path: Path) -> None:
    """Two pointers that are only read may be one, and all of them may be null."""
    build_text(
        "@requires(grid[1], block[1], thread[32])\n"
        "kernel k(v: ptr(const vec(f32, 4)), x: ptr(const f32), y: ptr(f32)):\n    pass\n",
        tmp_path,
    )
    launches = ["m, m, m + 4", "m, m + 4, m + 3", "m, m + 4, m + 4", "m, m + 3, m - 1"]
    launches += ["nullptr, nullptr, nullptr"]
    lines = [f"try_({each});" for each in launches]
    text = """
    static void try_(float *v, float *x, float *y)
    {
        std::printf("%d\\n", k_launch(1, nullptr, k_v(reinterpret_cast<prism_f32x4 *>(v)), k_x(x),
                    k_y(y)));
    }
    int main()
    {
        need(prism_open(0));
        void *memory;
        need(prism_allocate(64, &memory));
        float *m = static_cast<float *>(memory) + 4;
    """
    host = program(tmp_path, f'#include "k.h"\n{PREFACE}{text}{" ".join(lines)}}}\n')
    assert execute(host, driver).stdout.split() == ["0", "8", "8", "0", "0"]


def test_a_missing_target_is_told_with_the_device(host: Path, driver: Path) -> None:
    for device in ("sm_80", "sm_86", "sm_90a", "sm_120"):  # PTX for sm_80 runs on all later ones
        assert execute(host, driver, "right", PRISM_CPU_DEVICE=device).stdout == "5 5\n"
    assert execute(host, driver, "right", PRISM_CPU_DEVICE="sm_75").stdout == (
        "3: saxpy was built for sm_80, sm_90a, which the device (prismc on the CPU, sm_75) does "
        "not run; build with --target sm_75\n"
    )


def test_a_driver_older_than_the_ptx_is_told(host: Path, driver: Path) -> None:
    """Field fault E02: the version of the driver and that of the PTX."""
    assert execute(host, driver, "right", PRISM_CPU_CUDA="11.2").stdout == "5 5\n"
    said = execute(host, driver, "right", PRISM_CPU_CUDA="10.2").stdout
    assert said.startswith("3: saxpy: the driver (CUDA 10.2) does not know PTX 7.")
    assert "build with --target sm_80, or install a newer driver" in said


def test_images_are_tried_from_the_best_on(host: Path, driver: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert execute(host, driver, "twice", PRISM_CPU_LOG=str(log)).stdout == "8 8\n"
    loads = [line for line in log.read_text().splitlines() if "Load" in line]
    assert loads == ["cuModuleLoadData machine code: refused", "cuModuleLoadData PTX: 0"]


def test_without_a_driver(host: Path, tmp_path: Path) -> None:
    said = execute(host, tmp_path, "right").stdout
    assert said.startswith("1: there is no CUDA driver here (")


@pytest.mark.parametrize("kind", ["ptx", "cubin"])
def test_images_from_a_file(host_with_files: Path, driver: Path, tmp_path: Path, kind: str) -> None:
    build(EXAMPLES / "saxpy.prism", tmp_path, "--emit", kind)
    said = execute(host_with_files, driver, "right", str(tmp_path / f"saxpy.{kind}")).stdout
    # The CPU driver takes no machine code.
    assert said == "5 5\n" if kind == "ptx" else said.startswith("3: saxpy was built for sm_80")


def test_a_file_that_is_no_image(host_with_files: Path, driver: Path) -> None:
    said = execute(host_with_files, driver, "right").stdout
    assert said == "4: saxpy: call saxpy_load_file first\n"
    said = execute(host_with_files, driver, "right", "/nowhere").stdout
    assert said == "4: saxpy: `/nowhere` cannot be read\n"


def test_a_header_of_another_build_is_stale(driver: Path, tmp_path: Path) -> None:
    text = """\
@requires(grid[1], block[1], thread[32])
kernel k(n: {}):
    pass
"""
    host = f'#include "k.h"\n{PREFACE}int main()\n{{\n    need(prism_open(0));\n'
    host += "    need(k_launch(1, nullptr, k_n(1)));\n}\n"
    build_text(text.format("i32"), tmp_path)
    old = (tmp_path / "k.h").read_text()
    build_text(text.format("i64"), tmp_path)
    (tmp_path / "k.h").write_text(old)
    said = execute(program(tmp_path, host), driver).stdout
    assert said.startswith("5: k: the header and the linked image are of different builds")


THREADS = """
    struct CUctx_st *context;
    need(prism_cuda_(prism_the_driver_.context(&context), "cuCtxGetCurrent"));
    std::vector<std::thread> threads;
    std::atomic<int> failures(0);
    for (int i = 0; i < 8; i++)
        threads.emplace_back([=, &failures] {
            prism_the_driver_.set_context(context);
            void *own;
            need(prism_allocate(4000, &own));
            need(prism_upload(own, std::vector<float>(1000, float(i)).data(), 4000));
            failures += launch(4, dx, static_cast<float *>(own)) != PRISM_OK;
            std::vector<float> back(1000);
            need(prism_download(back.data(), own, 4000));
            failures += back[999] != 3.0f + float(i);
        });
    for (std::thread &each : threads)
        each.join();
    std::printf("%d failures\\n", int(failures));
"""


def test_threads_may_launch_at_once(saxpy: Path, driver: Path, tmp_path: Path) -> None:
    options = ("-pthread", "-include", "atomic", "-include", "thread")
    host = saxpy_program(saxpy, tmp_path, *options, more=THREADS)
    log = tmp_path / "log"
    said = execute(host, driver, "threads", PRISM_CPU_LOG=str(log)).stdout
    assert said == "0 failures\n2 2\n"
    assert log.read_text().count("cuModuleLoadData PTX: 0") == 1


# ------------------------------------------------------------------ CUDA's runtime

RUNTIME = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *driver(const char *name)
{
    return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
}

/* The first call of the runtime makes its context. */
int cudaFree(void *memory)
{
    void *context;
    int status = ((int (*)(unsigned))driver("cuInit"))(0);
    if (memory || status)
        return 1;
    ((int (*)(void **, int))driver("cuDevicePrimaryCtxRetain"))(&context, 0);
    return ((int (*)(void *))driver("cuCtxSetCurrent"))(context);
}

const char *cudaGetErrorString(int code)
{
    return code ? "an error" : "no error";
}

/* Names have no version: a suffix would find nothing. */
int cudaGetDriverEntryPointByVersion(
    const char *name, void **function, unsigned version, unsigned long long flags, void *result)
{
    char latest[128];
    snprintf(latest, sizeof latest, "%s_v2", name);
    *function = strstr(name, "_v2") || flags || result || version < 2000 ? NULL : driver(latest);
    if (!*function && !strstr(name, "_v2"))
        *function = driver(name);
    return *function ? 0 : 500;
}
"""


def test_a_program_with_cudas_runtime(saxpy: Path, driver: Path, tmp_path: Path) -> None:
    """The runtime makes the context and finds the driver: a stand-in for it here."""
    library = ("-shared", "-fPIC", "-Wno-pedantic", "-o", "libcudart.so")
    assert compiled(C11, tmp_path, RUNTIME, *library, name="runtime").returncode == 0
    text = """\
#define PRISM_USE_CUDART
#include "saxpy.h"
int main()
{
    void *x;
    if (prism_allocate(4000, &x) != PRISM_OK || prism_upload(x, prism_message(), 1) != PRISM_OK)
        return 1;
    const saxpy_x dx(static_cast<const float *>(x));
    cudaStream_t stream = nullptr;
    prism_status status = saxpy_launch(
        1, stream, saxpy_n(0), saxpy_a(1.0f), dx, saxpy_y(static_cast<float *>(x) + 1));
    std::puts(status ? prism_message() : "launched");
}
"""
    options = ("-isystem", str(toolkit()), f"-I{saxpy}", "-L.", "-include", "cstdio")
    host = program(tmp_path, text, *options, str(saxpy / "saxpy.o"), "-lcudart", "-Wl,-rpath,.")
    assert execute(host, driver).stdout == "launched\n"


# ------------------------------------------------------------------ shared memory: field fault C01

FILL = """\
const BYTES: int = 64

@requires(grid[1], block[1], thread[64])
kernel k(y: ptr(i32)):
    partition y as yb @ block[1]:
        group block[1]:
            shared bytes: u8[BYTES]
            claim bytes as b @ thread[1] at BYTES - 1:
                first thread[1]:
                    b[0] = 7
            t: int @ thread[1] = id()
            partition yb as out @ thread[1] at t:
                group thread[1]:
                    if bytes[BYTES - 1] == 7:
                        out[0] = t
"""
FILL_MAIN = """
int main()
{
    int y[64] = {0};
    void *memory;
    need(prism_open(0));
    need(prism_allocate(sizeof y, &memory));
    need(prism_upload(memory, y, sizeof y));
    for (int i = 0; i < 3; i++) {
        need(k_launch(1, nullptr, k_y(static_cast<int *>(memory))));
        if (i == 1 && %d) { // another user of the kernel needs more
            const int more = k_SHARED_BYTES + 16;
            need(prism_cuda_(prism_the_driver_.set_attribute(k_functions_[0], 8, more), ""));
        }
    }
    need(prism_download(y, memory, sizeof y));
    for (int i = 0; i < 64; i++)
        if (y[i] != i)
            return 1;
    std::printf("%%d bytes\\n", k_SHARED_BYTES);
}
"""


@pytest.mark.parametrize("size", [49_151, 49_152, 49_153, 232_448])
def test_shared_memory_is_allowed_when_needed(driver: Path, tmp_path: Path, size: int) -> None:
    build_text(FILL, tmp_path, "-D", f"BYTES={size}", targets=("sm_90",))
    is_dynamic, has_room = size > 49_152, size < 232_448
    text = f'#include "k.h"\n{PREFACE}' + FILL_MAIN % (is_dynamic and has_room)
    log = tmp_path / "log"
    host = program(tmp_path, text)
    done = execute(host, driver, PRISM_CPU_DEVICE="sm_90", PRISM_CPU_LOG=str(log))
    assert (done.stdout, done.stderr) == (f"{size} bytes\n", "")
    calls = [line for line in log.read_text().splitlines() if "Attribute" in line]
    wanted = [f"cuFuncSetAttribute k 8 {size}"] if is_dynamic else []
    more = [f"cuFuncSetAttribute k 8 {size + 16}"] if is_dynamic and has_room else []
    assert calls == wanted + more  # once, and never lowered
    dynamic = f"| {size if is_dynamic else 0}"
    assert log.read_text().count(f"cuLaunchKernel k 1 1 1 | 64 1 1 {dynamic}\n") == 3


def test_more_shared_memory_than_the_device_has_is_refused(driver: Path, tmp_path: Path) -> None:
    build_text(FILL, tmp_path, "-D", "BYTES=150000", targets=("sm_80",))
    host = program(tmp_path, f'#include "k.h"\n{PREFACE}' + FILL_MAIN % 0)
    assert execute(host, driver).stdout == "150000 bytes\n"
    said = execute(host, driver, PRISM_CPU_DEVICE="sm_86").stdout
    assert said == (
        "9: k needs 150000 bytes of shared memory for sm_80, a block of this device has at most "
        "101376\n"
    )


def test_two_headers_of_different_versions_do_not_meet(saxpy: Path, tmp_path: Path) -> None:
    header = (saxpy / "saxpy.h").read_text()
    (tmp_path / "old.h").write_text(header.replace("PRISM_RUNTIME 1", "PRISM_RUNTIME 0"))
    done = compiled(CPP17, tmp_path, '#include "old.h"\n', f"-I{saxpy}", "-fsyntax-only")
    assert "headers of different versions of prismc: build them anew" in done.stderr


# ------------------------------------------------------------------ whole grids: field fault A12

TWO_PHASES = """\
@requires(grid[1], block[1], thread[128])
@launch(threads = 128, cooperative = true)
kernel k(a: ptr(i32), out: ptr(i32)):
    b: int @ block[1] = id()
    blocks: int = count(block[1])
    partition a as mine @ block[1] at b:
        group block[1]:
            claim mine as m @ thread[1]:
                first thread[1]:
                    m[0] = b
    partition out as o @ block[1] at b:
        group block[1]:
            claim o as m @ thread[1]:
                first thread[1]:
                    m[0] = a[(b + 1) % blocks]
"""
TWO_PHASES_MAIN = """
int main()
{
    void *memory;
    need(prism_open(0));
    need(prism_allocate(400, &memory));
    int *a = static_cast<int *>(memory), out[4];
    need(k_launch(4, nullptr, k_a(a), k_out(a + 50)));
    need(prism_download(out, a + 50, sizeof out));
    std::printf("%d %d %d %d\\n", out[0], out[1], out[2], out[3]);
    need(k_launch(33, nullptr, k_a(a), k_out(a + 50)));
}
"""


def test_a_cooperative_grid_that_does_not_fit_is_refused(driver: Path, tmp_path: Path) -> None:
    """The CPU driver has two multiprocessors for 2048 threads each."""
    build_text(TWO_PHASES, tmp_path)
    host = program(tmp_path, f'#include "k.h"\n{PREFACE}{TWO_PHASES_MAIN}')
    log = tmp_path / "log"
    done = execute(host, driver, PRISM_CPU_LOG=str(log))
    assert (done.stdout, done.stderr) == (
        "1 2 3 0\n6: k is cooperative: 32 blocks are resident on this device at once, and the grid "
        "has 33\n",
        "",
    )
    assert "cuLaunchCooperativeKernel k 4 1 1 | 128 1 1 | 0" in log.read_text()


def test_a_grid_is_a_multiple_of_the_cluster(tmp_path: Path) -> None:
    """Refused before a driver is looked for."""
    entry = KernelEntry(name="k", at=NOWHERE, threads=32, cluster=2)
    kernel = HostKernel(entry=entry, dynamic_shared=(0,))
    module = HostModule(
        name="k", source="k.prism", targets=("sm_90",), kernels=(kernel,), signature="s"
    )
    (tmp_path / "k.h").write_text(emit_header(module, Sink()))
    (tmp_path / "empty").mkdir()
    launches = "\n".join(
        f'    std::printf("%d %s\\n", k_launch({blocks}, nullptr), prism_message());'
        for blocks in (3, 2)
    )
    text = f'#include "k.h"\n{PREFACE}int main()\n{{\n{launches}\n    need(PRISM_OK);\n}}\n'
    host = program(tmp_path, text, "-DPRISM_IMAGES_FROM_FILES")
    said = execute(host, tmp_path / "empty").stdout.splitlines()
    assert said[0] == "6 k has clusters of 2 blocks, and 3 is no multiple of that"
    assert said[1].startswith("1 there is no CUDA driver here")

"""Messages of real compilers at Prism lines."""

from __future__ import annotations

import pytest

from backend.support import cuda, line_of, sources
from prismc.backend.cuda_module import CudaModule
from prismc.backend.errors import (
    CompilerRemark,
    GeneratedCodeRefused,
    InstructionIgnored,
    RegistersSpill,
)
from prismc.backend.toolchain.backmap import told_problems
from prismc.backend.toolchain.build import compile_targets
from prismc.backend.toolchain.compilation import Compilation, Compiler
from prismc.backend.toolchain.log import Weight, read_log
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.diagnostics.problem import Problem
from prismc.diagnostics.sink import Sink

HEAD = 'extern "C" __global__ void __launch_bounds__(32, 1) k(float *p) {'


@pytest.fixture(params=["nvrtc", "nvcc"])
def compiler(request: pytest.FixtureRequest) -> Compiler:
    found: Compiler = request.getfixturevalue(request.param)
    return found


def problems(module: CudaModule, compiler: Compiler, target: str = "sm_90a") -> list[Problem]:
    sink = Sink()
    name = module.files[0]
    (binary,) = compile_targets([(module, target)], compiler, sources(name), sink)
    assert (binary is None) == sink.has_errors()
    return list(sink.problems())


def test_front_end_errors_stand_at_their_line(compiler: Compiler) -> None:
    module = cuda((10, HEAD), (12, "  p[0] = x;"), (20, "  y = 3;\n}"))
    first, second = problems(module, compiler)
    assert isinstance(first, GeneratedCodeRefused)
    assert isinstance(second, GeneratedCodeRefused)
    assert (first.at, second.at) == (line_of(12), line_of(20))
    assert 'identifier "x" is undefined' in first.shown_message()
    assert first.notes == ("generated code: p[0] = x;",)


def test_assembler_errors_stand_at_their_line(compiler: Compiler) -> None:
    module = cuda((10, HEAD), (15, '  asm volatile("bogus.f32 %0;" :: "f"(p[1]));\n}'))
    (problem,) = problems(module, compiler)
    assert isinstance(problem, GeneratedCodeRefused)
    assert problem.at == line_of(15)
    assert problem.tool == "ptxas"
    assert "bogus" in problem.notes[0]


def test_inlined_code_tells_the_calls(compiler: Compiler) -> None:
    module = cuda(
        (3, "static __device__ __forceinline__ void f(float *p) {"),
        (4, '  asm volatile("bogus;");\n}'),
        (6, "static __device__ __forceinline__ void g(float *p) {"),
        (7, "  f(p);\n}"),
        (10, HEAD),
        (11, "  g(p);\n}"),
    )
    (problem,) = problems(module, compiler)
    assert problem.at == line_of(4)
    assert [related.at for related in problem.related] == [line_of(7), line_of(11)]


def test_awkward_names_come_back(compiler: Compiler) -> None:
    name = 'sub dir/vé"\\.prism'
    module = cuda((10, HEAD), (15, '  asm volatile("bogus;");\n}'), name=name)
    (problem,) = problems(module, compiler)
    assert problem.at == line_of(15, name)


def test_a_line_that_prismc_has_not_read_falls_back_to_the_kernel(nvrtc: Nvrtc) -> None:
    module = CudaModule(
        name="vec.cu",
        text=HEAD + " p[0] = x; }",
        kernels=cuda((1, "")).kernels,
        files=("dir/vec.prism",),
    )
    (problem,) = problems(module, nvrtc)
    assert problem.at == line_of(1)


def test_a_dropped_setmaxnreg_is_an_error_at_its_line(compiler: Compiler) -> None:
    head = 'extern "C" __global__ void __launch_bounds__(384) k(float *p) {'
    module = cuda(
        (10, head), (14, '  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");\n  p[0] = 1;\n}')
    )
    (problem,) = problems(module, compiler)
    assert isinstance(problem, InstructionIgnored)
    assert (problem.at, problem.note) == (line_of(14), "C7508")
    assert "min_blocks" in problem.shown_help()


def test_spills_are_a_warning_at_the_kernel(compiler: Compiler) -> None:
    head = 'extern "C" __global__ void __launch_bounds__(1024, 2) k(float *p) {'
    body = """  float a[96];
  #pragma unroll
  for (int i = 0; i < 96; ++i) a[i] = p[i * 1024 + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 96; ++i) p[(95 - i) * 1024 + threadIdx.x] = a[i] * a[(i * 7) % 96];
}"""
    (problem,) = problems(cuda((10, head), (11, body)), compiler, "sm_80")
    assert isinstance(problem, RegistersSpill)
    assert problem.at == line_of(1)
    assert problem.stores > 0
    assert problem.loads > 0
    assert problem.registers == 32


def test_warnings_of_the_front_end(compiler: Compiler) -> None:
    module = cuda((10, HEAD), (13, "  p[0] = 1 << 40;"), (14, "  int unused;\n}"))
    (problem,) = problems(module, compiler)
    assert isinstance(problem, CompilerRemark)
    assert problem.at == line_of(13)
    assert "shift count" in problem.text


def test_parameters_that_do_not_fit_are_told_at_the_kernel(nvrtc: Nvrtc) -> None:
    parameters = ", ".join(f"long long p{n}" for n in range(5_000))
    head = f'extern "C" __global__ void k({parameters}) {{ }}'
    (problem,) = problems(cuda((10, head)), nvrtc, "sm_80")
    assert isinstance(problem, GeneratedCodeRefused)
    assert "parameter space overflowed" in problem.text


def test_a_failure_without_a_reason_is_still_told(nvrtc: Nvrtc) -> None:
    """NVRTC 13.5 refuses 52,000 bytes of static shared memory without a word."""
    body = "  __shared__ float s[13000]; s[threadIdx.x] = 2; __syncthreads(); p[0] = s[3];\n}"
    (problem,) = problems(cuda((10, HEAD), (11, body)), nvrtc, "sm_80")
    assert isinstance(problem, GeneratedCodeRefused)
    assert problem.at == line_of(1)


LOG = """\
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized \
due to non wgmma instructions defining accumulator registers in the function 'b'
ptxas info    : (C7517) wgmma.wait_group is injected in around line 46 by compiler to allow use \
of registers defined by GMMA in function 'k'
ptxas application ptx input, line 12; info    : Advisory: Modifier '.multicast::cluster' is slow
ptxas info    : Overriding maximum register limit 168 for 'k' with 200 of maxrregcount option
ptxas error   : Entry function 'k' uses too much shared data (0xcb20 bytes, 0xc000 max)
ptxas fatal   : Ptx assembly aborted due to errors
1 error detected in the compilation of "gen.cu".
Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"
"""


def test_notes_and_statistics_are_told_apart() -> None:
    messages = read_log(LOG)
    assert [(m.weight, m.note, m.function, m.ptx_line) for m in messages] == [
        (Weight.GAVE_UP, "C7510", "b", 0),
        (Weight.WARNING, "C7517", "k", 46),
        (Weight.WARNING, "", "", 12),
        (Weight.ERROR, "", "k", 0),
    ]


def test_serialised_wgmma_is_an_error_at_its_line(compiler: Compiler) -> None:
    issue = """asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\\n"
"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %5, %6, p, 1, 1, 0, 0;}"
: "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]) : "r"(1), "l"(d), "l"(d));"""
    module = cuda(
        (10, 'extern "C" __global__ void __launch_bounds__(128, 1) k(float *p, long long d) {'),
        (11, 'float a[4] = {0, 0, 0, 0}; asm volatile("wgmma.fence.sync.aligned;");'),
        (20, issue),
        (30, "a[0] += 1;"),
        (40, issue),
        (45, 'asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");'),
        (46, 'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");'),
        (47, "for (int i = 0; i < 4; ++i) p[threadIdx.x * 4 + i] = a[i];\n}"),
    )
    serialised = [p for p in problems(module, compiler) if isinstance(p, InstructionIgnored)]
    assert serialised[0].note in ("C7510", "C7511", "C7514")
    assert serialised[0].at in (line_of(11), line_of(20), line_of(40))  # 13.0 names the fence
    assert "wgmma" in serialised[0].shown_help()


def test_a_note_that_names_a_function_stands_at_its_instruction() -> None:
    ptx = """.visible .entry a(){
	.loc	1 5 1
	wgmma.mma_async.sync.aligned x;
}
.visible .entry b(){
	.loc	1 7 1
	wgmma.mma_async.sync.aligned x;
}
	.file	1 "dir/vec.prism"
"""
    compilation = Compilation(
        target="sm_90a", compiler="NVRTC", log=LOG.splitlines()[0], ptx=ptx, cubin=b"x"
    )
    (problem,) = told_problems(compilation, cuda((1, ""), kernels=("a", "b")), sources())
    assert problem.at == line_of(7)

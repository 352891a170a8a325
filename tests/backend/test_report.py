"""Figures of kernels, from real compilations and from written PTX."""

from __future__ import annotations

import pytest

from backend.support import cuda
from prismc.backend.cuda_module import CudaModule, KernelEntry
from prismc.backend.toolchain.compilation import Compilation, Compiler
from prismc.backend.toolchain.report import BarrierCounts, count_barriers, kernel_reports
from prismc.source.record import replace
from prismc.source.span import NOWHERE

TWO = cuda(
    (1, 'extern "C" __global__ void __launch_bounds__(64, 1) first(float *p) {'),
    (
        2,
        """  __shared__ float s[64];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[63 - threadIdx.x];
  asm volatile("bar.sync 1, 32;" ::: "memory");
  asm volatile("bar.warp.sync 0xff;" ::: "memory");
}""",
    ),
    (20, 'extern "C" __global__ void second(float *p) { p[0] = 1.0f; }'),
    kernels=("first", "second"),
)


@pytest.mark.parametrize("name", ["nvrtc", "nvcc"])
def test_each_kernel_has_its_own_figures(name: str, request: pytest.FixtureRequest) -> None:
    compiler: Compiler = request.getfixturevalue(name)
    first, second = kernel_reports(compiler.compile(TWO, "sm_80"), TWO)
    assert (first.kernel, first.shared_bytes, second.shared_bytes) == ("first", 256, 0)
    assert first.barriers == BarrierCounts(full=1, named=1, warp=1)
    assert second.barriers == BarrierCounts()
    assert first.registers > 0
    assert second.registers > 0
    assert (first.stack_bytes, first.spill_stores, first.spill_loads) == (0, 0, 0)


def test_dynamic_shared_memory_counts() -> None:
    log = """ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
ptxas         .     472 bytes stack frame, 1328 bytes spill stores, 1396 bytes spill loads
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 472 bytes cumulative stack size, 16 bytes smem
"""
    compilation = Compilation(target="sm_90", compiler="NVRTC", log=log, ptx="", cubin=b"")
    kernel = KernelEntry(name="k", at=NOWHERE, threads=256, dynamic_shared=70_000)
    module: CudaModule = replace(TWO, kernels=(kernel,))
    (report,) = kernel_reports(compilation, module)
    assert report.shared_bytes == 70_016
    assert (report.stack_bytes, report.spill_stores, report.spill_loads) == (472, 1328, 1396)
    assert report.registers == 64


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bar.sync \t0;", {"full": 1}),
        ("bar.sync 0, 64;", {"named": 1}),
        ("bar.sync %r4, 64;", {"named": 1}),
        ("barrier.sync.aligned 3;", {"full": 1}),
        ("barrier.cta.sync 3, 96;", {"named": 1}),
        ("@%p1 bar.arrive 2, 96;", {"arrives": 1}),
        ("bar.red.popc.u32 %r1, 0, %p1;", {"full": 1}),
        ("bar.red.and.pred %p2, 1, 64, %p1;", {"named": 1}),
        ("bar.warp.sync -1; bar.warp.sync 255;", {"warp": 2}),
        (
            "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
            {"arrives": 1, "cluster": 1},
        ),
        ("mbarrier.init.shared::cta.b64 [%r1], 1;", {}),
        ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r2;", {"mbarrier_arrives": 1}),
        (
            "{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%r1], %r2;",
            {"mbarrier_waits": 1},
        ),
        ("// bar.sync 0;", {}),
        ("mov.u32 %bar.sync0, 0;", {}),
    ],
)
def test_barriers_are_counted_by_kind(line: str, expected: dict[str, int]) -> None:
    assert count_barriers(f"\t{line}\n") == BarrierCounts(**expected)


def test_braces_of_inline_assembly_do_not_end_a_kernel() -> None:
    wait = "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%r1], %r2;\n}\n"
    ptx = f".visible .entry k()\n{{\n{wait}{wait}\tbar.sync 0;\n\tret;\n}}\n.func f\n{{{wait}}}"
    compilation = Compilation(target="sm_90", compiler="NVRTC", log="", ptx=ptx, cubin=b"")
    module: CudaModule = replace(TWO, kernels=(KernelEntry(name="k", at=NOWHERE, threads=32),))
    (report,) = kernel_reports(compilation, module)
    assert report.barriers == BarrierCounts(full=1, mbarrier_waits=2)

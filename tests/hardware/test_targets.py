"""The rows of `hardware/targets.py` are true: the assembler is asked about every feature."""

from __future__ import annotations

from itertools import pairwise

import pytest

from prismc.backend.cuda_module import CudaModule, KernelEntry
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.hardware.features import Feature
from prismc.hardware.targets import DEFAULT_TARGET, KIB, TARGETS
from prismc.source.span import NOWHERE

# One kernel body for each feature, of which it is the only unusual part. `s` is an unsigned, `p` a
# pointer to float.
_MMA = (
    'float a, b, c, d; asm volatile("mma.sync.aligned.{} {{%0,%1,%2,%3}},{{%4,%4,%4,%4}},'
    '{{%4,%4}},{{%5,%5,%5,%5}};" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(s), "f"(1.f));'
    " *p = a + b + c + d;"
)
_BULK = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
BODIES = {
    Feature.LDMATRIX: 'unsigned r; asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, '
    '[%1];" : "=r"(r) : "r"(s)); *p = r;',
    Feature.F16_MMA: 'unsigned r, q; asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16'
    '.f16 {%0,%1},{%2,%2},{%2},{%2,%2};" : "=r"(r), "=r"(q) : "r"(s)); *p = r + q;',
    Feature.AMPERE_MMA: _MMA.format("m16n8k8.row.col.f32.tf32.tf32.f32"),
    Feature.BF16: 'unsigned short r; asm volatile("fma.rn.bf16 %0, %1, %1, %1;" : "=h"(r) : '
    '"h"((unsigned short)s)); *p = r;',
    Feature.TF32: 'unsigned r; asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(1.f));'
    " *p = r;",
    Feature.CP_ASYNC: 'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(s), "l"(p));',
    Feature.MBARRIER: 'asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(s));',
    Feature.REDUX: 'unsigned r; asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(r) : '
    '"r"(s)); *p = r;',
    Feature.FP8: 'unsigned short r; asm volatile("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : '
    '"=h"(r) : "f"(1.f)); *p = r;',
    Feature.BF16_ADD: 'unsigned short r; asm volatile("add.rn.bf16 %0, %1, %1;" : "=h"(r) : '
    '"h"((unsigned short)s)); *p = r;',
    Feature.MBARRIER_TRY_WAIT: 'asm volatile("{ .reg .pred q; '
    'mbarrier.try_wait.parity.shared.b64 q, [%0], 0; }" :: "r"(s));',
    Feature.STMATRIX: 'asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: '
    '"r"(s), "r"(s));',
    Feature.ELECT: 'unsigned r; asm volatile("{ .reg .pred q; elect.sync %0|q, 0xffffffff; }" : '
    '"=r"(r)); *p = r;',
    Feature.TMA: f'asm volatile("{_BULK} [%0], [%1], 16, [%0];" :: "r"(s), "l"(p));',
    Feature.PROXY_FENCE: 'asm volatile("fence.proxy.async;");',
    Feature.CLUSTER: 'asm volatile("barrier.cluster.arrive; barrier.cluster.wait;");',
    Feature.DEPENDENT_LAUNCH: 'asm volatile("griddepcontrol.wait;");',
    Feature.VECTOR_REDUCTION: 'asm volatile("red.global.add.v2.f32 [%0], {%1,%1};" :: "l"(p), '
    '"f"(1.f));',
    Feature.BF16_ATOMIC: 'unsigned short r; asm volatile("atom.global.add.noftz.bf16 %0, [%1], '
    '%0;" : "=h"(r) : "l"(p));',
    Feature.WGMMA: 'asm volatile("wgmma.fence.sync.aligned;");',
    Feature.SETMAXNREG: 'asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");',
    Feature.TCGEN05: 'asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 '
    '[%0], 32;" :: "r"(s));',
    Feature.F32_PAIRS: 'unsigned long long r = s; asm volatile("add.rn.f32x2 %0, %0, %0;" : '
    '"+l"(r)); *p = r;',
}
# These stand for all rows; the others differ from one of them by name and limits only.
ASKED = ("sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120", "sm_120a")


def test_every_feature_is_asked_for() -> None:
    assert set(BODIES) == set(Feature)


@pytest.mark.parametrize("name", ASKED)
def test_features(name: str) -> None:
    compiler = Nvrtc()
    wrong = []
    for feature, body in BODIES.items():
        text = (
            'extern "C" __global__ void __launch_bounds__(128, 1) k(unsigned s, float* p) '
            f"{{ {body} }}\n"
        )
        kernel = KernelEntry(name="k", at=NOWHERE, threads=128)
        module = CudaModule(name="k.cu", text=text, kernels=(kernel,), files=())
        assembles = compiler.compile(module, name).cubin is not None
        if assembles != TARGETS[name].has(feature):
            wrong.append((feature.name, assembles))
    assert wrong == []


def test_rows_of_one_line_only_add() -> None:
    line = [TARGETS[name] for name in ("sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120")]
    for older, newer in pairwise(line):
        assert older.features <= newer.features


def test_a_suffix_adds_to_its_base() -> None:
    for target in TARGETS.values():
        base = TARGETS[target.name.rstrip("af")]
        assert base.features <= target.features
        assert base.shared_limit == target.shared_limit
        assert base.ptx <= target.ptx


def test_limits() -> None:
    # CUDA Programming Guide, "Technical Specifications per Compute Capability".
    limits = {"sm_75": 65_536, "sm_80": 166_912, "sm_86": 101_376, "sm_89": 101_376}
    limits |= {"sm_90": 232_448, "sm_100": 232_448, "sm_120": 101_376, "sm_87": 166_912}
    assert {name: TARGETS[name].shared_limit for name in limits} == limits
    assert all(target.static_shared_limit == 48 * KIB for target in TARGETS.values())
    assert DEFAULT_TARGET.name in TARGETS


def test_names() -> None:
    for name, target in TARGETS.items():
        assert target.name == name == str(target)
        assert target.compute == name.replace("sm", "compute")
        assert target.arch_flag == f"-arch={name}"

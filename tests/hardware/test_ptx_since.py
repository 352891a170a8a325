"""Since when PTX has what: the tables, compared with ptxas, which checks versions itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.find import find_nvcc
from prismc.backend.toolchain.ptx_version import greatest_need
from prismc.hardware.ptx_versions import LEAST, Version, cuda_of, newest_for, version_text
from prismc.hardware.targets import TARGETS

VERSIONS = [*((7, minor) for minor in range(9)), *((8, minor) for minor in range(9)), (9, 0)]

# Statements with r: b32, h: b16, l: b64, f: f32, d: f64, p: predicate, a: an address; by target.
EVER = {
    "sm_80": """
        abs.s32 r0, r1; add.f32 f0, f1, f2; add.cc.u32 r0, r1, r2; addc.u32 r0, r1, r2;
        and.pred p0, p1, p1; atom.global.add.f32 f0, [a], f1;
        red.relaxed.gpu.global.add.u32 [a], r1;
        atom.acq_rel.gpu.global.cas.b32 r0, [a], r1, r2; atom.global.add.noftz.f16x2 r0, [a], r1;
        bar.sync 0; bar.arrive 1, 64; bar.red.or.pred p0, 0, p1; bar.warp.sync -1;
        barrier.sync 1, 32;
        bfe.u32 r0, r1, 1, 2; bfi.b64 l0, l1, l0, 1, 2; bfind.u32 r0, r1; brev.b32 r0, r1;
        clz.b32 r0, r1; copysign.f32 f0, f1, f2; cos.approx.ftz.f32 f0, f1;
        cp.async.ca.shared.global [s], [a], 4; cp.async.commit_group; cp.async.wait_group 1;
        cp.async.mbarrier.arrive.noinc.shared.b64 [s]; cvt.rn.bf16.f32 h0, f1;
        cvt.rn.bf16x2.f32 r0, f1, f2; cvt.rna.tf32.f32 r0, f1; cvt.rzi.s32.f32 r0, f1;
        cvta.to.global.u64 l0, l1; div.rn.f32 f0, f1, f2; dp4a.s32.s32 r0, r1, r2, r0;
        ex2.approx.f32 f0, f1; fence.acq_rel.gpu; fma.rn.bf16x2 r0, r1, r2, r0;
        fma.rn.f32 f0, f1, f2, f1;
        fns.b32 r0, r1, r2, r1; isspacep.shared p0, l0; ld.acquire.gpu.global.b32 r0, [a];
        ld.global.nc.v4.f32 {f0, f1, f2, f3}, [a]; ld.volatile.shared.u32 r0, [s];
        ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {r0, r1}, [s]; lg2.approx.f32 f0, f1;
        lop3.b32 r0, r1, r2, r0, 3; mad.lo.s32 r0, r1, r2, r0; match.any.sync.b32 r0, r1, -1;
        max.NaN.f32 f0, f1, f2; max.bf16x2 r0, r1, r2; mbarrier.init.shared.b64 [s], 1;
        mbarrier.arrive.shared.b64 l0, [s]; mbarrier.test_wait.shared.b64 p0, [s], l0;
        mbarrier.inval.shared.b64 [s]; mbarrier.pending_count.b64 r0, l0; membar.gl;
        mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f0, f1, f2, f3}, {r0, r1, r2, r3},
            {r0, r1}, {f0, f1, f2, f3};
        mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {r0, r1, r2, r3}, {r0, r1, r2, r3},
            {r0, r1}, {r0, r1, r2, r3};
        mov.b64 l0, {r0, r1}; mov.u32 r0, %laneid; mov.u64 l0, %globaltimer;
        mov.u32 r0, %lanemask_lt; mul.wide.u32 l0, r1, r2; nanosleep.u32 20; neg.bf16x2 r0, r1;
        popc.b32 r0, r1; prefetch.global.L2 [a]; prmt.b32 r0, r1, r2, 3; rcp.rn.f32 f0, f1;
        redux.sync.add.s32 r0, r1, -1; rsqrt.approx.f32 f0, f1; selp.f32 f0, f1, f2, p0;
        setp.lt.and.s32 p0, r1, r2, p1; shf.l.wrap.b32 r0, r1, r2, 3;
        shfl.sync.bfly.b32 r0|p0, r1, 1, 31, -1; sqrt.approx.f32 f0, f1;
        st.release.gpu.global.u32 [a], r1; tanh.approx.f32 f0, f1; testp.finite.f32 p0, f1;
        vote.sync.ballot.b32 r0, p0, -1; trap;
    """,
}
# What came later: a statement, its version, the least target that has it.
LATER = (
    ("mbarrier.test_wait.parity.shared.b64 p0, [s], r0;", "7.1", "sm_80"),
    ("ld.global.L1::no_allocate.f32 f0, [a];", "7.4", "sm_80"),
    ("ld.global.L2::128B.f32 f0, [a];", "7.4", "sm_80"),
    ("discard.global.L2 [a], 128;", "7.4", "sm_80"),
    ("fence.proxy.alias;", "7.5", "sm_80"),
    ("szext.wrap.u32 r0, r1, r2;", "7.6", "sm_80"),
    ("bmsk.clamp.b32 r0, r1, r2;", "7.6", "sm_80"),
    ("isspacep.param p0, l0;", "7.7", "sm_80"),
    ("add.rn.bf16 h0, h1, h0;", "7.8", "sm_90"),
    ("sub.rn.bf16x2 r0, r1, r2;", "7.8", "sm_90"),
    ("setp.lt.bf16 p0, h0, h1;", "7.8", "sm_90"),
    ("ld.shared::cta.u32 r0, [s];", "7.8", "sm_80"),
    ("ld.shared::cluster.u32 r0, [s];", "7.8", "sm_90"),
    ("mapa.shared::cluster.u32 r0, r1, r2;", "7.8", "sm_90"),
    ("getctarank.shared::cluster.u32 r0, r1;", "7.8", "sm_90"),
    ("griddepcontrol.wait;", "7.8", "sm_90"),
    ("barrier.cluster.arrive.aligned;", "7.8", "sm_90"),
    ("barrier.cluster.wait.acquire.aligned;", "8.0", "sm_90"),
    ("fence.acq_rel.cluster;", "7.8", "sm_90"),
    ("mbarrier.try_wait.shared.b64 p0, [s], l0;", "7.8", "sm_90"),
    ("movmatrix.sync.aligned.m8n8.trans.b16 r0, r1;", "7.8", "sm_80"),
    ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {r0};", "7.8", "sm_90"),
    ("mov.u32 r0, %cluster_ctarank;", "7.8", "sm_90"),
    ("mov.u32 r0, %clusterid.x;", "7.8", "sm_90"),
    ("mov.u32 r0, %aggr_smem_size;", "8.1", "sm_90"),
    ("elect.sync r0|p0, -1;", "8.0", "sm_90"),
    ("fence.proxy.async.shared::cta;", "8.0", "sm_90"),
    ("fence.mbarrier_init.release.cluster;", "8.0", "sm_90"),
    ("mbarrier.arrive.expect_tx.shared.b64 l0, [s], 16;", "8.0", "sm_90"),
    ("mbarrier.expect_tx.relaxed.cta.shared.b64 [s], 16;", "8.0", "sm_90"),
    ("cp.async.bulk.commit_group;", "8.0", "sm_90"),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [a], 16, [s];",
     "8.0", "sm_90"),
    ("cp.async.bulk.global.shared::cta.bulk_group [a], [s], 16;", "8.0", "sm_90"),
    ("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [l0, {r0, r1}], [s];",
     "8.0", "sm_90"),
    ("prefetch.tensormap [l0];", "8.0", "sm_90"),
    ("setmaxnreg.inc.sync.aligned.u32 64;", "8.0", "sm_90a"),
    ("wgmma.fence.sync.aligned;", "8.0", "sm_90a"),
    ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, l0, l1, p0, 1, 1, 0, 0;",
     "8.0", "sm_90a"),
)  # fmt: skip


def _text(statements: str, version: str, target: str) -> str:
    return f"""
        .version {version}
        .target {target}
        .address_size 64
        .visible .entry k(.param .u64 k_a) .maxntid 128, 1, 1
        {{
            .reg .b32 r<4>; .reg .b16 h<2>; .reg .b64 l<2>; .reg .f32 f<4>; .reg .f64 d<2>;
            .reg .pred p<2>; .reg .b64 a; .shared .align 128 .b8 s[256];
            ld.param.u64 a, [k_a];
            {statements}
            ret;
        }}
    """


@pytest.fixture(scope="module")
def ptxas() -> Path:
    try:
        return find_nvcc().resolve().with_name("ptxas")
    except ToolchainFailure as failure:
        pytest.skip(str(failure))


def test_what_was_there_from_the_start(ptxas: Path) -> None:
    for target, statements in EVER.items():
        text = _text(statements, "7.0", target)
        assert greatest_need(text, TARGETS[target]).since == LEAST
        command = [ptxas, f"-arch={target}", "-o", "/dev/null", "/dev/stdin"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("statement", "since", "target"), LATER)
def test_what_came_later(ptxas: Path, statement: str, since: str, target: str) -> None:
    """ptxas accepts it from that version on, and names the version where it is older."""
    least = max(TARGETS[target].ptx, LEAST)
    number = next(each for each in VERSIONS if version_text(each) == since)
    need = greatest_need(_text(statement, since, target), TARGETS[target])
    assert need.since == max(number, least)
    before = [each for each in VERSIONS if least <= each < number]
    tried = {each: _run(ptxas, statement, each, target) for each in (*before[-1:], number)}
    assert tried == {each: each == number for each in tried}


def _run(ptxas: Path, statement: str, number: Version, target: str) -> bool:
    text = _text(statement, version_text(number), target)
    command = [ptxas, f"-arch={target}", "-O0", "-o", "/dev/null", "/dev/stdin"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0 or "PTX ISA .version" in said, said
    return done.returncode == 0


@pytest.mark.parametrize(
    ("ptx", "cuda"),
    [((7, 0), (11, 0)), ((8, 5), (12, 5)), ((8, 6), (12, 7)), ((8, 8), (12, 9)), ((9, 5), (13, 5))],
)
def test_releases_of_cuda(ptx: Version, cuda: Version) -> None:
    assert cuda_of(ptx) == cuda
    assert newest_for(cuda) == ptx


def test_a_release_without_a_version_of_its_own() -> None:
    assert newest_for((12, 6)) == (8, 5)

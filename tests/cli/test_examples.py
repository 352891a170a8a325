"""The examples: they build for every main target, and ship the barriers that were planned."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.find import find_nvcc
from prismc.checker.sync.plan import GROUP_KINDS, MBARRIER_KINDS, SyncKind
from prismc.driver.build import Built, Emit, build_file
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, dump_file, run_stages, view_names
from prismc.driver.session import Session
from prismc.hardware.primitives import WARP_THREADS
from prismc.hardware.targets import TARGETS, Target
from prismc.ir.core import Module, walk
from prismc.ir.ops.control import Call

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.prism"))
# Examples for one kind of machine.
ONLY = {"hopper_matmul": ("sm_90a",)}
MAIN_TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120")


def build(
    path: Path, targets: tuple[Target, ...], compiler: str = "nvrtc"
) -> tuple[Session, Built]:
    session = Session(Options(verify=True, compiler=compiler))
    file = session.files.read(str(path))
    kinds = (Emit.CUDA, Emit.PTX, Emit.CUBIN)
    built = build_file(session, file, targets, kinds, lambda t, k: Path(f"{t}{k.suffix}"))
    assert session.problems == ()
    assert built is not None
    return session, built


# NVRTC makes two iterations of this loop, where all operations are, into one, and one more for the
# last of an odd number.
LOOP_COPIES = {"tf32_matmul": 3}


def inlined_copies(module: Module) -> Counter[str]:
    """How often each function's text stands in the kernel: once for each call."""
    copies = Counter(one.symbol for one in module.functions if one.is_kernel)
    for function in reversed(module.functions):
        for op in walk(function.body):
            if isinstance(op, Call):
                copies[op.callee] += copies[function.symbol]
    return copies


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_builds_for_the_main_targets(path: Path) -> None:
    names = ONLY.get(path.stem, MAIN_TARGETS)
    _, built = build(path, tuple(TARGETS[name] for name in names))
    assert len(built.outputs) == 3 * len(names)
    assert {report.target for report in built.reports} == set(names)
    for report in built.reports:
        assert report.spill_stores == report.spill_loads == 0
        assert 0 < report.registers <= 255


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_ptx_has_the_barriers_of_the_plan(path: Path) -> None:
    (name, *_) = ONLY.get(path.stem, ("sm_80",))
    session, built = build(path, (TARGETS[name],))
    file = session.files.known(str(path))
    checked = run_stages(session, file, CHECKS)
    copies = inlined_copies(run_stages(session, file, "optimise").module)
    operations = [
        operation
        for symbol, plan in checked.plan.instances.items()
        for operation in plan.operations
        for _ in range(copies[symbol] * LOOP_COPIES.get(path.stem, 1))
    ]
    planned = [operation.kind for operation in operations]
    # A lane that arrives for its warp waits for the others.
    elected = sum(
        operation.kind is SyncKind.MBARRIER_ARRIVE and operation.lanes == WARP_THREADS
        for operation in operations
    )
    full, warp, named = (
        sum(getattr(report.barriers, kind) for report in built.reports)
        for kind in ("full", "warp", "named")
    )
    assert full == planned.count(SyncKind.BLOCK_BARRIER) + planned.count(SyncKind.BLOCK_VOTE)
    assert warp == planned.count(SyncKind.WARP_BARRIER) + elected
    assert named == planned.count(SyncKind.NAMED_BARRIER)
    groups = sum(kind in GROUP_KINDS for kind in planned)
    mbarriers = sum(kind in MBARRIER_KINDS for kind in planned)
    assert len(planned) == full + warp - elected + named + groups + mbarriers


def test_nvcc_is_another_way_to_the_same(tmp_path: Path) -> None:
    try:
        find_nvcc()
    except ToolchainFailure as failure:
        pytest.skip(f"no nvcc: {failure}")
    path = ROOT / "examples" / "block_sum.prism"
    reports = [
        build(path, (TARGETS["sm_80"], TARGETS["sm_90a"]), compiler)[1].reports
        for compiler in ("nvrtc", "nvcc")
    ]
    for ours, theirs in zip(*reports, strict=True):
        assert ours.barriers == theirs.barriers
        assert (ours.kernel, ours.target, ours.shared_bytes) == (
            theirs.kernel,
            theirs.target,
            theirs.shared_bytes,
        )


def test_tf32_uses_tensor_cores() -> None:
    _, built = build(ROOT / "examples" / "tf32_matmul.prism", (TARGETS["sm_80"],))
    ptx = next(o.content.decode() for o in built.outputs if o.path.suffix == ".ptx")
    assert "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" in ptx
    assert ".file" in ptx
    assert "tf32_matmul.prism" in ptx


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_view_shows_something(path: Path) -> None:
    names = view_names()
    for name in ("ast", "types", "perspectives", "memory", "sync-graph", "plan", "ir", "cuda"):
        assert name in names
    (target, *_) = ONLY.get(path.stem, ("sm_80",))
    options = Options(target=TARGETS[target])
    session, again = Session(options), Session(options)
    for name in names:
        text = dump_file(session, session.files.read(str(path)), name)
        assert text, name
        assert "object at 0x" not in text, name
        assert session.problems == ()
        assert dump_file(again, again.files.read(str(path)), name) == text, name

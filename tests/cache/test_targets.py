"""Building for several targets at once gives what building for each alone gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.checker import check as checker
from prismc.checker.sync.synchronise import plan_synchronisation
from prismc.diagnostics.record import render_json
from prismc.diagnostics.sink import Sink
from prismc.driver.build import Emit, build_file
from prismc.driver.cache import Cache
from prismc.driver.checking import check_files
from prismc.driver.options import Options
from prismc.driver.session import Session
from prismc.hardware.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("sm_80", "sm_90a")

LARGE = """\
@requires(grid[1], block[1], thread[32])
@launch(threads = 32)
kernel k(y: ptr(f32)):
    group block[1]:
        shared s: f32[45000]
        t: int @ thread[1] = id()
        partition s as mine @ thread[1] at t:
            mine[0] = y[t]
"""


def outcome(text: str, targets: tuple[str, ...]) -> tuple[dict[str, bytes], str]:
    """The CUDA texts, and what is said."""
    session = Session(Options())
    file = session.files.overlay("k.prism", text)
    chosen = tuple(TARGETS[name] for name in targets)
    built = build_file(
        session,
        file,
        chosen,
        (Emit.CUDA,),
        lambda target, kind: Path(target.name if target else ""),
    )
    outputs = () if built is None else built.outputs
    texts = {str(output.path): output.content for output in outputs}
    return texts, render_json(session.problems, session.files)


@pytest.mark.parametrize("name", ["saxpy", "tf32_matmul", "prefix_scan"])
def test_each_target_gets_its_own_code(name: str) -> None:
    text = (ROOT / "examples" / f"{name}.prism").read_text()
    together, _ = outcome(text, NAMES)
    assert set(together) == set(NAMES)
    for target in NAMES:
        assert outcome(text, (target,))[0] == {target: together[target]}


def test_what_only_a_further_target_refuses_is_told() -> None:
    """180,000 bytes of shared memory are too many for sm_80, not for sm_90a."""
    assert outcome(LARGE, ("sm_90a",))[0] != {}
    alone = outcome(LARGE, ("sm_80",))
    assert alone[0] == {}
    assert outcome(LARGE, ("sm_90a", "sm_80")) == alone
    assert outcome(LARGE, ("sm_80", "sm_90a")) == alone


# ------------------------------------------------------------------ checks

HEAD = "@requires(grid[1], block[1], thread[32])\n@launch(threads = 32)\n"
RACE = (
    HEAD
    + """\
kernel k(y: ptr(f32)):
    group block[1]:
        shared s: f32[32]
        t: int @ thread[1] = id()
        partition s as mine @ thread[1] at 0:
            group thread[1]:
                mine[t / 2] = y[t]
"""
)
PROGRAMS = {
    "saxpy": (ROOT / "examples" / "saxpy.prism").read_text(),
    "hopper_matmul": (ROOT / "examples" / "hopper_matmul.prism").read_text(),
    "large": LARGE,
    "large, and a race": LARGE + RACE.replace("kernel k", "kernel race"),
    "a race": RACE,
    "syntax": RACE.replace("group thread[1]:", "group thread[1]"),
    "a name": RACE.replace("y[t]", "z[t]"),
    "a test": RACE + 'test "no such kernel":\n    launch j[1](1)\n',
    "missing import": f"from nowhere import x\n{RACE}",
}


def told(text: str, targets: tuple[str, ...], cache: Cache | None = None) -> Session:
    """A session that has checked a text for targets."""
    session = Session(Options(), cache=cache)
    file = session.files.overlay("k.prism", text)
    check_files(session, [file], [Options(target=TARGETS[name]) for name in targets])
    return session


def shown(session: Session) -> str:
    return render_json(session.sink.problems(), session.files)


@pytest.mark.parametrize(
    "targets",
    [("sm_80", "sm_90a"), ("sm_90a", "sm_80"), ("sm_75", "sm_86", "sm_90a")],
    ids="/".join,
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_check_for_several_targets_says_what_one_for_each_says(
    name: str, targets: tuple[str, ...], tmp_path: Path
) -> None:
    """And each of them is remembered by itself."""
    text, cache = PROGRAMS[name], Cache(tmp_path)
    alone = {target: told(text, (target,)) for target in targets}
    union = Sink()
    for session in alone.values():
        union.report_all(session.sink.problems())
    together = told(text, targets, cache)
    assert shown(together) == render_json(union.problems(), together.files)
    for target in targets:
        assert shown(told(text, (target,), cache)) == shown(alone[target])


def test_targets_share_an_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none refuses anything, and those have mbarriers that the first has."""
    plans = []

    def counted(*arguments: object) -> object:
        plans.append(arguments)
        return plan_synchronisation(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(checker, "plan_synchronisation", counted)
    told(PROGRAMS["saxpy"], ("sm_80", "sm_86", "sm_90a"))
    assert len(plans) == 1
    told(PROGRAMS["saxpy"], ("sm_75", "sm_80", "sm_90a"))
    assert len(plans) == 3


def test_mbarriers_of_operations_that_a_target_lacks_are_told_of_these() -> None:
    """Bulk copies complete mbarriers, and sm_75 has neither."""
    problems = told(PROGRAMS["hopper_matmul"], ("sm_75",)).problems
    assert {problem.code for problem in problems} == {"P0503", "P0510"}

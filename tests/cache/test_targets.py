"""Building for several targets at once gives what building for each alone gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.diagnostics.record import render_json
from prismc.driver.build import Emit, build_file
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

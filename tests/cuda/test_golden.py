"""The generated text of a few programs, whole. `make bless` rewrites the `.cu` files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prismc.driver.build import Emit, build_file
from prismc.driver.options import Options
from prismc.driver.session import Session
from prismc.hardware.targets import TARGETS

FOLDER = Path(__file__).parent / "golden"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.prism"))


def generated(name: str) -> str:
    session = Session(Options())
    file = session.files.overlay(f"{name}.prism", (FOLDER / f"{name}.prism").read_text())
    target = TARGETS["sm_80"]
    # Compiled as well: a golden file shows text that a compiler accepts.
    built = build_file(
        session, file, [target], [Emit.CUDA, Emit.CUBIN], lambda _, kind: Path(kind.value)
    )
    assert built is not None, [problem.shown_message() for problem in session.problems]
    assert not session.problems
    return built.outputs[0].content.decode()


@pytest.mark.parametrize("name", PROGRAMS)
def test_golden(name: str) -> None:
    text, path = generated(name), FOLDER / f"{name}.cu"
    if os.environ.get("PRISMC_BLESS"):
        path.write_text(text)
    assert path.read_text() == text

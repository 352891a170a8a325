"""Whatever a file holds, checking it ends in located diagnostics, never in a traceback.

A sample; `benchmarks/fuzz.py` runs as many as one likes, with limits of time and memory.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from prismc.diagnostics.text import render_problem
from prismc.driver.inputs import open_root
from prismc.driver.options import Options
from prismc.driver.pipeline import check_file
from prismc.driver.session import Session
from support.mutations import extremes, mutate

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "examples").glob("*.prism")) + sorted((ROOT / "stdlib").glob("*.prism"))
SEEDS = range(12)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_mutations(path: Path, tmp_path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    broken = tmp_path / "broken.prism"
    for seed in SEEDS:
        broken.write_bytes(mutate(source, seed))
        session = Session(Options())
        file = open_root(session, str(broken))
        if file is not None:
            check_file(session, file)
        for problem in session.problems:
            assert problem.at.file, f"seed {seed}: {problem.shown_message()}"
            text = session.files.known(problem.at.file).text
            assert 0 <= problem.at.start <= problem.at.end <= len(text), f"seed {seed}"
            assert render_problem(problem, session.files)


@pytest.mark.parametrize("name", list(extremes()))
def test_extremes(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.prism"
    path.write_bytes(extremes()[name])
    process = subprocess.run(
        [sys.executable, "-m", "prismc", "check", str(path)],
        capture_output=True,
        check=False,
        timeout=300,
        preexec_fn=limit_memory,
    )
    assert process.returncode in (0, 1), process.stderr.decode()[-2_000:]
    assert b"Traceback" not in process.stderr
    if process.returncode:
        assert f"{name}.prism:".encode() in process.stdout
    assert len(process.stdout) < 200_000


def limit_memory() -> None:
    """One GiB of data, besides the deep stack that is reserved and hardly touched."""
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

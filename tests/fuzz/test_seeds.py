"""What fuzzing found, and inputs that reach much of prismc: each through every part that reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.fuzzing import TARGETS

SEEDS = sorted((Path(__file__).parent / "seeds").iterdir())


@pytest.mark.parametrize("target", ["check", "fmt", "lsp"])
@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.name)
def test_seed(seed: Path, target: str) -> None:
    TARGETS[target](seed.read_bytes())

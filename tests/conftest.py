"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Results are kept apart from the user's, and from those of other runs of the suite."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRISMC_CACHE", str(tmp_path_factory.mktemp("cache")))
        if os.environ.get("PYTHONDONTWRITEBYTECODE"):
            # The many processes that tests start would each compile prismc's own code.
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("bytecode")))
        yield

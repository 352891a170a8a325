"""What all tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from prismc.cli.entry import NEW_OBJECTS


def pytest_collection_finish() -> None:
    """No searches for garbage among the thousands of tests themselves; fewer of them, as in a
    process of prismc: a fifteenth of the suite's time."""
    gc.set_threshold(NEW_OBJECTS)
    gc.freeze()


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


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs in its temporary folder."""
    monkeypatch.chdir(tmp_path)

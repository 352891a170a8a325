"""Where the cache lies, by system and environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prismc.source.cache_folder import cache_folder


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"PRISMC_CACHE": "/c"}, "/c"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/prismc"),
        ("linux", {"HOME": "/h"}, "/h/.cache/prismc"),
        ("linux", {"HOME": "/h", "XDG_CACHE_HOME": "relative"}, "/h/.cache/prismc"),
        ("linux", {"HOME": "nowhere"}, os.devnull),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/prismc"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/prismc/Cache"),
    ],
)
def test_cache_folder(
    platform: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PRISMC_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path(expected)

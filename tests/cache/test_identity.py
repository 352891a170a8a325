"""Which compiler results are of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from prismc.driver.compilers import tool_identity
from prismc.source import identity
from prismc.source.version import VERSION


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package folder that is taken for prismc's own."""
    folder = tmp_path / "prismc"
    folder.mkdir()
    (folder / "a.py").write_text("A = 1\n")
    monkeypatch.setattr(identity, "_PACKAGE", folder)
    identity.compiler_identity.cache_clear()
    yield folder
    identity.compiler_identity.cache_clear()


def now() -> str:
    identity.compiler_identity.cache_clear()
    return identity.compiler_identity()


def test_a_checkout_is_its_files(package: Path) -> None:
    first = now()
    assert now() == first
    (package / "a.py").write_text("A = 2\n")
    os.utime(package / "a.py", (5, 5))
    second = now()
    (package / "b.py").write_text("")
    third = now()
    (package / "notes.md").write_text("no code")
    assert now() == third
    assert len({first, second, third}) == 3
    assert identity.compiler_file() == package / "source" / "version.py"


def test_an_installation_is_what_it_lists(package: Path) -> None:
    record = package.parent / f"prismc-{VERSION}.dist-info" / "RECORD"
    record.parent.mkdir()
    own = "prismc/a.py,sha256=abc,6\n"
    record.write_text(own)
    assert identity.compiler_file() == record
    first = now()
    os.utime(package / "a.py", (5, 5))
    record.write_text(f"bin/prismc,sha256=x,1\n{own}prismc/__pycache__/a.cpython-311.pyc,,\n")
    assert now() == first
    record.write_text(own.replace("abc", "abd"))
    assert now() != first


def test_tools_are_told_apart(tmp_path: Path) -> None:
    """By their size and both ends: whole ones are large."""
    tool = tmp_path / "tool"
    seen = set()
    for content in (b"", b"a", b"b", b"a" * 300_000, b"a" * 299_999 + b"b", b"b" + b"a" * 299_999):
        tool.write_bytes(content)
        seen.add(tool_identity([str(tool)]))
        os.utime(tool, (7, 7))
        assert tool_identity([str(tool)]) in seen
    assert len(seen) == 6
    with pytest.raises(OSError, match="missing"):
        tool_identity([str(tmp_path / "missing")])

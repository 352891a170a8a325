"""The command itself, and what it costs those who do not use it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from prismc.cli import lsp
from prismc.cli.main import run


def test_without_the_library(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lsp, "find_spec", lambda name: None)
    assert run(["lsp"]) == 2
    assert "pip install 'prismc[lsp]'" in capsys.readouterr().err


def test_other_commands_do_not_load_it() -> None:
    program = (
        "import sys; from prismc.cli.main import run; run(['check', '-']); run(['lsp', '--help']);"
        "print(sorted(m for m in sys.modules if m.startswith(('pygls', 'lsprotocol', 'asyncio', "
        "'prismc.lsp'))))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        input="const N: int = 1\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.endswith("\n[]\n")


def test_an_editor_that_goes_away_ends_the_server() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "prismc", "lsp", "--stdio"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 1
    assert result.stdout == b""
    assert b"Traceback" not in result.stderr

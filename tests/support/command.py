"""The command line, run in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from prismc.cli.main import run


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Runner = Callable[..., Ran]


def runner(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *command: str
) -> Runner:
    """What runs `command` with more arguments, and bytes as its standard input."""

    def run_command(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run([*command, *arguments])
        sys.stdout.flush()
        return Ran(code, *capfd.readouterr())

    return run_command

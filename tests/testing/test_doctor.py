"""`prismc doctor`: what is there, what is missing, what that costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prismc.cli.main import run as prismc


def _told(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    code = prismc(["doctor", "--format", "json"])
    record = json.loads(capsys.readouterr().out)
    assert record["version"] == 1
    return code, {part["name"]: part for part in record["parts"]}


def test_all_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, parts = _told(capsys)
    assert code == 0
    assert parts["NVRTC"]["found"]
    assert parts["NVRTC"]["version"].startswith("1")
    for part in parts.values():
        assert part["found"] == (not part["problem"])
        assert part["found"] or (part["cost"] and part["remedy"])


def test_nothing_is_built_without_a_compiler(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRISMC_NVRTC", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    code, parts = _told(capsys)
    assert code == 2
    assert "where no NVRTC library is" in parts["NVRTC"]["problem"]
    assert parts["C compiler"]["problem"] == "no C compiler was found"
    assert prismc(["doctor"]) == 2
    shown = capsys.readouterr().out
    assert "FAIL  NVRTC" in shown
    assert "costs: nothing can be compiled" in shown


def test_tools_that_do_not_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in (("cc", "#!/no/such/shell\n"), ("nvcc", "#!/bin/sh\necho release 99.7, V\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setenv("CC", str(tmp_path / "cc"))
    for name in ("CUDA_HOME", "CUDA_PATH", "PRISMC_NVCC"):
        monkeypatch.delenv(name, raising=False)
    _, parts = _told(capsys)
    assert parts["C compiler"]["problem"].startswith("it does not start: ")
    assert parts["nvcc"]["version"] == "99.7"
    assert parts["ptxas"]["problem"] == "no `ptxas` stands beside nvcc"

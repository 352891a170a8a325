"""Plans of programs that load and store through tensor maps: each operation is missed when left
out."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from prismc.cli.main import run

PAGE = Path(__file__).resolve().parents[1] / "spec" / "tensors.md"
PROGRAMS = {
    match["number"]: match["program"]
    for match in re.finditer(
        r"^### A-tensor-(?P<number>\d+) .*?^```prism\n(?P<program>.*?)^```",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
}
PROOFS = {
    "1": (2, ["n=3", "B=zeros(16, 64)"]),
    "2": (2, ["B=zeros(16, 64)"]),
    "5": (2, ["B=zeros(16, 64)", "Y=zeros(1024)"]),
    "7": (2, ["down=4", "across=2", "B=zeros(32, 64)"]),
    "8": (2, ["B=zeros(32, 64)"]),
    "10": (2, ["B=zeros(16, 64)", "Y=zeros(512)", "done=zeros(1)"]),
    "13": (2, ["n=4", "B=zeros(40, 64)"]),
    "12": (2, ["n=6", "B=randn(48, 64)"]),
    "14": (2, ["B=zeros(16, 96)", "Y=zeros(1024)"]),
    "27": (2, ["down=5", "across=3", "X=randn(40, 96)", "Y=zeros(40, 96)"]),
    "28": (2, ["down=4", "across=3", "Y=randn(32, 96)"]),
}


@pytest.mark.parametrize("number", PROOFS)
def test_every_operation_is_missed(
    number: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "program.prism"
    file.write_text(PROGRAMS[number], encoding="utf-8")
    grid, texts = PROOFS[number]
    arguments = [word for text in texts for word in ("--arg", text)]
    words = ["--prove", "--grid", str(grid), *arguments, "--schedules", "6", "--format", "json"]
    run(["sync", str(file), "--target", "sm_90", *words])
    sys.stdout.flush()
    record = json.loads(capfd.readouterr().out)
    assert record["proof"]["holds"], record["proof"]

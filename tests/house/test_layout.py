"""The shape of the source tree, as CONTRIBUTING.md describes it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "src" / "prismc").rglob("*.py"))
LONGEST = 600


def test_init_files_are_empty() -> None:
    # A re-export in a package pulls other packages in at run time, unseen by the import linter.
    # The package's own front, `prismc.load`, imports nothing before it is asked (decision 0090).
    front = ROOT / "src/prismc/__init__.py"
    packages = [p for p in MODULES if p.name == "__init__.py" and p != front]
    full = [str(p.relative_to(ROOT)) for p in packages if p.stat().st_size]
    assert full == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_module(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST, "split this module"
    tree = ast.parse(text)
    if tree.body:
        assert ast.get_docstring(tree), "a module opens with what it promises"


def test_layers() -> None:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_checking_loads_neither_the_ir_nor_a_compiler() -> None:
    program = (
        "import sys; from prismc.cli.main import run; run(['check', '-']);"
        "print(sorted(m for m in sys.modules if m.startswith(('prismc.ir', 'prismc.backend', "
        "'prismc.emulator', 'rich', 'numpy', 'ctypes', 'dataclasses'))))"
    )
    source = (
        "@requires(grid[1], block[1], thread[32])\n@launch(threads = 32)\nkernel k():\n    pass\n"
    )
    # The first run makes the grammar's tables, for which it needs more.
    for _ in range(2):
        result = subprocess.run(
            [sys.executable, "-c", program],
            input=source,
            capture_output=True,
            text=True,
            check=True,
        )
    assert result.stdout.strip() == "[]"


def test_nobody_writes_to_a_record() -> None:
    # Facts are frozen: slots are filled only where records are made.
    writers = [
        str(p.relative_to(ROOT))
        for p in MODULES
        if re.search(r"object\.__setattr__|\.__set__\b", p.read_text(encoding="utf-8"))
    ]
    assert writers == ["src/prismc/source/record.py"]

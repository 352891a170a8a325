"""The grammar has no conflicts, agrees with its builder, and its cache is safe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from prismc.frontend import grammar
from prismc.frontend.build_ast import Builder
from prismc.frontend.grammar import build_tables, cached_tables, load_tables
from prismc.frontend.layout import lexer_pattern
from prismc.frontend.tables import Tables
from prismc.source.files import SourceFile
from prismc.source.resources import grammar_file

TEXT = grammar_file().read_text("utf-8")

# language.md, section 2.
RESERVED = """
import from as const def kernel export unsafe group split case first partition claim async at by
shared align layout if elif else while for in unroll static break continue return pass assert ptr
vec fn tensor_map atomic pipeline through produce consume finish test and or not true false
thread warp warpgroup block grid
""".split()


def test_reserved_words() -> None:
    assert sorted(load_tables().words) == sorted(RESERVED)


def test_only_sets_are_repeated_possessively() -> None:
    """A group that fails halfway keeps what it has read, up to Python 3.11.4 (gh-106052)."""
    tables = load_tables()
    pattern = lexer_pattern(tables.patterns, list(tables.operators))
    assert "*+" in pattern
    assert re.search(r"(?<!\\)\)[*+?]\+", pattern) is None


def test_every_action_is_a_method_and_every_method_an_action() -> None:
    actions = {rule.action for rule in load_tables().rules if rule.action}
    builder = Builder(SourceFile("x", ""))
    methods = {name for name in dir(builder) if not name.startswith("_")}
    assert actions == methods - {"problems", "next_id", "number_from"}


def test_a_rule_without_action_has_one_symbol() -> None:
    assert {rule.length for rule in load_tables().rules if not rule.action} == {1}


@pytest.mark.parametrize(
    "rules",
    [
        'module: a | b\na: "x"\nb: "x"\n',  # reduce or reduce
        'module: e\ne: e "+" e | "x"\n',  # shift or reduce
    ],
)
def test_conflicts_are_refused(rules: str) -> None:
    from lark.exceptions import GrammarError

    with pytest.raises(GrammarError):
        build_tables(rules)


def same(left: Tables, right: Tables) -> bool:
    """Whether two tables are the same up to the numbers of their states."""
    return left.terminals == right.terminals and left.rules == right.rules


def test_the_cache_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = cached_tables(TEXT, tmp_path / "deep" / "folder")

    def fail(_: str) -> Tables:
        raise AssertionError("the cache was not used")

    monkeypatch.setattr(grammar, "build_tables", fail)
    assert cached_tables(TEXT, tmp_path / "deep" / "folder") == built


def test_another_grammar_is_built(tmp_path: Path) -> None:
    cached_tables(TEXT, tmp_path)
    small = cached_tables('module: "x"\n', tmp_path)
    assert "x" in small.terminals
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "other"])
def test_a_damaged_cache_is_built_again(tmp_path: Path, damage: str) -> None:
    good = cached_tables(TEXT, tmp_path)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(
        {
            "empty": b"",
            "short": content[:middle],
            "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
            "other": b"\x00" * len(content),
        }[damage]
    )
    assert same(cached_tables(TEXT, tmp_path), good)
    assert len(path.read_bytes()) == len(content)


def test_a_full_disk_leaves_no_part_of_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    assert cached_tables(TEXT, tmp_path).rules
    assert not list(tmp_path.iterdir())


def test_an_unwritable_cache_is_harmless(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert same(cached_tables(TEXT, blocked), load_tables())


def test_reading_the_cache_does_not_import_lark(tmp_path: Path) -> None:
    program = (
        "import sys; from prismc.frontend.grammar import load_tables; load_tables();"
        "print('lark' in sys.modules)"
    )
    environment = os.environ | {
        "PRISMC_CACHE": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert outputs == ["True", "False"]

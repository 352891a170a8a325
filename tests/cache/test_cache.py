"""The cache on the disk: what is kept, what is discarded, who waits for whom."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from prismc.cli.main import run
from prismc.driver.cache import Cache, open_cache
from prismc.frontend.grammar import build_tables, cached_tables
from prismc.source.digest import digest, text_digest
from prismc.source.resources import grammar_file

KEY = text_digest("a key")


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_records_and_contents_come_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.recall(KEY) is None
    cache.remember(KEY, {"a": [1, "ü", None, 2.5]})
    assert Cache(tmp_path).recall(KEY) == {"a": [1, "ü", None, 2.5]}
    name = cache.keep(b"\0content")
    assert name == digest(b"\0content")
    assert Cache(tmp_path).content(name) == b"\0content"
    assert cache.content(digest(b"another")) is None


@pytest.mark.parametrize("damage", [b"", b"garbage", b"0" * 32 + b"{}"])
def test_a_damaged_entry_is_discarded(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    cache.remember(KEY, {"a": 1})
    (place,) = entries(tmp_path)
    place.write_bytes(damage)
    assert cache.recall(KEY) is None
    assert entries(tmp_path) == []
    cache.remember(KEY, {"a": 1})
    assert cache.recall(KEY) == {"a": 1}


def test_an_entry_is_no_other_keys(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.remember(KEY, "mine")
    (place,) = entries(tmp_path)
    other = KEY[:-1] + ("0" if KEY[-1] != "0" else "1")
    place.rename(place.with_name(other))
    assert cache.recall(other) is None


def in_shard(number: int) -> bytes:
    """A content of 100 bytes whose entry is in the shard "a"."""
    texts = (f"{number} {nonce}".ljust(100).encode() for nonce in range(10_000))
    return next(text for text in texts if digest(text).startswith("a"))


def test_what_was_unused_for_longest_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=16 * 500)  # three entries of 132 bytes a shard
    contents = [in_shard(number) for number in range(4)]
    names = [cache.keep(content) for content in contents[:3]]
    for age, place in enumerate(entries(tmp_path)):
        os.utime(place, (1_000 + age, 1_000 + age))
    oldest = min(entries(tmp_path), key=lambda path: path.stat().st_mtime).name
    names.append(cache.keep(contents[3]))
    assert {name for name in names if cache.content(name) is None} == {oldest}
    assert cache.state().size <= 16 * 500


def test_reading_makes_an_entry_young(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=16 * 500)
    contents = [in_shard(number) for number in range(4)]
    names = [cache.keep(content) for content in contents[:3]]
    for place in entries(tmp_path):
        os.utime(place, (1_000, 1_000))
    assert cache.content(names[1]) == contents[1]
    cache.keep(contents[3])
    assert cache.content(names[1]) == contents[1]


def test_what_exceeds_the_limit_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=0)
    cache.remember(KEY, 1)
    assert cache.recall(KEY) is None
    assert entries(tmp_path) == []


def test_drafts_of_the_dead_are_swept(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.remember(KEY, 1)
    (place,) = entries(tmp_path)
    draft = place.with_name(f"{place.name}.1-1.draft")
    draft.write_bytes(b"part")
    cache.remember(KEY, 2)
    assert draft.exists()  # its process may be alive
    os.utime(draft, (1_000, 1_000))
    cache.remember(KEY, 3)
    assert not draft.exists()
    assert cache.recall(KEY) == 3


@pytest.mark.parametrize("folder", ["/proc/nothing", os.devnull, "/dev/null/below"])
def test_a_cache_that_cannot_be_written_costs_nothing_but_time(folder: str) -> None:
    cache = Cache(Path(folder))
    cache.remember(KEY, 1)
    assert cache.keep(b"x") == digest(b"x")
    with cache.alone(KEY):
        assert cache.recall(KEY) is None
    assert cache.state().entries == 0
    assert cache.clear() == 0


def test_one_works_and_the_other_waits(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with Cache(tmp_path).alone(KEY):
            order.append("second")

    with Cache(tmp_path).alone(KEY):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


HOLDS = """
import sys, time
from pathlib import Path
from prismc.driver.cache import Cache
with Cache(Path(sys.argv[1])).alone(sys.argv[2]):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, str(tmp_path), KEY]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        process.kill()
        process.wait()
    started = time.monotonic()
    with Cache(tmp_path).alone(KEY):
        assert time.monotonic() - started < 300


# --------------------------------------------------------------------------- the command


def test_info_path_and_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PRISMC_CACHE", str(tmp_path))
    monkeypatch.setenv("PRISMC_CACHE_SIZE", "2g")
    grammar = grammar_file().read_text()
    cached_tables(grammar, tmp_path)
    (tmp_path / "mine.txt").write_text("not prismc's")
    open_cache().keep(b"x" * 3_000)
    assert run(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}\n"
    assert run(["cache", "info"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == [f"folder   {tmp_path}", "entries  2"]
    assert told[2].endswith(" KiB of 2.0 GiB")
    assert run(["cache", "clear"]) == 0
    assert capsys.readouterr().out.endswith(" KiB removed\n")
    assert entries(tmp_path) == [tmp_path / "mine.txt"]
    assert cached_tables(grammar, tmp_path).rules == build_tables(grammar).rules


@pytest.mark.parametrize("size", ["many", "5x", "1.5G", "-1", "M", "5MB"])
def test_a_limit_that_is_none(
    size: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PRISMC_CACHE_SIZE", size)
    assert run(["cache", "info"]) == 2
    assert f"PRISMC_CACHE_SIZE is `{size}`" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "limit"), [("0", 0), ("7", 7), ("3K", 3 << 10), ("1m", 1 << 20)])
def test_limits(text: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISMC_CACHE_SIZE", text)
    assert open_cache().limit == limit

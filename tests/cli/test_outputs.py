"""Outputs are written whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prismc.driver import outputs
from prismc.driver.outputs import Output, write_outputs


def test_writes_several_and_makes_folders(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "b.ptx", tmp_path / "c.cubin"
    write_outputs([Output(path=first, content=b"one"), Output(path=second, content=b"two")])
    assert first.read_bytes() == b"one"
    assert second.read_bytes() == b"two"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "b.ptx", "c.cubin"]


def test_equal_content_gets_a_new_time(tmp_path: Path) -> None:
    """make would build an output again for ever that stays older than its source."""
    path = tmp_path / "k.ptx"
    write_outputs([Output(path=path, content=b"same")])
    os.utime(path, (1_000, 1_000))
    write_outputs([Output(path=path, content=b"same")])
    assert path.stat().st_mtime > 1_000


def test_permissions_of_the_old_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_outputs([Output(path=path, content=b"new")])
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real.ptx"
    real.write_bytes(b"old")
    link = tmp_path / "link.ptx"
    link.symlink_to(real)
    write_outputs([Output(path=link, content=b"new")])
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_what_is_no_file_is_written_through() -> None:
    write_outputs([Output(path=Path(os.devnull), content=b"gone")])
    assert not Path(os.devnull).is_file()


def test_all_or_nothing(tmp_path: Path) -> None:
    good = tmp_path / "good.ptx"
    good.write_bytes(b"old")
    blocked = tmp_path / "file" / "bad.ptx"
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        write_outputs([Output(path=good, content=b"new"), Output(path=blocked, content=b"new")])
    assert good.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "good.ptx"]


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc")
def test_errors_name_the_output() -> None:
    with pytest.raises(OSError, match=r"k\.cubin") as raised:
        write_outputs([Output(path=Path("/proc/k.cubin"), content=b"one")])
    assert raised.value.filename == "/proc/k.cubin"


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    old = tmp_path / "k.ptx"
    old.write_bytes(b"old")
    monkeypatch.setattr(outputs.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_outputs([Output(path=old, content=b"new")])
    assert old.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["k.ptx"]


# Writes the same two files over and over, byte by byte as it were, for a parent that kills it.
WRITER = """
import itertools, os, sys, time
from pathlib import Path
from prismc.driver import outputs
from prismc.driver.outputs import Output, write_outputs

def slow(handle):
    time.sleep(0.002)

outputs.os.fsync = slow
folder = Path(sys.argv[1])
for round in itertools.count():
    content = bytes([65 + round % 26]) * 100_000
    write_outputs([Output(path=folder / name, content=content) for name in ("a.ptx", "b.cubin")])
    if round == 0:
        print("ready", flush=True)
"""


def test_kill_never_truncates(tmp_path: Path) -> None:
    for attempt in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.0037 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for name in ("a.ptx", "b.cubin"):
            content = (tmp_path / name).read_bytes()
            assert len(content) == 100_000
            assert len(set(content)) == 1

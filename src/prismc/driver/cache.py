"""The cache on the disk: contents by their digest, records by what they were worked out from.

Processes share it without asking one another: an entry is written whole and renamed into place,
carries a digest of itself, and is never changed. One that is damaged, or gone, is one that is not
there. Nothing here raises for what the disk does: a cache that cannot be written costs time only.
"""

from __future__ import annotations

import errno
import fnmatch
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from prismc.source.cache_folder import TABLES, cache_folder
from prismc.source.digest import digest
from prismc.source.record import Value

if sys.platform != "win32":
    import fcntl

# Bytes, where PRISMC_CACHE_SIZE says nothing else.
USUAL_LIMIT = 1 << 30

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SHARDS = "0123456789abcdef"
_ENTRIES, _LOCKS = "entries", "locks"
_DRAFT = ".draft"
_DIGITS = 32  # of a digest, in front of every entry's content

# Seconds: an entry that was used is marked so at most this often; drafts older than that are left
# over from processes that were killed; and nobody waits longer for another process's result.
_MARKED_EVERY = 60
_DRAFTS_LIVE = 3600
_PATIENCE = 60


class CacheState(Value):
    """How many entries there are and how many bytes they take, of how many."""

    entries: int
    size: int
    limit: int


class Cache:
    """Entries below `folder`, of `limit` bytes at most; those unused for longest go first.

    The entries of one first digit may take a sixteenth of the limit, so that a writer looks at
    these only.
    """

    def __init__(self, folder: Path, limit: int = USUAL_LIMIT) -> None:
        self.folder = folder
        self.limit = limit

    # ------------------------------------------------------------------ records and contents

    def recall(self, key: str) -> Any:
        """The record that was kept under `key`; None where there is none."""
        content = self._read(key)
        return None if content is None else json.loads(content)

    def remember(self, key: str, record: Any) -> None:
        """Keep a record, plain data as JSON has it."""
        self._write(key, json.dumps(record, separators=(",", ":")).encode())

    def content(self, name: str) -> bytes | None:
        """The content whose digest is `name`, if it was kept."""
        return self._read(name)

    def keep(self, content: bytes) -> str:
        """Keep a content; its digest."""
        name = digest(content)
        try:
            os.utime(self._place(name))
        except OSError:
            self._write(name, content)
        return name

    def _place(self, key: str) -> str:
        return os.path.join(self.folder, _ENTRIES, key[0], key)

    def _read(self, key: str) -> bytes | None:
        place = self._place(key)
        try:
            with open(place, "rb") as file:
                used = os.fstat(file.fileno()).st_mtime
                stored = file.read()
        except OSError:
            return None
        content = stored[_DIGITS:]
        if stored[:_DIGITS] != digest(key.encode() + content).encode():
            with suppress(OSError):
                os.unlink(place)
            return None
        if time.time() - used > _MARKED_EVERY:
            with suppress(OSError):
                os.utime(place)
        return content

    def _write(self, key: str, content: bytes) -> None:
        """The entry, whole or not at all; room is made for it first."""
        place = self._place(key)
        folder = os.path.dirname(place)
        draft = f"{place}.{os.getpid()}-{time.monotonic_ns()}{_DRAFT}"
        stored = digest(key.encode() + content).encode() + content
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if not self._make_room(folder, len(stored)):
                return
            with open(draft, "xb") as file:
                file.write(stored)
            os.replace(draft, place)
        except OSError:
            with suppress(OSError):
                os.unlink(draft)

    def _make_room(self, folder: str, size: int) -> bool:
        """Remove what was unused for longest until `size` bytes more fit; False where none do."""
        room = self.limit // len(_SHARDS) - size
        if room < 0:
            return False
        entries = sorted(_entries(folder), reverse=True)
        now = time.time()
        for used, length, path in entries:
            room -= length
            is_stale = path.endswith(_DRAFT) and now - used > _DRAFTS_LIVE
            if room < 0 or is_stale:
                with suppress(OSError):
                    os.unlink(path)
        return True

    # ------------------------------------------------------------------ one at a time

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """While this process works out what `key` stands for, others wait and then find it kept.

        The system frees the lock of a process that dies. Where a lock cannot be had within a
        minute, or at all, the work is done twice, which is no harm.
        """
        handle = self._locked(key)
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)

    def _locked(self, key: str) -> int | None:
        if sys.platform == "win32":
            return None
        folder = os.path.join(self.folder, _LOCKS)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            handle = os.open(os.path.join(folder, key[:3]), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None
        give_up = time.monotonic() + _PATIENCE
        while time.monotonic() < give_up:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    break
            time.sleep(0.01)
        os.close(handle)
        return None

    # ------------------------------------------------------------------ the whole

    def state(self) -> CacheState:
        """What is there now."""
        files = self._files()
        return CacheState(entries=len(files), size=sum(f[1] for f in files), limit=self.limit)

    def clear(self) -> int:
        """Remove everything; how many bytes that were."""
        freed = 0
        for _, size, path in self._files():
            with suppress(OSError):
                os.unlink(path)
                freed += size
        return freed

    def _files(self) -> list[tuple[float, int, str]]:
        """The entries, and the tables of the grammar beside them; nobody else's files."""
        tables = [
            file
            for file in _entries(str(self.folder))
            if fnmatch.fnmatch(os.path.basename(file[2]), TABLES)
        ]
        shards = [os.path.join(self.folder, _ENTRIES, shard) for shard in _SHARDS]
        return tables + [file for folder in shards for file in _entries(folder)]


def open_cache() -> Cache:
    """The user's cache, as the environment says.

    Raises ValueError where PRISMC_CACHE_SIZE is no size.
    """
    return Cache(cache_folder(), _limit(os.environ.get("PRISMC_CACHE_SIZE", "")))


def _limit(text: str) -> int:
    """`500M` in bytes. Raises ValueError."""
    if not text:
        return USUAL_LIMIT
    number, unit = text.rstrip("KMGkmg"), text[-1].lower() if text[-1].isalpha() else ""
    if not number.isascii() or not number.isdigit() or len(text) - len(number) > 1:
        raise ValueError(f"PRISMC_CACHE_SIZE is `{text}`, no size such as `500M`, `2G` or `0`")
    return int(number) * _UNITS[unit]


def _entries(folder: str) -> list[tuple[float, int, str]]:
    """When each file of a folder was used last, its size and its path."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):  # another process has removed it
                    if entry.is_file(follow_symlinks=False):
                        state = entry.stat(follow_symlinks=False)
                        found.append((state.st_mtime, state.st_size, entry.path))
    except OSError:
        return []
    return found

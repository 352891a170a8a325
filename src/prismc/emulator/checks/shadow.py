"""Who touched memory last: for each granule of a region the last accesses that may still race.

A granule is 4 bytes, or less once narrower accesses occur. Threads are numbered in the grid, plus
one, so that 0 means nobody. Of writers the last one is enough; readers are in `readers`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prismc.emulator.checks.readers import (
    LOW,
    STAMP_SHIFT,
    Access,
    Earlier,
    Table,
    ThreadTable,
    WarpTable,
)
from prismc.emulator.memory import Region
from prismc.emulator.semantics.registry import Lanes


class LastTable:
    """For each granule the last writer, packed: the stamp above, the thread's number plus one."""

    def __init__(self, granules: int) -> None:
        self.word: Lanes = np.zeros(granules, np.int64)
        self.site: Lanes = np.zeros(granules, np.int32)

    def note(self, access: Access) -> Lanes:
        """Remembers the accesses; returns which lanes were not the last at their granule."""
        index = access.granules
        word = access.threads + (1 + (access.stamp << STAMP_SHIFT))
        self.word[index] = word
        self.site[index] = access.site
        beaten: Lanes = self.word[index] != word
        return beaten

    def threads_at(self, granules: Lanes) -> Lanes:
        """The last writers' numbers; -1 where nobody has written."""
        threads: Lanes = (self.word[granules] & LOW) - 1
        return threads

    def earlier(self, access: Access, base: Lanes) -> Iterator[Earlier]:
        """Earlier accesses that `base` (what the lanes' blocks know) does not settle."""
        return self.earlier_of(self.word[access.granules], access, base)

    def earlier_of(self, words: Lanes, access: Access, base: Lanes) -> Iterator[Earlier]:
        """The same, with the table's words at the accesses' granules already at hand."""
        open_ = np.flatnonzero(words >= base.astype(np.int64) << STAMP_SHIFT)
        if len(open_):
            words = words[open_]
            if not words.all():
                seen = words > 0
                open_, words = open_[seen], words[seen]
            stamps, threads = words >> STAMP_SHIFT, (words & LOW) - 1
            yield Earlier(open_, threads, stamps, self.site[access.granules[open_]])

    def refined(self, times: int) -> LastTable:
        """The same for granules `times` as small."""
        finer = LastTable(0)
        finer.word, finer.site = np.repeat(self.word, times), np.repeat(self.site, times)
        return finer


class Shadow:
    """The accesses to one region. Tables of readers and of strong accesses are made when needed."""

    def __init__(self, region: Region, width: int, *, is_private: bool) -> None:
        self.region = region
        self.width = width
        # Whether only the threads of one block reach each granule.
        self.is_private = is_private
        self.shift = 2
        self.writer = LastTable(self.granules)
        # The number of the asynchronous operation that writes or reads a granule; 0: none.
        self.writing: Lanes | None = None
        self.reading: Lanes | None = None
        # The latest copy of a thread that reads a granule, and how many such there are.
        self.copying: Lanes | None = None
        self.copies: Lanes | None = None
        self.tables: dict[str, Table] = {}

    @property
    def granules(self) -> int:
        return len(self.region.data) >> self.shift

    @property
    def is_marked(self) -> bool:
        """Whether there have been asynchronous operations."""
        return self.writing is not None or self.reading is not None

    def marks(self, *, writes: bool) -> Lanes:
        """The marks of asynchronous writes or reads, made when first asked for."""
        if writes:
            if self.writing is None:
                self.writing = np.zeros(self.granules, np.int32)
            return self.writing
        if self.reading is None:
            self.reading = np.zeros(self.granules, np.int32)
        return self.reading

    def copy_marks(self) -> tuple[Lanes, Lanes]:
        """The latest copy of a thread that reads each granule, and the number of such copies."""
        if self.copying is None or self.copies is None:
            self.copying = np.zeros(self.granules, np.int32)
            self.copies = np.zeros(self.granules, np.int32)
        return self.copying, self.copies

    def table(self, name: str) -> Table:
        """A table, made when first asked for."""
        if name not in self.tables:
            if self.is_private:
                self.tables[name] = WarpTable(self.granules, self.width)
            else:
                self.tables[name] = ThreadTable(self.granules, self.width)
        return self.tables[name]

    def accesses(self, own: slice) -> Iterator[tuple[Lanes, Lanes, Lanes]]:
        """All that is known about some granules: threads (-1: nobody), stamps and sites."""
        words = self.writer.word[own]
        yield (words & LOW) - 1, words >> STAMP_SHIFT, self.writer.site[own]
        for table in self.tables.values():
            if isinstance(table, ThreadTable):
                yield from table.accesses(own)

    def refine(self, size: int) -> None:
        """Makes granules small enough for accesses of `size` bytes."""
        shift = size.bit_length() - 1
        if shift >= self.shift:
            return
        times = 1 << (self.shift - shift)
        self.shift = shift
        self.writer = self.writer.refined(times)
        if self.writing is not None:
            self.writing = np.repeat(self.writing, times)
        if self.reading is not None:
            self.reading = np.repeat(self.reading, times)
        if self.copying is not None and self.copies is not None:
            self.copying, self.copies = (
                np.repeat(marks, times) for marks in (self.copying, self.copies)
            )
        self.tables = {name: table.refined(times) for name, table in self.tables.items()}

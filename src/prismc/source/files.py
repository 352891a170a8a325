"""The text of every file that one run reads, with line tables. All reading goes through here."""

from __future__ import annotations

import os
from bisect import bisect_right
from typing import BinaryIO, NamedTuple

from prismc.source.span import Span

# Bytes of a source file: far beyond all that people and generators write.
LARGEST = 64 << 20


class Position(NamedTuple):
    """A place as people count: line and column from 1, columns in characters."""

    line: int
    column: int


class UnreadableFile(Exception):
    """A file that is missing, a folder, not permitted, or not UTF-8; the text says which.

    For one that is not UTF-8, `offset` is the byte that is wrong and `before` the text before it.
    """

    def __init__(self, path: str, reason: str, offset: int | None = None, before: str = "") -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason, self.offset, self.before = path, reason, offset, before


class SourceFile:
    """A file's name as it is shown, its text, and where its lines start.

    `is_stored` is true where the text is that of the file on the disk.
    """

    def __init__(self, name: str, text: str, is_stored: bool = False) -> None:
        self.name = name
        self.text = text
        self.is_stored = is_stored
        self._starts: list[int] | None = None

    @property
    def line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0]
            at = self.text.find("\n")
            while at != -1:
                self._starts.append(at + 1)
                at = self.text.find("\n", at + 1)
        return self._starts

    def position(self, offset: int) -> Position:
        """Line and column of a character offset; an offset past the end is the end."""
        offset = min(offset, len(self.text))
        line = bisect_right(self.line_starts, offset)
        return Position(line, offset - self.line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of line `number` (from 1) without its line end."""
        starts = self.line_starts
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r")


class Files:
    """The files of one run. `overlay` gives a text without touching the disk (tests, editors)."""

    def __init__(self) -> None:
        self._files: dict[str, SourceFile] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """All files of this run, in the order they were read in."""
        return tuple(self._files)

    def overlay(self, name: str, text: str) -> SourceFile:
        """Make `text` the content of `name` for this run."""
        self._files[name] = SourceFile(name, text)
        return self._files[name]

    def overlay_bytes(self, name: str, content: bytes) -> SourceFile:
        """Make `content`, decoded as a file's would be, the content of `name` for this run.

        Raises UnreadableFile.
        """
        return self.overlay(name, _decode(name, content))

    def read(self, name: str) -> SourceFile:
        """The file called `name`, read once.

        Raises UnreadableFile.
        """
        if name not in self._files:
            text = _decode(name, _bytes(name))
            self._files[name] = SourceFile(name, text, is_stored=True)
        return self._files[name]

    def exists(self, name: str) -> bool:
        # Not `Path.is_file`, which fails on names that no system has: too long, with a zero byte.
        return name in self._files or os.path.isfile(name)

    def known(self, name: str) -> SourceFile:
        """The file called `name`, which this run has read already; an empty one if not."""
        return self._files.get(name) or SourceFile(name, "")

    def position(self, span: Span) -> Position:
        """Line and column where `span` starts."""
        return self.known(span.file).position(span.start)


def read_source(name: str, stream: BinaryIO) -> bytes:
    """All of a stream that holds a source text.

    Raises UnreadableFile for what is too long, as `/dev/zero` is, and OSError.
    """
    content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UnreadableFile(name, f"it has more than {LARGEST >> 20} MiB")
    return content


def _bytes(name: str) -> bytes:
    try:
        with open(name, "rb") as stream:
            return read_source(name, stream)
    except OSError as error:
        raise UnreadableFile(name, error.strerror or str(error)) from error
    except ValueError as error:
        raise UnreadableFile(name, str(error)) from error


def _decode(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 (byte {error.start} is 0x{content[error.start]:02x})"
        before = content[: error.start].decode("utf-8-sig")
        raise UnreadableFile(name, reason, error.start, before) from error

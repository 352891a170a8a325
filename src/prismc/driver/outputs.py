"""Writing outputs so that a reader sees the old file or the new one, never a part of either."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from prismc.diagnostics.sink import Sink
from prismc.driver.errors import CannotWrite
from prismc.source.record import Record
from prismc.source.span import NOWHERE


class Output(Record):
    """One file to write."""

    path: Path
    content: bytes


def save_outputs(sink: Sink, outputs: Sequence[Output]) -> None:
    """Write all outputs; what cannot be written is reported, and then none is."""
    try:
        write_outputs(outputs)
    except OSError as error:
        path = error.filename or outputs[0].path
        reason = error.strerror or str(error)
        sink.report(CannotWrite(at=NOWHERE, path=os.fspath(path), reason=reason))


def write_outputs(outputs: Sequence[Output]) -> None:
    """Write all outputs, or none when one cannot be prepared.

    Each goes to a temporary file in its own folder first and reaches the disk there; only when all
    are complete are they renamed into place. A file that holds the same bytes already is written
    too: make compares times, and would run a rule again for ever whose output stayed older than
    its source. Raises OSError, with every temporary file removed.
    """
    prepared: list[tuple[str, str]] = []
    try:
        for number, output in enumerate(outputs):
            target = os.path.realpath(output.path)
            with _told_of(output.path):
                _make_folder(output.path.parent)
                if os.path.exists(target) and not os.path.isfile(target):
                    _write_through(target, output.content)
                else:
                    prepared.append((_prepare(target, number, output.content), target))
        while prepared:
            os.replace(*prepared[0])
            del prepared[0]
    finally:
        for temporary, _ in prepared:
            with suppress(OSError):
                os.unlink(temporary)
    for folder in {output.path.parent: None for output in outputs}:
        _sync_folder(folder)


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Errors name the output, not the temporary file that nobody asked for."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from error


def _write_through(path: str, content: bytes) -> None:
    """Write to what is no file (`/dev/null`, a pipe): there is nothing to replace."""
    with open(path, "wb") as stream:
        stream.write(content)


def _prepare(path: str, number: int, content: bytes) -> str:
    """The name of a complete, synchronised temporary file beside `path`, with its permissions."""
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".prismc-{os.getpid()}-{number}.tmp")
    with suppress(FileNotFoundError):
        os.unlink(temporary)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(temporary, os.stat(path).st_mode & 0o777)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary


def _sync_folder(folder: Path) -> None:
    """Make the renames last; where a folder cannot be opened (Windows), the system does it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

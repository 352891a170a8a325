"""Writing outputs so that a reader sees the old file or the new one, never a part of either."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from prismc.diagnostics.sink import Sink
from prismc.driver.errors import CannotWrite
from prismc.source.digest import digest
from prismc.source.record import Record, replace
from prismc.source.span import NOWHERE

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Output(Record):
    """One file to write."""

    path: Path
    content: bytes


def save_outputs(sink: Sink, outputs: Sequence[Output]) -> bool:
    """Write all outputs; what cannot be written is reported, and then none is: False."""
    try:
        write_outputs(outputs)
    except OSError as error:
        _report(sink, error, outputs[0].path)
        return False
    return True


def refresh_times(sink: Sink, outputs: Sequence[Path], inputs: Sequence[str]) -> bool:
    """Give the present time to each output that is older than an input; False after a problem.

    They hold what they should. But make compares times: it would run a rule again for ever whose
    output stayed older than what it is made from.
    """
    times = [os.stat(name).st_mtime_ns for name in inputs if os.path.exists(name)]
    newest = max(times, default=0)
    for path in outputs:
        try:
            if os.path.isfile(path) and os.stat(path).st_mtime_ns < newest:
                os.utime(path)
        except OSError as error:
            _report(sink, error, path)
            return False
    return True


def holds(path: Path, content: bytes) -> bool:
    """Whether `path` is a file with exactly this content."""
    try:
        if os.stat(path).st_size != len(content) or not os.path.isfile(path):
            return False
        return path.read_bytes() == content
    except OSError:
        return False


def holds_digest(path: Path, name: str) -> bool:
    """Whether `path` is a file whose content has this digest."""
    try:
        return os.path.isfile(path) and digest(path.read_bytes()) == name
    except OSError:
        return False


def _report(sink: Sink, error: OSError, path: Path) -> None:
    reason = error.strerror or str(error)
    shown = os.fspath(error.filename or path)
    problem = CannotWrite(at=NOWHERE, path=shown, reason=reason)
    if error.errno in _FULL:
        problem = replace(problem, remedy="make room there, or name an output elsewhere")
    sink.report(problem)


def write_outputs(outputs: Sequence[Output]) -> None:
    """Write all outputs, or none when one cannot be prepared.

    Each goes to a temporary file in its own folder first and reaches the disk there; only when all
    are complete are they renamed into place, in this order. Raises OSError, with every temporary
    file removed.
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

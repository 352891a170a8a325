"""From the paths of a command line to the root files of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from prismc.driver.errors import FileUnreadable, NoPrismFiles, NotText
from prismc.driver.session import Session
from prismc.source.files import SourceFile, UnreadableFile, read_source
from prismc.source.span import NOWHERE, Span

STANDARD_INPUT = "<stdin>"


def root_files(session: Session, paths: Iterable[str]) -> list[SourceFile]:
    """The files that `paths` name, folders searched for `*.prism`, each once, in order.

    `-` is standard input. What cannot be read is reported and left out.
    """
    names: dict[str, None] = {}
    for path in paths:
        names.update(dict.fromkeys(_expanded(session, path)))
    files = (open_root(session, name) for name in names)
    return [file for file in files if file is not None]


def open_root(session: Session, name: str) -> SourceFile | None:
    """One root file; None with a problem reported where it cannot be read or is not UTF-8."""
    try:
        if name == "-":
            return session.files.overlay_bytes(STANDARD_INPUT, _standard_input())
        return session.files.read(name)
    except UnreadableFile as error:
        session.sink.report(_unreadable(session, error))
        return None


def _standard_input() -> bytes:
    """All of standard input. Raises UnreadableFile."""
    if sys.stdin is None:  # closed by the caller
        raise UnreadableFile(STANDARD_INPUT, "it is closed")
    try:
        return read_source(STANDARD_INPUT, sys.stdin.buffer)
    except OSError as error:
        raise UnreadableFile(STANDARD_INPUT, error.strerror or str(error)) from error


def _expanded(session: Session, path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    found = sorted(str(file) for file in Path(path).rglob("*.prism") if _is_wanted(file, path))
    if not found:
        session.sink.report(NoPrismFiles(at=NOWHERE, path=path))
    return found


def _is_wanted(file: Path, root: str) -> bool:
    """Whether a file found below `root` is meant: hidden folders (environments, caches) are not."""
    return file.is_file() and not any(p.startswith(".") for p in file.relative_to(root).parts)


def _unreadable(session: Session, error: UnreadableFile) -> FileUnreadable | NotText:
    if error.offset is None:
        return FileUnreadable(at=NOWHERE, path=error.path, reason=error.reason)
    # Show the place in what can be read of the file.
    shown = session.files.overlay(error.path, error.before)
    at = Span(error.path, len(shown.text), len(shown.text))
    return NotText(at=at, path=error.path, reason=error.reason)

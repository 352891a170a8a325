"""A folder where programs of a toolchain find their inputs and leave what they make."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prismc.backend.toolchain.compilation import ToolchainFailure


@contextmanager
def workshop() -> Iterator[Path]:
    """The folder, which is gone afterwards. Raises ToolchainFailure where it cannot be written."""
    try:
        with tempfile.TemporaryDirectory(prefix="prismc-") as name:
            yield Path(name).resolve()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ToolchainFailure(
            f"temporary files cannot be written: {reason}", more_room()
        ) from error


def at_work(folder: Path) -> dict[str, str]:
    """The environment of a program that is to have its own temporary files there too."""
    return os.environ | {"TMPDIR": str(folder)}


def more_room() -> str:
    """What helps where temporary files find no room."""
    return f"make room in {tempfile.gettempdir()}, or set TMPDIR to another folder"

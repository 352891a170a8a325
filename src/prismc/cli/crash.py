"""What a user sees of a defect of prismc: what happened, where the details are, what to do."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback

from prismc.source.version import VERSION


def tell_crash(error: BaseException, arguments: list[str]) -> None:
    """Write the details to a file (or show them, with PRISMC_DEBUG=1) and say so in a few lines."""
    what = f"{type(error).__name__}: {error}".split("\n")[0][:300]
    lines = [
        f"prismc: internal error: {what}",
        "This is a defect of prismc, not of your program; no output was written.",
    ]
    details = _details(error, arguments)
    if os.environ.get("PRISMC_DEBUG") == "1":
        lines.insert(0, details)
    else:
        place = _saved(details)
        lines.append(
            f"Please report it with the program and this file: {place}"
            if place
            else "Please report it with the program and what PRISMC_DEBUG=1 shows."
        )
    sys.stderr.write("\n".join(lines) + "\n")


def _details(error: BaseException, arguments: list[str]) -> str:
    trace = "".join(traceback.format_exception(error, limit=-60))
    system = f"Python {platform.python_version()}, {platform.platform()}"
    return f"prismc {VERSION}, {system}\narguments: {arguments}\n{trace}"


def _saved(details: str) -> str | None:
    try:
        handle, name = tempfile.mkstemp(prefix="prismc-crash-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(details)
    except OSError:
        return None
    return name

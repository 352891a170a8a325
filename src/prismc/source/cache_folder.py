"""Where prismc keeps what it can make again: the grammar's tables, results of checks and builds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# The names of the files with the grammar's tables.
TABLES = "grammar-*.tables"


def cache_folder() -> Path:
    """Where prismc keeps what it can make again; PRISMC_CACHE overrides it.

    The places are those of the XDG specification and of the two other systems. The package
    `platformdirs` says the same, but importing it takes longer than reading the tables.
    """
    if named := os.environ.get("PRISMC_CACHE"):
        return Path(named)
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        return Path(os.devnull)  # a user without a home: nothing can be written below this
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home, "prismc", "Cache")
    if sys.platform == "darwin":
        return Path(home, "Library", "Caches", "prismc")
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named if os.path.isabs(named) else Path(home, ".cache"), "prismc")

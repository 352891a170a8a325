"""Which compiler this is: what results that are kept beyond one process depend on."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path

from prismc.source.digest import text_digest
from prismc.source.resources import grammar_file
from prismc.source.version import VERSION

_PACKAGE = Path(__file__).resolve().parent.parent


def compiler_file() -> Path:
    """A file that is new with every installation: rules of make and Ninja name it.

    That of a wheel is the list of installed files, whose folder has the version in its name.
    """
    listed = _PACKAGE.parent / f"prismc-{VERSION}.dist-info" / "RECORD"
    return listed if listed.is_file() else _PACKAGE / "source" / "version.py"


@lru_cache(maxsize=1)
def compiler_identity() -> str:
    """A digest of the compiler's own code and of the Python that runs it.

    An installed compiler is told by the list of its files, which holds their digests: the same on
    every machine. One that runs from a checkout is told by sizes and times of its files.
    """
    file = compiler_file()
    own = _listed(file) if file.name == "RECORD" else _state_of_checkout()
    return text_digest(f"{VERSION} {sys.implementation.cache_tag} {own}")


def _listed(record: Path) -> str:
    """The package's own files with their digests; not the bytecode, nor where it came from."""
    lines = record.read_text(encoding="utf-8").splitlines()
    own = (line for line in lines if line.startswith(f"{_PACKAGE.name}/") and ".pyc," not in line)
    return text_digest("\n".join(sorted(own)))


def _state_of_checkout() -> str:
    states = [_state(str(grammar_file()))]
    for folder, folders, names in os.walk(_PACKAGE):
        folders.sort()
        states += [_state(os.path.join(folder, name)) for name in sorted(names) if _is_code(name)]
    return text_digest("\n".join(states))


def _is_code(name: str) -> bool:
    return name.endswith((".py", ".h"))


def _state(path: str) -> str:
    state = os.stat(path)
    return f"{path} {state.st_size} {state.st_mtime_ns}"

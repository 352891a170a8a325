"""Names in the `.file` directives of PTX (PTX ISA, "Debugging Directives: .file").

Compilers put the working folder before a relative name and write other than ASCII characters as
octal escapes. The PTX that ships names files as prismc was given them, so it does not depend on
the folder it was built in.
"""

from __future__ import annotations

import re
from pathlib import Path

from prismc.backend.cuda_module import spell_file

_FILE = re.compile(r'^(\s*\.file\s+(\d+)\s+)"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_OCTAL = re.compile(rb"\\([0-7]{3})")


def with_shown_files(ptx: str, files: tuple[str, ...], folder: Path) -> str:
    """`ptx` with `.file` names as `files` gives them, where they were put under `folder`."""
    shown = {f"{folder}/{spell_file(name)}": spell_file(name) for name in files}

    def rename(match: re.Match[str]) -> str:
        name = _decoded(match[3])
        return f'{match[1]}"{_encoded(shown.get(name, name))}"'

    start = ptx.rfind("\n", 0, max(0, ptx.find(".file"))) + 1  # they stand behind all code
    return ptx[:start] + _FILE.sub(rename, ptx[start:])


def file_table(ptx: str) -> dict[int, str]:
    """The names of the `.file` directives by their numbers."""
    return {int(match[2]): _decoded(match[3]) for match in _FILE.finditer(ptx)}


def _decoded(name: str) -> str:
    octets = _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), name.encode())
    return octets.decode(errors="replace")


def _encoded(name: str) -> str:
    return "".join(chr(b) if b < 0x80 else f"\\{b:03o}" for b in name.encode())

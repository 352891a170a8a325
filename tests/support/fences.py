"""The ```prism fences of a Markdown file, with where they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_OPEN = re.compile(r"^```(\w*)[ \t]*(.*)$")
_FILE = re.compile(r"^# file (\S+)\s*$")
_FLAGS = re.compile(r"^# flags: (.*)$")


class Fence(NamedTuple):
    """A fenced block: its language, what follows that on the line, its text, its place.

    `line` is the number of the opening line in the Markdown file, from 1; `heading` the nearest
    heading above; `after` the text between this fence and the next, or the end of the section.
    """

    language: str
    info: str
    text: str
    line: int
    heading: str
    after: str

    @property
    def file_name(self) -> str | None:
        """The name that `# file name.prism` in the first line gives."""
        match = _FILE.match(self.text.split("\n")[0])
        return match[1] if match else None

    @property
    def flags(self) -> str:
        """Command-line flags: after `prism` on the opening line or in a comment line at the top."""
        found = [self.info] if self.info else []
        for line in self.text.split("\n"):
            if match := _FLAGS.match(line):
                found.append(match[1])
            elif not line.startswith("#"):
                break
        return " ".join(found)


def read_fences(path: Path) -> list[Fence]:
    """All fenced blocks of a file, in order."""
    return parse_fences(path.read_text(encoding="utf-8"))


def parse_fences(text: str) -> list[Fence]:
    """All fenced blocks of a Markdown text, in order. Raises ValueError for an unclosed one."""
    lines = text.split("\n")
    fences: list[Fence] = []
    heading = ""
    after: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if match := _OPEN.match(line):
            _close(fences, after)
            start = number
            while number < len(lines) and lines[number].rstrip() != "```":
                number += 1
            if number == len(lines):
                raise ValueError(f"the fence of line {start} is not closed")
            body = "\n".join(lines[start:number]) + "\n"
            fences.append(Fence(match[1], match[2].strip(), body, start, heading, ""))
            number += 1
        elif line.startswith("#"):
            _close(fences, after)
            heading = line.lstrip("#").strip()
        else:
            after.append(line)
    _close(fences, after)
    return fences


def _close(fences: list[Fence], after: list[str]) -> None:
    """Give the text since the last fence to that fence."""
    if fences and not fences[-1].after:
        fences[-1] = fences[-1]._replace(after="\n".join(after))
    after.clear()

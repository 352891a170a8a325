"""Where lines of PTX come from, and in which function they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from prismc.backend.toolchain.ptx_files import file_table

# PTX ISA, "Debugging Directives: .loc".
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_FUNCTION = re.compile(r"^\s*(?:\.(?:visible|weak)\s+)?\.(?:entry|func)\s+(?:\([^)]*\)\s*)?(\w+)")


class Place(NamedTuple):
    """A line of a file as `#line` named it."""

    file: str
    line: int


class _Location(NamedTuple):
    """One `.loc` directive: its line in the PTX, what it says, and what it was inlined at."""

    at: int
    says: tuple[int, int, int]
    inlined_at: tuple[int, int, int] | None


class PtxLines:
    """The lines of one PTX text, numbered from 1 as ptxas does."""

    def __init__(self, ptx: str) -> None:
        self.lines = ptx.split("\n")
        self._files = file_table(ptx)
        self._locations: list[_Location] = []
        self._functions: list[tuple[int, str]] = []
        for number, line in enumerate(self.lines, 1):
            if ".loc" in line and (match := _LOC.match(line)):
                says, inlined = match.group(1, 2, 3), match.group(4, 5, 6)
                self._locations.append(
                    _Location(number, _numbers(says), _numbers(inlined) if inlined[0] else None)
                )
            elif match := _FUNCTION.match(line):
                self._functions.append((number, match[1]))

    def line(self, number: int) -> str:
        """The text of line `number`, empty where there is none."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    def function(self, number: int) -> str:
        """The name of the function that line `number` stands in, empty before the first."""
        index = bisect_right(self._functions, number, key=lambda entry: entry[0])
        return self._functions[index - 1][1] if index else ""

    def places(self, number: int) -> tuple[Place, ...]:
        """The source line of line `number`, then the lines it was inlined at, outwards."""
        index = bisect_right(self._locations, number, key=lambda location: location.at) - 1
        if index < 0 or self.function(self._locations[index].at) != self.function(number):
            return ()
        found = [self._place(self._locations[index].says)]
        while (outer := self._locations[index].inlined_at) is not None:
            found.append(self._place(outer))
            index = self._before(index, outer)
            if index < 0:
                break
        return tuple(found)

    def _before(self, index: int, says: tuple[int, int, int]) -> int:
        """The nearest location above `index` that says `says`, -1 if there is none."""
        while index >= 0 and self._locations[index].says != says:
            index -= 1
        return index

    def find(self, text: str, function: str = "") -> int:
        """The first line with `text` (in `function`, if one is named), 0 if there is none."""
        for number, line in enumerate(self.lines, 1):
            if text in line and (not function or self.function(number) == function):
                return number
        return 0

    def _place(self, says: tuple[int, int, int]) -> Place:
        return Place(self._files.get(says[0], ""), says[1])


def _numbers(texts: tuple[str, ...]) -> tuple[int, int, int]:
    return int(texts[0]), int(texts[1]), int(texts[2])

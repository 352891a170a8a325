"""The text that NVRTC, nvcc and ptxas write, as messages."""

from __future__ import annotations

import re
from enum import Enum

from prismc.source.record import Record


class Weight(Enum):
    """How bad a message is. `GAVE_UP` is a success of ptxas that lost what the kernel needs."""

    ERROR = "error"
    GAVE_UP = "gave up"
    WARNING = "warning"


class Message(Record):
    """One message. `ptx_line` numbers the PTX, `file` and `line` are as `#line` named them.

    `function` is the kernel the text names, `note` ptxas's own number ("C7508"), `shown` the line
    of generated code that the tool showed.
    """

    tool: str
    weight: Weight
    text: str
    file: str = ""
    line: int = 0
    ptx_line: int = 0
    function: str = ""
    note: str = ""
    shown: str = ""


_FRONT = re.compile(
    r"^(?P<file>\S.*)\((?P<line>\d+)\): (?:catastrophic )?(?P<severity>[Ee]rror|warning|remark)"
    r"(?: #\d+(?:-D)?)?: (?P<text>.*)$"
)
_FRONT_UNPLACED = re.compile(r"^(?:catastrophic )?error(?: #\d+(?:-D)?)?: (?P<text>.*)$")
_ASSEMBLER_AT = re.compile(r"^ptxas .*, line (?P<line>\d+); (?P<severity>\w+)\s*: (?P<text>.*)$")
_ASSEMBLER = re.compile(r"^ptxas (?P<severity>\w+)\s*: (?P<text>.*)$")
_NOTE = re.compile(r"^\((C\d+)\)\s*(?:Potential Performance Loss:\s*)?(.*)$")
_FUNCTION = re.compile(r"[Ff]unction '(\w+)'")
_IN_LINE = re.compile(r"\b(?:in|around) line (\d+)")

# The notes that mean a lost `setmaxnreg` or a serialised `wgmma` pipeline.
FATAL_NOTES = frozenset({"C7507", "C7508", "C7510", "C7511"})


def read_log(log: str) -> tuple[Message, ...]:
    """All errors, warnings and notes of `log`, in order; statistics and echoes are left out."""
    lines = log.splitlines()
    found = []
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if message := _front_end(line, following) or _assembler_at(line) or _assembler(line):
            found.append(message)
    return tuple(found)


def _front_end(line: str, following: str) -> Message | None:
    if match := _FRONT.match(line):
        if match["severity"] == "remark":
            return None
        return Message(
            tool="the CUDA front end",
            weight=Weight(match["severity"].lower()),
            text=match["text"],
            file=match["file"],
            line=int(match["line"]),
            shown=following.strip() if following.startswith(" ") else "",
        )
    if match := _FRONT_UNPLACED.match(line):
        return Message(tool="the CUDA front end", weight=Weight.ERROR, text=match["text"])
    return None


def _assembler_at(line: str) -> Message | None:
    match = _ASSEMBLER_AT.match(line)
    if match is None:
        return None
    is_error = match["severity"] in ("error", "fatal")
    return Message(
        tool="ptxas",
        weight=Weight.ERROR if is_error else Weight.WARNING,
        text=match["text"],
        ptx_line=int(match["line"]),
    )


def _assembler(line: str) -> Message | None:
    match = _ASSEMBLER.match(line)
    if match is None:
        return None
    severity, text = match["severity"], match["text"]
    if note := _NOTE.match(text):
        gave_up = note[1] in FATAL_NOTES or "serialized" in text
        weight = Weight.GAVE_UP if gave_up else Weight.WARNING
        return _unplaced(weight, note[2], note[1])
    if severity in ("error", "fatal") and "assembly aborted" not in text:
        return _unplaced(Weight.ERROR, text)
    return _unplaced(Weight.WARNING, text) if severity == "warning" else None


def _unplaced(weight: Weight, text: str, note: str = "") -> Message:
    """A message of ptxas that tells its place, if at all, within its text."""
    function, line = _FUNCTION.search(text), _IN_LINE.search(text)
    return Message(
        tool="ptxas",
        weight=weight,
        text=text,
        ptx_line=int(line[1]) if line else 0,
        function=function[1] if function else "",
        note=note,
    )

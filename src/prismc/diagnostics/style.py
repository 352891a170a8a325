"""The parts of a printed diagnostic, for whoever colours them; nothing here knows a terminal."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from prismc.diagnostics.problem import Severity


class Role(Enum):
    """What a piece of printed text is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    HELP = "help"
    MESSAGE = "message"
    FRAME = "frame"  # line numbers, arrows, bars
    SECOND = "second"  # marks and labels of the second place
    SOURCE = "source"
    PLAIN = "plain"


Style = Callable[[Role, str], str]

OF_SEVERITY = {
    Severity.ERROR: Role.ERROR,
    Severity.WARNING: Role.WARNING,
    Severity.NOTE: Role.NOTE,
}


def plain(role: Role, text: str) -> str:
    """No colours."""
    del role
    return text

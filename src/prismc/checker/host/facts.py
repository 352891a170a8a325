"""What the check of a test leaves for those who run it."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.frontend import ast
from prismc.source.record import Record


class HostTest(Record):
    """A test of a root file; `constants` are those of the program that it uses, by name."""

    name: str
    node: ast.Test
    constants: Mapping[str, int | float | bool]

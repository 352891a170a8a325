"""What a function declares of its results and of how it is launched."""

from __future__ import annotations

from prismc.checker.types.model import Type
from prismc.hardware.groups import Perspective
from prismc.source.record import Record
from prismc.source.span import Span


class Launch(Record):
    """`@launch(..)`: threads a block, least blocks a multiprocessor, cluster size, cooperative."""

    threads: int
    min_blocks: int
    cluster: int
    cooperative: bool
    span: Span


class Result(Record):
    """One result: its type, and whose behaviour it is."""

    type: Type
    perspective: Perspective
    span: Span

"""Decoded functions: the steps that the machine calls, block by block."""

from __future__ import annotations

from collections.abc import Callable

from prismc.emulator.ptx.tree import Guard, Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.outline import Outline
from prismc.emulator.state.run import Run
from prismc.source.record import Record

Step = Callable[[Run], None]
# What follows a block: the next block for the whole run, or None when the run's lanes were sent
# on (`Batch.push`), wait somewhere, or have exited.
End = Callable[[Run], int | None]
# Which lanes must meet: bool [warps, 32], from the run that arrived.
Members = Callable[[Run], Lanes]


class CodeBlock(Record):
    """A basic block: steps one after the other, then its end.

    `members` is set for a meeting: which lanes of each warp must be here before it runs; lanes for
    which `guard` fails pass by.
    """

    steps: tuple[Step, ...]
    end: End
    members: Members | None
    guard: Guard | None
    site: Instruction | None


class Code(Record):
    """A function, decoded."""

    outline: Outline
    blocks: tuple[CodeBlock, ...]

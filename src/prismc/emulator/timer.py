"""How far a launch is, now and then, and whether it has taken too long or too much."""

from __future__ import annotations

import time
from collections.abc import Callable

from prismc.emulator.launch import Launch

# Seconds between two reports of how far a launch is.
_TICK = 0.2


class TimeLimit(Exception):
    """The launch took more processor time than it was allowed to."""


class InstructionLimit(Exception):
    """The launch executed more instructions than it was allowed to."""


class Timer:
    """Watches the clock. `on_tick` gets the finished blocks, all blocks, the thread instructions.

    `deadline` is a time of `time.thread_time`, in seconds; None: the launch may take any time.
    The thread's processor time does not depend on what else the machine does, and a launch that
    hangs uses it up: nothing in the emulator sleeps.
    `most_instructions` are those of all threads; None: any number.
    """

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.finished_blocks = 0
        self.deadline: float | None = None
        self.most_instructions: int | None = None
        self.on_tick: Callable[[int, int, int], None] | None = None
        self._next_tick = 0.0

    def check(self) -> None:
        """Tells how far the launch is. Raises TimeLimit when the time is over, InstructionLimit
        when so many instructions are."""
        most = self.most_instructions
        if most is not None and self.launch.instructions > most:
            raise InstructionLimit
        if self.deadline is not None and time.thread_time() > self.deadline:
            raise TimeLimit
        if self.on_tick is not None and (now := time.monotonic()) > self._next_tick:
            self._next_tick = now + _TICK
            self._tick()

    def finish(self, blocks: int) -> None:
        """So many blocks have ended."""
        self.finished_blocks += blocks
        self._tick()

    def _tick(self) -> None:
        if self.on_tick is not None:
            launch = self.launch
            self.on_tick(self.finished_blocks, launch.shape.grid.volume, launch.instructions)

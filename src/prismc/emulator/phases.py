"""Waits by parity that pass although the phase they mean is not complete (PTX ISA 9.7.13.15.16).

A parity names the current phase of an mbarrier or the one before. A thread that asks for the one
before, which it has waited for already, goes on at once, and what it meant to wait for may not be
there. Some programs ask twice and mean it, so such a wait is a fault only of a thread that is found
in a race afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes

# The phase before the first, which a wait for odd parity finds complete.
BEFORE_ALL = -1
_NEVER = -2


class StaleWait(NamedTuple):
    """A wait for `parity` that passed at once because of phase `asked`, while the barrier was in
    `state`. `repeated`: the thread had waited for that phase before.
    """

    site: Instruction
    parity: int
    asked: int
    state: str
    repeated: bool

    def message(self) -> str:
        """What is wrong with it."""
        why = f"phase {self.asked} was complete, and the thread had waited for it before"
        if self.asked == BEFORE_ALL:
            why = "no phase is complete yet, and odd parity stands for the time before the first"
        passed = f"a wait for parity {self.parity} passes at once: {why}"
        return f"{passed}; the mbarrier is in {self.state}"

    def help(self) -> str:
        """What mends it."""
        if self.repeated:
            return "flip the parity after each wait for the same mbarrier: phase n has parity n % 2"
        return "wait for parity 0 first; parity 1 is for a slot that starts out free"


class WaitHistory:
    """What the threads of a block have waited for at one barrier.

    `seen` is the last phase of each thread, `stale` the number of its last wait that was for
    nothing, from 1 on; 0 after a wait that was not.
    """

    def __init__(self, threads: int) -> None:
        self.seen: Lanes = np.full(threads, _NEVER, np.int64)
        self.stale: Lanes = np.zeros(threads, np.int64)

    def passed(
        self, threads: Lanes, asked: int, count: int, describe: Callable[[bool], StaleWait]
    ) -> list[StaleWait]:
        """Threads pass a wait because phase `asked` is complete. Returns what is new of waits that
        were for nothing; `count` of them are known."""
        repeated = self.seen[threads] == asked
        self.seen[threads] = asked
        self.stale[threads] = 0
        found = []
        for which, again in ((repeated, True), (~repeated, False)):
            if which.any() and (again or asked == BEFORE_ALL):
                found.append(describe(again))
                self.stale[threads[which]] = count + len(found)
        return found

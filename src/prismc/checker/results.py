"""All that the checker finds out about a program, together and frozen."""

from __future__ import annotations

from prismc.checker.host.facts import HostTest
from prismc.checker.memory.facts import MemoryFacts
from prismc.checker.names.symbols import Names
from prismc.checker.perspectives.facts import PerspectiveFacts
from prismc.checker.sync.plan import SyncPlan
from prismc.checker.sync.settings import SyncSettings
from prismc.checker.types.typed import Program
from prismc.source.record import Record


class CheckedProgram(Record):
    """What lowering reads: the typed tree and the facts beside it; `settings` tells how the plan
    was made."""

    names: Names
    program: Program
    perspectives: PerspectiveFacts
    memory: MemoryFacts
    settings: SyncSettings
    plan: SyncPlan
    tests: tuple[HostTest, ...] = ()

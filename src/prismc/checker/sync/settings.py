"""How synchronisation is derived, where there is a choice."""

from __future__ import annotations

from enum import Enum

from prismc.checker.sync.asked import Prover
from prismc.source.record import Value

# An arrival apart from the wait takes two conditions, and often a barrier of the warp, more.
EARLY_WORK = 50


class Placement(Enum):
    """The fewest barriers that suffice, or those of the paper (`paper.py`), to compare with."""

    FEWEST = "fewest"
    PAPER = "paper"


class SyncSettings(Value):
    """`has_mbarriers` tells whether the target has barriers in shared memory; `prover` is asked
    about accesses that may meet. Warps arrive early where this spares at least `early_work`
    instructions of waiting; None: never."""

    has_mbarriers: bool = True
    placement: Placement = Placement.FEWEST
    prover: Prover | None = None
    early_work: int | None = EARLY_WORK


DEFAULT_SETTINGS = SyncSettings()

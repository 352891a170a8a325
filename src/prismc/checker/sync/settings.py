"""How synchronisation is derived, where there is a choice."""

from __future__ import annotations

from enum import Enum

from prismc.source.record import Value


class Placement(Enum):
    """The fewest barriers that suffice, or those of the paper (`paper.py`), to compare with."""

    FEWEST = "fewest"
    PAPER = "paper"


class SyncSettings(Value):
    """`has_mbarriers` tells whether the target has barriers in shared memory."""

    has_mbarriers: bool = True
    placement: Placement = Placement.FEWEST


DEFAULT_SETTINGS = SyncSettings()

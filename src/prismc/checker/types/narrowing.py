"""The ways to show memory to code at another perspective."""

from __future__ import annotations

from enum import Enum


class NarrowKind(Enum):
    """`partition` gives each one its piece, `claim` all to one, `async` all to the hardware."""

    PARTITION = "partition"
    CLAIM = "claim"
    ASYNC = "async"

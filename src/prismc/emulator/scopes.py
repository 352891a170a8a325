"""Memory order and scope of accesses (PTX ISA 8)."""

from __future__ import annotations

from enum import IntEnum

from prismc.source.record import Value


class Strength(IntEnum):
    """The memory order of an access (PTX ISA 8.2): all but WEAK are strong."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4

    @property
    def acquires(self) -> bool:
        return self in (Strength.ACQUIRE, Strength.ACQ_REL)

    @property
    def releases(self) -> bool:
        return self in (Strength.RELEASE, Strength.ACQ_REL)


class Scope(IntEnum):
    """The threads among which an order counts (PTX ISA 8.5)."""

    NONE = 0
    CTA = 1
    CLUSTER = 2
    GPU = 3
    SYS = 4


class Qualifiers(Value):
    """What the modifiers of a load, store, atomic or reduction say.

    `space` is generic, global, shared, local, const or param; `count` the elements of a vector.
    `is_copy` marks loads whose values are only stored again, `is_barrier` what is done to an
    mbarrier, whose order is its own.
    """

    space: str = "generic"
    count: int = 1
    strength: Strength = Strength.WEAK
    scope: Scope = Scope.NONE
    is_copy: bool = False
    is_barrier: bool = False

"""Memory orders and scopes of atomic operations, by their PTX names.

PTX ISA, "Memory Consistency Model": an order says what else of the thread's memory others see with
an atomic operation, a scope among which threads it is atomic and ordered.
"""

from __future__ import annotations

from enum import Enum

from prismc.hardware.groups import BLOCK, Level, Perspective


class MemoryOrder(Enum):
    """The value is both the source's word and the PTX qualifier."""

    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"

    def __str__(self) -> str:
        return self.value


ORDERS: dict[str, MemoryOrder] = {order.value: order for order in MemoryOrder}


def scope_word(perspective: Perspective) -> str:
    """The narrowest PTX scope that holds a whole unit of `perspective`; a block is the least."""
    if perspective.level is Level.GRID:
        return "gpu"
    return "cta" if perspective.level is Level.THREAD or perspective == BLOCK else "cluster"

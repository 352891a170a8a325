"""Asynchronous operations: who performs them, and what tells that they are complete."""

from __future__ import annotations

from enum import Enum


class Completion(Enum):
    """`completes(..)`: what ends the effects of asynchronous operations. A group is a thread's own,
    committed and waited for (PTX ISA, "cp.async.commit_group", "cp.async.bulk.commit_group",
    "wgmma.commit_group"); an mbarrier counts bytes."""

    COPY_GROUP = "commit_group"
    BULK_GROUP = "bulk_group"
    PRODUCT_GROUP = "wgmma_group"
    MBARRIER = "mbarrier"


class Agent(Enum):
    """Who touches memory: the thread itself, or an engine on its behalf."""

    GENERIC = "generic"
    CP_ASYNC = "cpasync"
    BULK_LOAD = "bulk_load"
    BULK_STORE = "bulk_store"
    WGMMA = "wgmma"

    @property
    def is_async_proxy(self) -> bool:
        """Whether a fence must stand between ordinary accesses and this one's (PTX ISA, "Async
        proxy")."""
        return self in (Agent.BULK_LOAD, Agent.BULK_STORE, Agent.WGMMA)

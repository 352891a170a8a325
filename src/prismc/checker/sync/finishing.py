"""What arrives at `finish`: thread 0 of each block, on behalf of all that the last block does."""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.sync.accesses import Accesses, Here
from prismc.checker.sync.footprints import unknown_footprint
from prismc.checker.sync.graph import Access, Reach, Root
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.roots import Path
from prismc.hardware.asynchronous import Agent
from prismc.source.span import Span


def arrivals_for(
    accesses: Accesses, body: Iterable[Access], firsts: int, here: Here, at: Span
) -> tuple[Access, ...]:
    """Accesses of the threads `firsts` to all that the `body` of a `finish` touches in global
    memory, where its engines come to, as engines: what other threads of the block have done has to
    be complete there, and fenced."""
    kinds: dict[Root, AccessKind] = {}
    agents: dict[Root, Agent] = {}
    for access in body:
        for root in access.roots:
            is_read = access.kind is AccessKind.READ and kinds.get(root) is not AccessKind.WRITE
            if root.is_global:
                kinds[root] = AccessKind.READ if is_read else AccessKind.WRITE
                if access.is_engine:
                    agents[root] = access.agent
    return tuple(
        accesses.add(
            kind,
            Path(roots=(root,), is_known=False),
            unknown_footprint(firsts),
            here,
            at,
            agent=agents.get(root, Agent.GENERIC),
            reach=Reach.BLOCK,
        )
        for root, kind in kinds.items()
    )

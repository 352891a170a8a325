"""What a function asks of its surroundings: the order that its callers make around each call.

Nobody writes it down: it follows from a function's summary, and is told to people who call it.
"""

from __future__ import annotations

from prismc.checker.sync.graph import Access
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.synchronise import Function
from prismc.source.record import Value


class Requirement(Value):
    """Memory of `root` that threads of the function use without an order of its own making: at
    its start (`is_before`), where what others did earlier comes first, or at its end, where what
    others do later has to wait. `writes` tells whether it changes the memory there."""

    root: str
    is_before: bool
    writes: bool


def requirements_of(function: Function) -> tuple[Requirement, ...]:
    """For each memory that the function shares with its caller, or uses anew in each call; none for
    a function of single threads, whose caller decides who meets."""
    everyone = (1 << function.summary.threads) - 1
    if everyone == 1:
        return ()
    summary = function.summary.summary
    open_: list[tuple[Access, bool]] = [
        (entry.access, True)
        for entry in summary.entries
        if not entry.before.is_total(everyone, everyone)
    ]
    open_ += [
        (pending.access, False)
        for _, flow in summary.exits
        for pending in flow.pending
        if not pending.after.is_total(everyone, everyone)
    ]
    writes: dict[tuple[str, bool], bool] = {}
    for access, is_before in open_:
        for root in access.roots:
            if not root.is_private:
                key = root.name, is_before
                changes = access.kind is not AccessKind.READ
                writes[key] = writes.get(key, False) or changes
    return tuple(
        Requirement(root=root, is_before=is_before, writes=changes)
        for (root, is_before), changes in writes.items()
    )

"""What arms of a `split` leave that is on its way: copies, bulk loads and products.

Copies and loads arrive by themselves once they are complete, if nothing else has to be waited for;
products are waited for before the arm arrives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import reduce
from operator import or_

from prismc.checker.sync.arms import Pair
from prismc.checker.sync.conflicts import Conflicts
from prismc.checker.sync.graph import (
    Access,
    Commit,
    Graph,
    Node,
    Region,
    Sequence,
    Wait,
    sequences_in,
)
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.split import Arrive, Loads
from prismc.checker.sync.units import accesses_of
from prismc.checker.sync.waits import wait_before
from prismc.hardware.asynchronous import Completion


class LeftByArms:
    """Tells what arms of one function leave for others, pair by pair."""

    def __init__(self, graph: Graph, conflicts: Conflicts) -> None:
        self._accesses = graph.accesses
        self._conflicts = conflicts
        self._of_engines = {conflicts.memory_of(one) for one in graph.accesses if one.is_engine}

    def is_pure(self, pair: Pair) -> bool:
        """Whether either none or all of what a pair's first arm leaves are copies, or bulk loads.
        Nothing else of the copies' threads may touch their memory, since they do not wait for it;
        products, and copies that are fenced, are waited for before an arrival."""
        left = [access for access in self._accesses if access.number in pair.left]
        copies = [a for a in left if a.queue not in (None, *self.waited_for(pair))]
        if not copies:
            return True
        if len(copies) == len(left) and all(isinstance(a.queue, Loads) for a in copies):
            return True
        if len(copies) < len(left) or any(a.queue is not Completion.COPY_GROUP for a in copies):
            return False
        threads = reduce(or_, (access.footprint.threads for access in copies))
        memory = {self._conflicts.memory_of(access) for access in copies}
        return all(
            access.queue is Completion.COPY_GROUP
            for access in self._accesses
            if access.footprint.threads & threads and self._conflicts.memory_of(access) in memory
        )

    def bring_passes(self, pair: Pair) -> bool:
        """Whether what an arm leaves tells others that it has passed its waits, and nothing else
        of it: copies, and loads for several blocks."""
        return self.copies(pair) or (pair.is_wide and bool(self.loads(pair)))

    def accesses(self, pair: Pair) -> list[Access]:
        """The asynchronous accesses that an arm leaves."""
        return [a for a in self._accesses if a.is_async and a.number in pair.left]

    def copies(self, pair: Pair) -> bool:
        """Whether an arm leaves copies of its threads that arrive by themselves."""
        waited = self.waited_for(pair)
        return any(
            access.queue is Completion.COPY_GROUP and access.queue not in waited
            for access in self.accesses(pair)
        )

    def waited_for(self, pair: Pair) -> tuple[Completion, ...]:
        """The queues that an arm waits for before it arrives: that of its products, and of copies
        into memory that engines come to, which are fenced when they are complete."""
        is_fenced = any(
            access.queue is Completion.COPY_GROUP
            and self._conflicts.memory_of(access) in self._of_engines
            for access in self.accesses(pair)
        )
        copies = (Completion.COPY_GROUP,) if is_fenced else ()
        return (Completion.PRODUCT_GROUP, *copies)

    def loads(self, pair: Pair) -> tuple[Loads, ...]:
        """The bulk loads that an arm leaves."""
        queues = dict.fromkeys(access.queue for access in self.accesses(pair))
        return tuple(queue for queue in queues if isinstance(queue, Loads))

    def waits(self, pair: Pair, giver: Region, arrive: Arrive) -> Iterator[Wait]:
        """Waits for the products that read what an arrival gives free, and for copies."""
        left = {access.queue for access in self.accesses(pair)}
        for queue in self.waited_for(pair):
            if queue in left:
                roots = (root for access in accesses_of((giver,)) for root in access.roots)
                registers = tuple(sorted({root.register for root in roots if root.is_private}))
                is_product = queue is Completion.PRODUCT_GROUP
                yield wait_before(
                    arrive.before, arrive.span, queue, 0, registers if is_product else ()
                )


def counted_commits(nodes: Sequence, copies: Collection[int]) -> Iterator[Node]:
    """The commits of scopes all of whose copies mbarriers count."""
    for sequence in sequences_in(nodes):
        issued = [
            access.number
            for access in accesses_of(sequence)
            if access.is_async and access.kind is AccessKind.WRITE
        ]
        if issued and all(number in copies for number in issued):
            yield from (node for node in sequence if isinstance(node, Commit))

"""The sync plan: which operations go where, and why. Lowering applies it, nothing else does.

The plan holds all that synchronisation insertion can decide (`docs/language.md`, "Where barriers
come from"): full barriers, split arrive and wait, fences, commit and wait counts, mbarriers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import Perspective
from prismc.source.record import Record, Value, replace
from prismc.source.span import Span


class Where(Enum):
    """Where an operation stands relative to its anchor statement."""

    __hash__ = object.__hash__  # an enumeration's own hashes the name, in Python, each time

    BEFORE = "before"
    AFTER = "after"


class Position(NamedTuple):
    """Before or after the statement with id `anchor`, at that statement's code perspective."""

    where: Where
    anchor: int


class SyncKind(Enum):
    """What is inserted; `hardware/primitives.py` says with which instruction."""

    BLOCK_BARRIER = "block barrier"
    WARP_BARRIER = "warp barrier"
    BLOCK_VOTE = "block vote"
    NAMED_BARRIER = "named barrier"
    CLUSTER_BARRIER = "cluster barrier"
    CLUSTER_ARRIVE = "cluster arrive"
    CLUSTER_WAIT = "cluster wait"
    GRID_BARRIER = "grid barrier"
    NAMED_ARRIVE = "named arrive"
    NAMED_WAIT = "named wait"
    MBARRIER_INIT = "mbarrier init"
    MBARRIER = "mbarrier"
    MBARRIER_ARRIVE = "mbarrier arrive"
    MBARRIER_COPIES = "mbarrier arrive of copies"
    MBARRIER_WAIT = "mbarrier wait"
    EXPECT_BYTES = "expect bytes"
    COMMIT_GROUP = "commit group"
    WAIT_GROUP = "wait group"
    COMMIT_BULK = "commit bulk group"
    WAIT_BULK = "wait bulk group"
    WAIT_BULK_WRITES = "wait bulk writes"
    FENCE_PRODUCTS = "fence products"
    COMMIT_PRODUCTS = "commit products"
    WAIT_PRODUCTS = "wait products"
    PROXY_FENCE = "proxy fence"
    FULL_PROXY_FENCE = "full proxy fence"


# What each thread does about its own asynchronous operations: commits and waits, by queue.
COMMITS = {
    Completion.COPY_GROUP: SyncKind.COMMIT_GROUP,
    Completion.BULK_GROUP: SyncKind.COMMIT_BULK,
    Completion.PRODUCT_GROUP: SyncKind.COMMIT_PRODUCTS,
}
WAITS = {
    Completion.COPY_GROUP: SyncKind.WAIT_GROUP,
    Completion.BULK_GROUP: SyncKind.WAIT_BULK,
    Completion.PRODUCT_GROUP: SyncKind.WAIT_PRODUCTS,
}
GROUP_KINDS = (
    *COMMITS.values(),
    *WAITS.values(),
    SyncKind.WAIT_BULK_WRITES,
    SyncKind.FENCE_PRODUCTS,
)
# What names an mbarrier by its number.
MBARRIER_KINDS = (
    SyncKind.MBARRIER_INIT,
    SyncKind.MBARRIER,
    SyncKind.MBARRIER_ARRIVE,
    SyncKind.MBARRIER_COPIES,
    SyncKind.MBARRIER_WAIT,
    SyncKind.EXPECT_BYTES,
)


class Participants(Value):
    """Which threads of one instance of `perspective` take part: ranges [start, end), ascending.

    Empty ranges mean all of the instance.
    """

    perspective: Perspective
    ranges: tuple[tuple[int, int], ...] = ()


class AccessKind(Enum):
    READ = "read"
    WRITE = "write"
    UPDATE = "atomic update"


class Deed(Enum):
    """What one side of an edge does, for people: phases of mbarriers and the end of memory are
    accesses to the analysis, but not to them."""

    READ = "reads"
    WRITE = "writes"
    UPDATE = "updates"
    ARRIVE = "arrives"
    WAIT = "waits"
    INITIALISE = "initialises"
    END = "ends"


class Access(Record):
    """One side of an edge, for people: what is touched, where, how, by whom."""

    root: str
    kind: AccessKind
    deed: Deed
    at: Span
    participants: Participants


class Edge(Record):
    """Why an operation exists: `earlier` must be complete before `later`. `hazard` is RAW, WAR or
    WAW; `around_loop` the span of the loop whose back edge the path takes, if it takes one."""

    earlier: Access
    later: Access
    hazard: str
    around_loop: Span | None


class SyncOperation(Record):
    """One inserted operation; `number` is its own in the whole program.

    `participants` arrive and wait (for a split barrier: those of this half). `lanes` is the group
    size below a warp (2, 4, 8, 16), 32 for a whole warp, 0 for others; for an arrival 32 means that
    one lane arrives for its warp. `count` are the threads that the barrier counts, or the groups
    that a wait leaves pending, or the bytes to expect. `barrier` is the number of the mbarrier (in
    `SyncPlan.mbarriers`), or the first hardware barrier of a named one: the aligned group g of
    `unit` threads, counted in the block, uses `barrier + g` (0: the block has one). `at` is the
    access that needs it (the `#line` it gets). `registers` are the ids of the arrays that products
    have before a wait for them, or behind a fence.

    An mbarrier has a place for each slot of a ring: `slot` is the one that is meant. In a pipeline
    that is written as one step (`turns`) it counts from the slot of the iteration. An operation
    that `is_behind` is for the iteration before, if there is one. One that stands at a loop for the
    threads [start, end) of its code alone, which run a copy of it, names them as its `arm`. Where
    only some threads of its code run it, `part` are their ranges [start, end) in that code. A
    barrier of warps of which the `last` has fewer lanes tells the first thread of the block in that
    one (0 if there is no other) and its lanes as a mask; `lanes` is 0 then.
    """

    number: int
    kind: SyncKind
    position: Position
    participants: Participants
    lanes: int
    count: int
    barrier: int
    at: Span
    edges: tuple[Edge, ...]
    registers: tuple[int, ...] = ()
    unit: int = 0
    slot: int = 0
    turns: bool = False
    is_behind: bool = False
    arm: tuple[int, int] | None = None
    part: tuple[tuple[int, int], ...] = ()
    last: tuple[int, int] | None = None


class Mbarrier(Record):
    """Mbarriers of one purpose (PTX ISA, "mbarrier"): one for each of `slots` slots of a ring and
    of `copies` units of the block that wait apart, side by side in the area for mbarriers in a
    kernel's shared memory.

    Threads of unit u, counted in the block by `unit` threads (0: there is one), use number
    `first + slot * copies + u` of the area. `arrivals` complete a phase. Waiters that arrive
    themselves wait with the state that their arrival gave, and `phase` is -1. Others wait by
    parity: it is bit `phase + slot` of a register of theirs (one word holds those of all slots),
    which starts as `has_credit` (the first wait then passes at once) and turns over after each
    wait. `is_async` tells that bulk copies arrive too, or other blocks. Blocks of a cluster have it
    in common as far as `blocks` of them bring what it counts; with `is_remote` each arrival is one
    at the mbarriers of all of them.
    """

    number: int
    first: int
    copies: int
    unit: int
    arrivals: int
    phase: int = -1
    has_credit: bool = False
    is_async: bool = False
    blocks: int = 1
    is_remote: bool = False
    slots: int = 1

    @property
    def size(self) -> int:
        """How many 8-byte objects it takes."""
        return self.copies * self.slots


class LoadMbarrier(Value):
    """Where the bulk loads of a scope complete: the mbarrier's number and its slot, which counts
    from the iteration's where it `turns`."""

    barrier: int
    slot: int
    turns: bool


class Shape(Enum):
    """How the loop of a pipeline is written, and why."""

    FEW = "unrolled: its steps are few and small"
    UNLIKE = "unrolled: its steps wait at different places"
    MANY = "unrolled: the phases of so many slots fit in no register"
    OPEN = "unrolled: loads are counted behind the last iteration, too"
    NESTED = "unrolled: another pipeline stands in it or around it"
    LARGE = "one step with the slot in a register: unrolled it would be large"
    BEHIND = "one step with the slot in a register: products are waited for one step later"

    @property
    def is_rolled(self) -> bool:
        return self in (Shape.LARGE, Shape.BEHIND)


class Pipeline(Record):
    """The shape of a pipeline, by the id of its loop. Where products run on, the threads [start,
    end) of the loop's code, its `arm`, hand over the arrays with ids `registers` in front of it."""

    loop: int
    at: Span
    slots: int
    shape: Shape
    registers: tuple[int, ...] = ()
    arm: tuple[int, int] = (0, 0)


class InstancePlan(Record):
    """The operations of one instance, in the order of the text. The loops with ids `projected` are
    written once for each class of warps that take the same arms of the splits in them, and so are
    the splits among these ids, with all that follows them in their bodies.
    `completions` tells the mbarrier that counts the bulk loads of each asynchronous scope, by its
    id. Of a pipeline that is written as one step only the operations of that step are there."""

    symbol: str
    operations: tuple[SyncOperation, ...]
    projected: tuple[int, ...] = ()
    completions: Mapping[int, LoadMbarrier] = MappingProxyType({})
    pipelines: tuple[Pipeline, ...] = ()

    @property
    def rolled(self) -> dict[int, Pipeline]:
        """The loops that are written as one step, by their ids."""
        return {one.loop: one for one in self.pipelines if one.shape.is_rolled}


class SyncPlan(Record):
    """The plans by symbol. `mbarriers` by number are those of the whole program; `reached` are the
    numbers of those of each kernel that needs some, its callees' included."""

    instances: Mapping[str, InstancePlan]
    mbarriers: Mapping[int, Mbarrier] = MappingProxyType({})
    reached: Mapping[str, tuple[int, ...]] = MappingProxyType({})

    @property
    def areas(self) -> dict[str, int]:
        """How many 8-byte objects the areas for mbarriers hold, by the kernel."""
        ends = {number: one.first + one.size for number, one in self.mbarriers.items()}
        return {symbol: max(map(ends.__getitem__, found)) for symbol, found in self.reached.items()}

    @property
    def phases(self) -> int:
        """The bits of the register of phases, which is the same in all functions."""
        waited = (one for one in self.mbarriers.values() if one.phase >= 0)
        return max((one.phase + one.slots for one in waited), default=0)

    def credits(self, kernel: str) -> frozenset[int]:
        """The bits that are set when a kernel starts."""
        mbarriers = (self.mbarriers[number] for number in self.reached.get(kernel, ()))
        return frozenset(
            one.phase + slot for one in mbarriers if one.has_credit for slot in range(one.slots)
        )

    def numbers(self) -> tuple[int, ...]:
        """The numbers of all operations that can be left out, ascending. A vote cannot: its answer
        is used."""
        operations = (one for plan in self.instances.values() for one in plan.operations)
        return tuple(one.number for one in operations if one.kind is not SyncKind.BLOCK_VOTE)

    def without(self, numbers: Collection[int]) -> SyncPlan:
        """The plan without the operations of these numbers; the others keep theirs."""
        kept = {
            symbol: replace(
                plan, operations=tuple(o for o in plan.operations if o.number not in numbers)
            )
            for symbol, plan in self.instances.items()
        }
        return replace(self, instances=MappingProxyType(kept))

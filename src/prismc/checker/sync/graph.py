"""The synchronisation graph of one function: accesses to memory and the order of the program.

Nodes stand for whole statements of code at one perspective, so that every place between two nodes
is reached by all threads of a unit together: a barrier may stand there. Program order is the
structure itself: sequence, both arms of a choice, the back edge of a loop. Arms of a split run side
by side. Sets of threads are bit masks over the function's instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import NamedTuple, TypeVar

from prismc.checker.sync.asked import Asked
from prismc.checker.sync.coverage import NONE, Coverage, Queue, first_thread
from prismc.checker.sync.footprints import Footprint
from prismc.checker.sync.forms import Coefficient
from prismc.checker.sync.meetings import FAR
from prismc.checker.sync.plan import AccessKind, Position
from prismc.hardware.asynchronous import Agent
from prismc.hardware.groups import Level, Perspective
from prismc.source.record import Record
from prismc.source.span import Span


class Root(Record):
    """Memory that pointers reach: a pointer parameter, or a shared array (one slot of it).

    Two roots are the same memory if they are the same object, or if both are shared and their bytes
    [low, high) overlap. `is_global` holds for parameters of kernels. `parameter` is the parameter's
    position, -1 for a shared array. Where each of several units has an array of its own, `base`
    tells its first element, thread by thread, and `start` its first byte; `size` are the bytes of
    one of them, `element` those of an element (0 if `base` counts otherwise). Where a parameter is
    each unit's own piece, `piece` tells which, of memory that the function does not know. Where it
    `is_local` each block has its own; one that `is_mirrored` has a copy in each block, and whoever
    writes it writes all. `register` is the variable's id of an array in registers, which each
    thread has for itself. What an `async` parameter names `is_shown`: in a scope of a caller's. The
    array that a tensor map describes `is_map`.
    """

    name: str
    span: Span
    parameter: int = -1
    is_global: bool = False
    low: int = 0
    high: int = 0
    base: Coefficient = 0
    piece: Coefficient = 0
    start: Coefficient = 0
    size: int = 0
    element: int = 0
    is_local: bool = False
    is_mirrored: bool = False
    register: int = 0
    is_shown: bool = False
    is_map: bool = False

    @property
    def is_private(self) -> bool:
        """Whether each thread has it for itself."""
        return self.register != 0

    def overlaps(self, other: Root) -> bool:
        return self is other or (self.low < other.high and other.low < self.high)


class ViewUse(Record):
    """A narrowing that an access goes through, in one execution of its statement.

    `view` tells narrowings apart: the ids of the calls that lead to it, then of the view's
    variable. `size` is the threads of a piece (0 for a whole block or more), `loops` are the loops
    around the narrowing. `is_async` marks the name of an asynchronous scope. `at` is where the
    narrowing gives the name.
    """

    view: tuple[int, ...]
    name: str
    at: Span
    size: int
    loops: tuple[int, ...]
    is_async: bool = False
    is_disjoint: bool = False
    is_claim: bool = False

    def keeps_pieces(self, loops: Iterable[int]) -> bool:
        """Whether pieces stay apart between two accesses that lie `loops` apart: in one execution
        of the narrowing, or in any if the author says so."""
        return self.is_disjoint or not any(loop in self.loops for loop in loops)


class Reach(Enum):
    """Whose memory an access is about: what its thread names; what it names, and of its own block
    alone; that of a block of the cluster; that of its own block, which ends."""

    OWN = "own"
    BLOCK = "block"
    CLUSTER = "cluster"
    END = "end"


class Access(Record):
    """One place that touches memory. `number` follows the text; `loops` are the loops around it,
    outermost first; `own_loops` those that each thread goes through by itself. With a `queue` it is
    complete only when a wait has completed its group. `agent` is who makes it. `asked` is there if
    a prover can be asked about it. `reach` tells whose memory it is about. One that is
    `for_engines` stands for one of a callee's before a barrier there: engines that come to the
    memory later need an order behind a fence, which the callee has not made.
    """

    number: int
    roots: tuple[Root, ...]
    kind: AccessKind
    footprint: Footprint
    views: tuple[ViewUse, ...]
    loops: tuple[int, ...]
    own_loops: tuple[int, ...]
    at: Span
    queue: Queue | None = None
    agent: Agent = Agent.GENERIC
    asked: Asked | None = None
    reach: Reach = Reach.OWN
    for_engines: bool = False

    @property
    def is_engine(self) -> bool:
        """Whether it comes to memory by the asynchronous proxy."""
        return self.agent.is_async_proxy and any(not root.is_private for root in self.roots)

    @property
    def is_async(self) -> bool:
        """Whether it may be complete later than the code behind it."""
        return self.queue is not None


ANY = -1  # an iteration that is not known


class Crossing(NamedTuple):
    """How an earlier access lies to a later one in a loop around it: `least` to `most` iterations
    before; with 0 in an execution of the loop that has ended. Where only one of them lies in that
    execution, `earlier` or `later` may tell in which iteration, counted from 0."""

    least: int
    most: int
    earlier: int = ANY
    later: int = ANY


ENDED = Crossing(0, 0)
PREVIOUS = Crossing(1, 1)
EARLIER = Crossing(2, FAR)
Crossings = tuple[tuple[int, Crossing], ...]


class Exit(Enum):
    """Where a path leaves a node."""

    __hash__ = object.__hash__

    NORMAL = "normal"
    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"


class Entry(NamedTuple):
    """An access that a node reaches from its start, with the order made before it on the way. `at`
    tells in which iteration of a loop, if only that one is meant."""

    access: Access
    before: Coverage
    at: Crossings = ()

    def crossed_from(self, pending: Pending) -> Crossings:
        """The loops between an access that is behind and this one."""
        if not self.at:
            return pending.crossed
        behind = dict(pending.crossed)
        for loop, how in self.at:
            behind[loop] = behind.get(loop, ENDED)._replace(later=how.later)
        return tuple(sorted(behind.items(), key=lambda item: item[0]))


class Pending(NamedTuple):
    """An access that is behind, with the order made after it, and the loops crossed since."""

    access: Access
    after: Coverage
    crossed: Crossings = ()


class Flow(NamedTuple):
    """What has happened when a path leaves a node: the order made on the way, and the accesses."""

    through: Coverage
    pending: tuple[Pending, ...]


class Summary(NamedTuple):
    """All that the surroundings of a node need to know about it (`docs/language.md`, "Where
    barriers come from")."""

    entries: tuple[Entry, ...]
    exits: tuple[tuple[Exit, Flow], ...]

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What is behind the node, whichever way it is left."""
        return tuple(item for _, flow in self.exits for item in flow.pending)


class Node(Record):
    """Base of nodes. `before` is the place in front of the node, `span` its text."""

    before: Position
    span: Span


class Step(Node):
    """A statement, or the part of one that is evaluated first: its events in order."""

    events: tuple[Access | Summary, ...]


class Commit(Step):
    """The end of an asynchronous scope: what it has put into `queue` is a group from here on. Of
    bulk loads `arrivers` are the threads that arrive; 0: all of the code. `bits` are the numbers
    in orders that their arrivals lead to, each with the threads that have it (`releases.py`)."""

    queue: Queue
    arrivers: int = 0
    bits: tuple[tuple[int, int], ...] = ()


class Wait(Step):
    """A wait of each thread until at most its newest `groups` groups of `queue` are pending.
    `registers` are the ids of the arrays that are touched behind it, `order` what it makes for
    the operations, `acquired` for what was before the arrivals for them."""

    queue: Queue
    groups: int
    registers: tuple[int, ...] = ()
    order: Coverage = NONE
    acquired: Coverage = NONE


class Finish(Step):
    """Thread 0 tells that its block has come so far, and all learn whether it is the last to do
    so: they wait for the answer."""


class Leave(Step):
    """The end of a kernel whose blocks are in clusters: a block's memory is gone behind it."""


class Choice(Node):
    """An `if`: the condition's accesses, then one of two sequences."""

    head: Step
    arms: tuple[Sequence, Sequence]


class Loop(Node):
    """A `for` or `while` with id `loop`.

    `head` is evaluated once, `test` before each iteration (and when the loop ends). `runs` holds if
    the body runs at least once, `ends` if the test can end the loop; it does so after `trips`
    iterations, 0 if that is not known. `end` is the place after the body's last statement, None if
    it has none. With `is_told_apart`, copies before and behind the loop go by its iterations.
    """

    loop: int
    head: Step
    test: Step
    body: Sequence
    runs: bool
    ends: bool
    trips: int
    end: Position | None
    is_told_apart: bool = True


class Jump(Node):
    """`break`, `continue` or `return`; the values of a return are a step before it."""

    exit: Exit


class Region(Node):
    """Code at one perspective: a function's body, a `group`, an arm. `units` are the sets of
    threads that run it, each on its own; a barrier in it is one barrier for each unit."""

    perspective: Perspective
    units: tuple[int, ...]
    body: Sequence

    @property
    def threads(self) -> int:
        threads = 0
        for unit in self.units:
            threads |= unit
        return threads

    def has_whole(self, block: int) -> bool:
        """Whether each unit holds whole blocks of `block` threads."""
        return 0 < block <= self.units[0].bit_count()


class Arms(Node):
    """A `split`: regions that run side by side."""

    regions: tuple[Region, ...]


Sequence = tuple[Node, ...]


class Graph(Record):
    """The graph of one function. `everyone` is the set of all threads of its instance, `block` the
    threads of a block (0 if the function says nothing of it). The numbers of split barriers lie
    `stride` apart, since several units of a caller may have them.
    `between_blocks` are the accesses that all blocks make, in no order: those before `finish`."""

    symbol: str
    everyone: int
    top: Region
    accesses: tuple[Access, ...]
    between_blocks: tuple[Access, ...] = ()
    block: int = 0
    stride: int = 1


def groups_of(units: tuple[int, ...], to: Perspective, block: int) -> tuple[int, ...]:
    """The aligned groups of `to` that each unit falls into, in blocks of `block` threads."""
    if to.level is Level.GRID or (to.level is Level.BLOCK and not block):
        return units
    size = to.size if to.level is Level.THREAD else to.size * block
    group = (1 << size) - 1
    found: list[int] = []
    for unit in units:
        first = first_thread(unit)
        for start in range(first, unit.bit_length(), size):
            found.append(group << start & unit)
    return tuple(found)


State = TypeVar("State")


def follow(
    nodes: Sequence, state: State | None, past: Callable[[Node, State], State | None]
) -> State | None:
    """The state behind nodes, `past` one after the other; None if no path goes on."""
    for node in nodes:
        if state is None:
            break
        state = past(node, state)
    return state


def nodes_in(sequence: Sequence) -> Iterator[Node]:
    """Every node, outer before inner, in the order of the text."""
    for node in sequence:
        yield node
        for inner in sequences_of(node):
            yield from nodes_in(inner)


def position_at(node: Node, *, is_end: bool) -> Position:
    """The place in front of a node, or (with `is_end`) behind the last statement of a loop."""
    if is_end and isinstance(node, Loop) and node.end is not None:
        return node.end
    return node.before


def sequences_in(nodes: Sequence) -> Iterator[Sequence]:
    """All sequences of some code, its own first."""
    yield nodes
    for node in nodes_in(nodes):
        yield from sequences_of(node)


def sequences_of(node: Node) -> tuple[Sequence, ...]:
    """The sequences directly inside a node."""
    match node:
        case Choice(arms=arms):
            return arms
        case Loop(body=body) | Region(body=body):
            return (body,)
        case Arms(regions=regions):
            return tuple(region.body for region in regions)
        case _:
            return ()

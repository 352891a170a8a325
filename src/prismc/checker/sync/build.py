"""Builds the synchronisation graph of one function from its typed tree."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.memory.facts import MemoryFacts
from prismc.checker.sync.accesses import Accesses, Here
from prismc.checker.sync.asked import Guard, Prover, World
from prismc.checker.sync.cycles import cycles_of
from prismc.checker.sync.definitions import Definitions
from prismc.checker.sync.evaluate import Bodies, Evaluator
from prismc.checker.sync.events import Events
from prismc.checker.sync.graph import Graph, Region
from prismc.checker.sync.loads import loads_of
from prismc.checker.sync.nodes import NodeBuilder
from prismc.checker.sync.plan import Position, Where
from prismc.checker.sync.registers import leaves_open, shown_registers
from prismc.checker.sync.roots import Pointers
from prismc.checker.sync.summaries import FunctionSummary
from prismc.checker.types import typed
from prismc.checker.types.walk import statements_in
from prismc.hardware.groups import Level
from prismc.hardware.primitives import MOST_THREADS
from prismc.source.record import Record


class Built(Record):
    """A function's graph, and what its summary needs besides."""

    graph: Graph
    accesses: Accesses
    block_threads: int
    cut: frozenset[int]


def build_graph(
    body: typed.Body,
    bodies: Bodies,
    memory: MemoryFacts,
    callees: Mapping[str, FunctionSummary],
    *,
    most: int,
    cut: frozenset[int] = frozenset(),
    has_scopes: bool = False,
    prover: Prover | None = None,
) -> Built:
    """The graph of one function; its callees are known by their summaries. With `has_scopes` each
    narrowing is one node. In a kernel that is launched cooperatively code of blocks is. No function
    of the program has more than `most` threads. The loops of pipelines with ids `cut` may end
    behind each of their steps.
    `prover` will be asked about accesses that may meet."""
    threads, block_threads = instance_threads(body.instance)
    definitions = Definitions(body.instance, body.statements)
    evaluator = Evaluator(definitions, bodies, threads, block_threads)
    evaluator.cycles = cycles_of(body.statements, evaluator, definitions.turning.values())
    returned = {symbol: callee.returned for symbol, callee in callees.items()}
    shown = shown_registers(body, callees)
    pointers = Pointers(body, definitions, memory, returned, threads, block_threads, shown)
    trips = {
        statement.id: found[2]
        for statement in statements_in(body.statements)
        if isinstance(statement, typed.For) and (found := evaluator.trips(statement))
    }
    disjoint = frozenset(
        statement.variable
        for statement in statements_in(body.statements)
        if isinstance(statement, typed.AssumeDisjoint)
    )
    world: World | None = None
    if prover is not None:
        world = World(
            prover=prover,
            definitions=definitions,
            bodies=bodies,
            threads=threads,
            block_threads=block_threads,
        )
    accesses = Accesses(pointers, evaluator, trips, threads, block_threads, disjoint, world)
    builder = NodeBuilder(
        body.instance,
        accesses,
        Events(accesses, callees),
        trips,
        has_scopes=has_scopes,
        leaves_open=leaves_open(body, callees),
        loads=loads_of(body, pointers, callees),
        cut=cut,
    )
    everyone = (1 << threads) - 1
    guards = tuple(
        Guard(condition=condition, holds=True, loops=(), is_assumed=True)
        for condition in body.instance.assumptions
    )
    top = Region(
        before=Position(where=Where.BEFORE, anchor=-1),
        span=body.instance.span,
        perspective=body.instance.bound.code,
        units=(everyone,),
        body=builder.whole(body.statements, Here(units=(everyone,), guards=guards)),
    )
    graph = Graph(
        symbol=body.instance.symbol,
        everyone=everyone,
        block=block_threads,
        stride=1 if threads == most else max(most, MOST_THREADS),
        top=top,
        accesses=tuple(accesses.made),
        between_blocks=tuple(
            access for access in accesses.made[: builder.before_finish] if not access.for_engines
        ),
    )
    return Built(graph=graph, accesses=accesses, block_threads=block_threads, cut=cut)


def instance_threads(instance: typed.Instance) -> tuple[int, int]:
    """Threads of one instance of the function's top perspective, and of a block.

    An instance of a kernel is a block, or a cluster where it is launched in clusters. Where no
    kernel fixes the block's size, it is what the bound promises; 0 for a function of threads, which
    says nothing of its block.
    """
    bound = instance.bound
    if bound.code.level is Level.THREAD:
        return bound.code.size, instance.threads or 0
    block = instance.threads or max(1, bound.thread)
    blocks = instance.launch.cluster if instance.launch is not None else max(1, bound.block)
    return blocks * block, block

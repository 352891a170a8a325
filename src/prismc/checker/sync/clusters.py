"""Barriers between blocks are there for whole clusters only (PTX ISA, "barrier.cluster")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from prismc.checker.sync.choose import Planned, earlier_note
from prismc.checker.sync.conflicts import Conflict
from prismc.checker.sync.errors import PartOfCluster
from prismc.checker.sync.graph import Step
from prismc.checker.sync.mbarriers import kernels_reaching, split_barriers
from prismc.checker.sync.split import SplitBarrier
from prismc.checker.types import typed
from prismc.diagnostics.sink import Sink


def report_parts(program: typed.Program, functions: Iterable[Planned], sink: Sink) -> None:
    """Refuse orders between some blocks of a larger cluster, once a function."""
    reached = kernels_reaching(program)
    for planned in functions:
        launches = (program.bodies[name].instance.launch for name in reached[planned.graph.symbol])
        clusters = sorted({launch.cluster for launch in launches if launch is not None})
        wrong = (
            PartOfCluster(
                at=reason.later.at,
                root=", ".join(root.name for root in reason.later.roots),
                blocks=blocks,
                cluster=cluster,
                related=(earlier_note(reason),),
            )
            for cluster in clusters
            for blocks, reason in _orders(planned, cluster)
            if reason is not None
        )
        for problem in islice(wrong, 1):
            sink.report(problem)


def _orders(planned: Planned, cluster: int) -> Iterator[tuple[int, Conflict | None]]:
    """The orders between fewer blocks than a cluster has, each with a reason."""
    for barrier in planned.barriers:
        blocks = barrier.size // planned.block_threads if planned.is_cluster(barrier) else 0
        if blocks and blocks != cluster:
            yield blocks, barrier.reasons[0]
    for split in split_barriers(planned.graph):
        if split.is_wide and len(split.units) != cluster:
            yield len(split.units), _reason(planned.waits, split)


def _reason(waits: Mapping[Step, tuple[Conflict, ...]], split: SplitBarrier) -> Conflict | None:
    found = (reasons for step, reasons in waits.items() if getattr(step, "barrier", 0) is split)
    return next((reasons[0] for reasons in found if reasons), None)

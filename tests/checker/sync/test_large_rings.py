"""Pipelines of many slots have the plan of few, though not all of it is tried one by one."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from random import Random

import pytest

from prismc.checker.sync import waits
from prismc.checker.sync.coverage import NONE, Coverage, barrier, commit, then, wait
from prismc.checker.sync.passage import Passage
from prismc.checker.sync.plan import SyncKind, SyncOperation
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.hardware.asynchronous import Completion
from support.checking import check_texts
from support.rings import AHEAD, APART


def _operations(text: str, slots: int) -> tuple[SyncOperation, ...]:
    session = check_texts({"ring.prism": text.replace("SLOTS", str(slots))}, "ring.prism")
    checked = run_stages(session, session.files.known("ring.prism"), CHECKS)
    (plan,) = checked.plan.instances.values()
    return plan.operations


def _pairs(operation: SyncOperation) -> set[tuple[str, int, int]]:
    return {(edge.hazard, edge.earlier.at.start, edge.later.at.start) for edge in operation.edges}


@pytest.mark.parametrize("text", [AHEAD, APART])
def test_many_slots(text: str) -> None:
    operations = _operations(text, 24)
    four, five = (Counter(one.kind for one in _operations(text, slots)) for slots in (4, 5))
    found = Counter(one.kind for one in operations)
    assert found == {kind: four[kind] + 20 * (five[kind] - four[kind]) for kind in found | four}
    waiting = [one for one in operations if one.kind is SyncKind.WAIT_GROUP]
    assert {one.count for one in waiting} <= {22}
    silent = (SyncKind.COMMIT_GROUP, SyncKind.MBARRIER_INIT)
    assert all(one.edges for one in operations if one.kind not in silent)


@pytest.mark.parametrize("text", [AHEAD, APART])
def test_reasons_without_trying(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = _operations(text, 3)
    monkeypatch.setattr(waits, "MOST_VISITS", 0)
    asked = _operations(text, 3)
    assert [(one.kind, one.position, one.count) for one in asked] == [
        (one.kind, one.position, one.count) for one in tried
    ]
    # What asked for an operation is one of the orders that it alone makes.
    assert all(
        _pairs(one) & _pairs(other) for one, other in zip(asked, tried, strict=True) if other.edges
    )


def _order(random: Random) -> Coverage:
    units = [0b1111] if random.random() < 0.5 else [0b11, 0b1100]
    match random.randrange(4):
        case 0:
            return commit(Completion.COPY_GROUP)
        case 1:
            return wait(Completion.COPY_GROUP, random.randrange(4))
        case 2:
            return Coverage(((0b11, 1 << 4 + random.randrange(2)),))  # arrivals
        case _:
            return barrier(units)


def test_stretches_of_a_path() -> None:
    """However a stretch is put together, it orders what its parts do one after the other."""
    random = Random(7)
    passage, orders = Passage(), list[Coverage]()
    for length in range(1, 60):
        orders.append(_order(random))
        passage.add(orders[-1])
        for start in {0, 1, length // 2, length - 1, length}:
            found, expected = passage.since(start), reduce(then, orders[start:], NONE)
            assert found.queues == expected.queues or set(found.queues) == set(expected.queues)
            assert set(found.classes) == set(expected.classes)

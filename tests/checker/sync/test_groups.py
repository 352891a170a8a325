"""Commits, waits and their counts: the algebra against a simulation, and whole plans."""

from __future__ import annotations

from random import Random

import pytest

from checker.sync.plans import Result, planned
from prismc.checker.sync.coverage import NONE, Coverage, barrier, both, commit, then, wait
from prismc.checker.sync.plan import SyncKind
from prismc.hardware.asynchronous import Completion

COPIES, BULK = Completion.COPY_GROUP, Completion.BULK_GROUP
UNITS = ((0b0011, 0b1100), (0b1111,), (0b0110,))
AGES = range(-1, 6)

Path = list[Coverage]


def some_path(random: Random) -> Path:
    events = [commit(COPIES), commit(COPIES), *(wait(COPIES, n) for n in range(4))]
    events += [commit(BULK), wait(BULK, 0), *(barrier(unit) for unit in UNITS)]
    return [random.choice(events) for _ in range(random.randrange(7))]


def along(path: Path) -> Coverage:
    order = NONE
    for event in path:
        order = then(order, event)
    return order


def simulated(path: Path, age: int) -> Coverage | None:
    """The order since a group is complete that has `age` when the path starts."""
    since: Coverage | None = None
    for event in path:
        if since is not None:
            since = then(since, event.without_groups())
        elif any(least <= age for least, _ in event.groups(COPIES).waits):
            since = NONE
        age += event.groups(COPIES).commits
    return since


@pytest.mark.parametrize("seed", range(80))
def test_a_path_completes_what_its_waits_complete(seed: int) -> None:
    random = Random(seed)
    first, second = some_path(random), some_path(random)
    for order in (along([*first, *second]), then(along(first), along(second))):
        assert [order.completed(COPIES, age) for age in AGES] == [
            simulated([*first, *second], age) for age in AGES
        ]


@pytest.mark.parametrize("seed", range(80))
def test_on_either_path_only_what_both_complete_is_complete(seed: int) -> None:
    random = Random(seed)
    paths, rest = (some_path(random), some_path(random)), some_path(random)
    order = then(both(*(along(path) for path in paths)), along(rest))
    for age in AGES:
        claimed = order.completed(COPIES, age)
        if claimed is not None:
            for path in paths:
                real = simulated([*path, *rest], age)
                assert real is not None
                assert both(real, claimed).classes == both(claimed, claimed).classes


# --------------------------------------------------------------------------- whole plans

HEAD = """
from std.copy import cp_async_16
@requires(block[1], thread[64])
def f(X: ptr(const f32), n: int, y: f32[1] @ thread[1]):
    shared S: f32[{slots}][256]
    t: int @ thread[1] = id()
"""
FILL = """\
partition S[{slot}] as async d @ thread[1] at t * 4:
    cp_async_16(d, 0, X, {start} + t * 4)"""
USE = "y[0] += S[{slot}][255 - t]"


def program(slots: int, body: str) -> str:
    lines = "\n".join("    " + line for line in body.splitlines())
    return HEAD.format(slots=slots) + lines + "\n"


def counts(result: Result) -> list[str]:
    """The kinds of the operations in order, a wait with its count."""
    assert result.problems == []
    return [
        f"wait {operation.count}"
        if operation.kind is SyncKind.WAIT_GROUP
        else operation.kind.value.split()[0]
        for operation in result.plan.instances["f"].operations
    ]


def indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def test_each_slot_waits_for_its_own_group() -> None:
    fills = [FILL.format(slot=slot, start=slot * 256) for slot in range(3)]
    uses = [USE.format(slot=slot) for slot in range(3)]
    assert counts(planned(program(3, "\n".join([*fills, *uses])))) == [
        "commit", "commit", "commit", "wait 2", "block", "wait 1", "block", "wait 0", "block",
    ]  # fmt: skip


def test_the_last_slot_first_waits_once() -> None:
    """No wait tells the three groups apart: they are one."""
    fills = [FILL.format(slot=slot, start=slot * 256) for slot in range(3)]
    uses = [USE.format(slot=slot) for slot in (2, 1, 0)]
    assert counts(planned(program(3, "\n".join([*fills, *uses])))) == [
        "commit", "wait 0", "block",
    ]  # fmt: skip


def test_what_is_never_used_is_never_waited_for() -> None:
    assert counts(planned(program(1, FILL.format(slot=0, start=0)))) == ["commit"]


def test_the_fewest_commits_of_all_paths_count() -> None:
    """The second scope may not run, so the first group may be the newest one."""
    second = indented(FILL.format(slot=1, start="i * 256"))
    body = f"{FILL.format(slot=0, start=0)}\nfor i in range(n):\n{second}\n{USE.format(slot=0)}"
    found = counts(planned(program(2, body)))
    assert "wait 0" in found
    assert found[-2:] == ["wait 0", "block"]


def pipeline(slots: int, lead: int) -> str:
    """The loop of sync.md E2, with `slots` slots and produced `lead` steps ahead."""
    prologue = [FILL.format(slot=slot, start=slot * 256) for slot in range(lead)]
    steps = []
    for slot in range(slots):
        steps.append(FILL.format(slot=(slot + lead) % slots, start=f"(k + {slot + lead}) * 256"))
        steps.append(USE.format(slot=slot))
    loop = f"for k in range(0, n, {slots}):\n" + indented("\n".join(steps))
    return program(slots, "\n".join([*prologue, loop]))


@pytest.mark.parametrize("slots", [2, 3, 4])
def test_a_step_of_a_pipeline_has_one_wait_and_one_barrier(slots: int) -> None:
    """E2: `wait_group S - 2; barrier; fill(next); commit; use(cur)`."""
    prologue, step = ["commit"] * (slots - 1), [f"wait {slots - 2}", "block", "commit"]
    assert counts(planned(pipeline(slots, slots - 1))) == [*prologue, *step * slots]


def test_an_early_wait_that_saves_no_barrier_stays_late() -> None:
    fills = [FILL.format(slot=slot, start=slot * 256) for slot in range(2)]
    body = "\n".join([*fills, USE.format(slot=0)])
    assert counts(planned(program(2, body))) == ["commit", "commit", "wait 1", "block"]


def test_an_array_filled_once_is_waited_for_outside_the_loop() -> None:
    body = f"{FILL.format(slot=0, start=0)}\nfor i in range(n):\n    {USE.format(slot=0)}"
    result = planned(program(1, body))
    assert [line.split(": ")[1] for line in result.operations] == [
        "after 6 commit group block[1]",
        "before 8 wait group block[1]",
        "before 8 block barrier block[1]",
    ]


def test_a_condition_of_a_loop_waits_at_the_end_of_the_body() -> None:
    fill = indented(FILL.format(slot=0, start="n"))
    body = f"{FILL.format(slot=0, start=0)}\nwhile S[0][3] > 1.0:\n{fill}"
    assert counts(planned(program(1, body))) == [
        "commit", "wait 0", "block", "block", "commit", "wait 0", "block",
    ]  # fmt: skip

"""The check for deadlocks, over protocols written by hand: it finds faults, and nothing else."""

from __future__ import annotations

import pytest

from prismc.checker.sync.liveness import (
    Act,
    Either,
    Gate,
    Leave,
    Operation,
    Protocol,
    Repeat,
    Team,
    check_liveness,
)


def arrive(gate: str, place: str = "") -> Operation:
    return Operation(gate=gate, act=Act.ARRIVE, place=place or f"at arrive {gate}")


def wait(gate: str) -> Operation:
    return Operation(gate=gate, act=Act.WAIT, place=f"at wait {gate}")


def meet(gate: str, place: str) -> Operation:
    return Operation(gate=gate, act=Act.MEET, place=place)


def loop(*body: object, key: str = "loop") -> Repeat:
    return Repeat(key=key, body=body)  # type: ignore[arg-type]


def either(first: tuple[object, ...], second: tuple[object, ...], key: str = "if") -> Either:
    return Either(key=key, arms=(first, second))  # type: ignore[arg-type]


def protocol(producer: tuple[object, ...], consumer: tuple[object, ...], **gates: int) -> Protocol:
    """One producing thread, 64 consumers. Gates are given with their counts; those named `empty..`
    have a credit."""
    teams = (
        Team(name="producer", threads=1, body=producer),  # type: ignore[arg-type]
        Team(name="consumers", threads=64, body=consumer),  # type: ignore[arg-type]
    )
    made = {
        name: Gate(name=name, count=count, has_credit=name.startswith("empty"))
        for name, count in gates.items()
    }
    return Protocol(teams=teams, gates=made)


def message(found: Protocol) -> str:
    fault = check_liveness(found)
    return "" if fault is None else fault.message


RING = protocol(
    (loop(wait("empty"), arrive("full")),),
    (loop(wait("full"), arrive("empty")),),
    full=1,
    empty=64,
)


def test_a_ring_with_a_credit_is_live() -> None:
    assert message(RING) == ""


def test_two_slots_are_live() -> None:
    found = protocol(
        (loop(wait("empty0"), arrive("full0"), wait("empty1"), arrive("full1")),),
        (loop(wait("full0"), arrive("empty0"), wait("full1"), arrive("empty1")),),
        full0=1,
        full1=1,
        empty0=64,
        empty1=64,
    )
    assert message(found) == ""


def test_without_the_credit_both_wait() -> None:
    found = protocol(
        (loop(wait("back"), arrive("full")),),
        (loop(wait("full"), arrive("back")),),
        full=1,
        back=64,
    )
    fault = check_liveness(found)
    assert fault is not None
    assert fault.message == "producer may wait for ever"
    assert fault.schedule == (
        "producer: stuck at wait back at back",
        "consumers: stuck at wait full at full",
    )


def lagging(slots: int) -> Protocol:
    """A slot is given back only when the one after it is full."""
    names = [str(number) for number in range(slots)]
    producer = [item for name in names for item in (wait(f"empty{name}"), arrive(f"full{name}"))]
    consumer: list[Operation] = []
    for name, last in zip(names, [names[-1], *names], strict=False):
        consumer += [wait(f"full{name}"), arrive(f"empty{last}")]
    gates = {f"full{name}": 1 for name in names} | {f"empty{name}": 64 for name in names}
    first = (wait("full0"), *(each for each in consumer[2:]))
    last = arrive(f"empty{names[-1]}")
    return protocol((*producer, loop(*producer)), (*first, loop(*consumer), last), **gates)


def test_a_cycle_through_the_slots() -> None:
    assert message(lagging(1)) == "producer may wait for ever"
    assert message(lagging(2)) == ""
    assert message(lagging(3)) == ""


def test_an_arrival_in_one_arm_only() -> None:
    found = protocol(
        (loop(wait("empty"), either((arrive("full"),), ())),),
        (loop(wait("full"), arrive("empty")),),
        full=1,
        empty=64,
    )
    assert "may wait for ever" in message(found)


def test_arms_that_both_sides_take_alike() -> None:
    found = protocol(
        (loop(either((wait("empty"), arrive("full")), ())),),
        (loop(either((wait("full"), arrive("empty")), ())),),
        full=1,
        empty=64,
    )
    assert message(found) == ""


def test_loops_that_go_around_differently_often() -> None:
    found = protocol(
        (loop(wait("empty"), arrive("full"), key="one"),),
        (loop(wait("full"), arrive("empty"), key="other"),),
        full=1,
        empty=64,
    )
    assert message(found) in ("producer may wait for ever", "consumers may wait for ever")


def test_a_producer_that_does_not_wait_runs_over_the_phase() -> None:
    found = protocol((loop(arrive("full")),), (loop(wait("full")),), full=1)
    assert message(found) == "consumers may miss a phase of full"


def test_arrivals_that_overtake_one_another() -> None:
    found = protocol((loop(arrive("full")),), (loop(arrive("full"), wait("full")),), full=65)
    assert message(found) == "producer may arrive at full before its phase is over"


def test_a_wrong_count() -> None:
    few = protocol(
        (loop(wait("empty"), arrive("full")),),
        (loop(wait("full"), arrive("empty")),),
        full=1,
        empty=32,
    )
    assert message(few) == "64 threads arrive at empty, which counts 32"
    many = protocol(
        (loop(wait("empty"), arrive("full")),),
        (loop(wait("full"), arrive("empty")),),
        full=2,
        empty=64,
    )
    assert "may wait for ever" in message(many)


def test_two_barriers_with_one_number() -> None:
    found = protocol(
        (meet("b", "line 3"), meet("b", "line 5")),
        (meet("b", "line 4"), meet("b", "line 5")),
        b=65,
    )
    assert message(found) == "threads meet at b from line 3 and line 4"


def test_full_barriers_in_loops_and_exits() -> None:
    body = (
        loop(
            meet("b", "line 3"),
            either((Leave(),), ()),
            either((Leave(is_continue=True),), (), key="next"),
            meet("b", "line 6"),
        ),
        meet("b", "line 7"),
        either((Leave(is_return=True),), (), key="return"),
        meet("b", "line 9"),
    )
    assert message(protocol(body, body, b=65)) == ""


def test_one_team_that_leaves_early() -> None:
    body = (loop(meet("b", "line 3"), either((Leave(),), (), key="mine")),)
    other = (loop(meet("b", "line 3")),)
    assert "may wait for ever" in message(protocol(body, other, b=65))


@pytest.mark.parametrize("nested", [False, True])
def test_credits_survive_outer_loops(nested: bool) -> None:
    """A persistent kernel: the ring goes on from tile to tile."""
    producer = loop(wait("empty"), arrive("full"))
    consumer = loop(wait("full"), arrive("empty"))
    if nested:
        producer, consumer = loop(producer, key="tiles"), loop(consumer, key="tiles")
    assert message(protocol((producer,), (consumer,), full=1, empty=64)) == ""


@pytest.mark.parametrize(
    ("is_given", "wrong"),
    [
        (True, ""),
        (False, "producer may miss a phase of call"),
    ],
)
def test_what_a_call_orders_keeps_its_own_phases_apart(is_given: bool, wrong: str) -> None:
    """Consumers do not wait at the call, so the next one may follow at once."""
    gates = {"call": Gate(name="call", count=64, is_given=is_given)}
    teams = (
        Team(name="producer", threads=1, body=(loop(wait("call")),)),
        Team(name="consumers", threads=64, body=(loop(arrive("call")),)),
    )
    assert message(Protocol(teams=teams, gates=gates)) == wrong


@pytest.mark.parametrize(
    ("between", "wrong"),
    [
        ("call", ""),
        ("", "consumers may miss a phase of full"),
    ],
)
def test_a_call_between_makes_the_producer_wait(between: str, wrong: str) -> None:
    """Consumers have waited for a phase when they come to the call that the producer waits for."""
    behind = [wait(between)] if between else []
    before = [arrive(between)] if between else []
    gates = {
        "full": Gate(name="full", count=1),
        "call": Gate(name="call", count=64, is_given=True),
    }
    teams = (
        Team(name="producer", threads=1, body=(loop(arrive("full"), *behind),)),
        Team(name="consumers", threads=64, body=(loop(wait("full"), *before),)),
    )
    assert message(Protocol(teams=teams, gates=gates)) == wrong


@pytest.mark.parametrize(
    ("runs", "wrong"),
    [
        (True, ""),
        (False, "consumers may miss a phase of full"),
    ],
)
def test_a_loop_that_runs_brings_them_together(runs: bool, wrong: str) -> None:
    meeting = Repeat(key="inner", body=(meet("all", "at 1"),), runs=runs)
    producer = (arrive("full"), meeting, arrive("full"))
    consumer = (wait("full"), meeting, wait("full"))
    assert message(protocol(producer, consumer, full=1, all=65)) == wrong

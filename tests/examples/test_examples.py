"""The example programs: what they compute, under many schedules, and the barriers they end with.

The emulator runs the PTX that ships and reports races, reads of what nobody wrote, and accesses out
of bounds; sizes are chosen ragged so that every guard matters. Each planned operation is needed:
without it, the emulator finds a fault.
"""

from __future__ import annotations

import pytest

from examples.launches import EXAMPLES, LAUNCHES, Launch, example, small_example
from prismc.emulator.schedule import Order, Plan, adversaries
from support.numbers import random_for
from support.running import Compiled

SCHEDULES = {
    "together": Plan(),
    "reversed": Plan(order=Order.REVERSED, high_blocks_first=True),
    "random": Plan(order=Order.RANDOM, seed=3),
}
# Synchronising instructions in each kernel's PTX, which are the plan's: none is dropped or doubled.
BARRIERS = {
    "saxpy": {},
    "transpose": {"bar.sync": 1},
    "block_sum": {"bar.sync": 1},
    "row_softmax": {"bar.sync": 3},
    "histogram": {"bar.sync": 2},
    "prefix_scan": {"bar.sync": 6},
    "last_block_sum": {"bar.sync": 2, "bar.red.or.pred": 1},
    "online_softmax": {"bar.sync": 1},
    "layer_norm": {"bar.sync": 2},
    "batched_transpose": {"bar.sync": 1},
    "stencil": {"bar.sync": 1},
    "row_argmax": {},
    "attention": {"bar.sync": 2},
    "sgemm_naive": {},
    "sgemm_coalesced": {},
    "sgemm_tiled": {"bar.sync": 2},
    "sgemm_vectorised": {"bar.sync": 2},
    "sgemm_warp_tiled": {"bar.sync": 2},
    "tf32_matmul": {"bar.warp.sync": 6},  # two a step, which is there three times
    "bf16_matmul": {"bar.sync": 3},
    "hopper_matmul": {"bar.sync": 1, "bar.warp.sync": 1},
}
RANDOM_RUNS = 12
FAULTY_RUNS = 5
SLOW_RUNS = 1


def _check(program: Compiled, launch: Launch, plan: Plan) -> None:
    assert launch.run(program, plan) == ""


def test_every_example_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.prism")} == set(BARRIERS) == set(LAUNCHES)


@pytest.mark.parametrize("name", BARRIERS)
def test_barriers_are_those_of_the_plan(name: str) -> None:
    lines = [line.split()[0] for line in example(name).ptx.splitlines() if line.startswith("\tbar")]
    assert {each.rstrip(";"): lines.count(each) for each in lines} == BARRIERS[name]


@pytest.mark.parametrize("name", BARRIERS)
def test_arrays_stay_in_registers(name: str) -> None:
    assert ".local" not in example(name).ptx


@pytest.mark.parametrize("plan", SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        pytest.param(name, chosen, id=f"{name}-{'-'.join(map(str, chosen))}")
        for name, sizes in LAUNCHES.items()
        for chosen in sizes.chosen
    ],
)
def test_chosen_sizes(name: str, sizes: tuple[int, ...], plan: Plan) -> None:
    _check(example(name), LAUNCHES[name].make(random_for(name), *sizes), plan)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        (name, number)
        for name, sizes in LAUNCHES.items()
        for number in range(SLOW_RUNS if sizes.is_slow else RANDOM_RUNS)
    ],
)
def test_random_sizes_and_schedules(name: str, number: int) -> None:
    random = random_for(f"{name} {number}")
    sizes = [int(random.integers(1, most, endpoint=True)) for most in LAUNCHES[name].largest]
    plan = adversaries(RANDOM_RUNS, seed=number)[number]
    _check(small_example(name), LAUNCHES[name].launch_small(random, *sizes), plan)


@pytest.mark.parametrize(("order", "kind"), [(Order.TOGETHER, 2), (Order.RANDOM, 1)])
def test_prefix_scan_of_many_blocks_with_the_last_first(order: Order, kind: int) -> None:
    launch = LAUNCHES["prefix_scan"].make(random_for("many"), 200 * 4096 - 77, kind)
    _check(example("prefix_scan"), launch, Plan(order=order, seed=5, high_blocks_first=True))


@pytest.mark.parametrize("sizes", [(16, 8, 8), (35, 21, 19)])
def test_tf32_matmul_for_another_target(sizes: tuple[int, ...]) -> None:
    program = example("tf32_matmul", "sm_90a")
    assert "mma.sync.aligned.m16n8k8" in program.ptx
    _check(program, LAUNCHES["tf32_matmul"].make(random_for("sm_90a"), *sizes), Plan())


@pytest.mark.parametrize("name", LAUNCHES)
def test_no_operation_can_be_dropped(name: str) -> None:
    sizes = LAUNCHES[name]
    faulty = [each for each in (sizes.faulty, sizes.faulty_too) if each]
    launches = [sizes.launch_small(random_for(name), *each) for each in faulty]
    plans = adversaries(SLOW_RUNS if sizes.is_slow else FAULTY_RUNS)
    for number in small_example(name).checked.plan.numbers():
        program = small_example(name, (number,))
        is_found = (
            all(
                program.launch(each.blocks, each.arguments, each.kernel, plan).findings
                for plan in plans
            )
            for each in launches
        )
        assert any(is_found), f"operation {number} can be dropped"

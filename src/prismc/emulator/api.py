"""`run_ptx`: a kernel's PTX text, a launch and arguments in; arrays and findings out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.emulator.allocation import keep_freed_memory
from prismc.emulator.findings import Finding, Kind
from prismc.emulator.geometry import Dim3, Shape
from prismc.emulator.host import Argument, Arguments, LaunchError, dim3
from prismc.emulator.launch import Launch, Uses
from prismc.emulator.layout import Layout
from prismc.emulator.machine import Machine
from prismc.emulator.memory import SHARED_START
from prismc.emulator.names import SharedArray, source_name
from prismc.emulator.origins import OriginRecorder, TooManyOrigins, UsedOnly
from prismc.emulator.profile import Profile, profile_of
from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.ptx.tree import Function, Module
from prismc.emulator.schedule import Plan
from prismc.emulator.speculation import suspects
from prismc.emulator.timer import InstructionLimit, TimeLimit
from prismc.hardware.targets import TARGETS, Target
from prismc.source.record import Record

# What any GPU takes (CUDA C++ Programming Guide, "Compute Capabilities").
_MAX_THREADS = 1024
_MAX_BLOCK = Dim3(1024, 1024, 64)
_MAX_GRID = Dim3((1 << 31) - 1, 65535, 65535)
# What this machine takes: the order of all blocks is kept.
_MAX_BLOCKS = 1 << 24


class Checks(Record):
    """What to watch for. `off` names kinds of findings that are not reported."""

    races: bool = True
    uninitialised: bool = True
    off: frozenset[Kind] = frozenset()


ALL_CHECKS = Checks()
NO_CHECKS = Checks(races=False, uninitialised=False)
IN_STEP = Plan()


class Statistics(Record):
    """What a launch took: executed instructions summed over threads, seconds, blocks."""

    thread_instructions: int
    seconds: float
    blocks: int


class RunResult(Record):
    """What a launch left behind.

    `outputs` has an entry for each argument: an array argument's final content, None for others.
    `printed` is what the kernel printed, `findings` what was wrong, in the order it was seen.
    `is_stopped` tells that it is not from the end: the launch came to its limit of instructions.
    """

    outputs: tuple[npt.NDArray[Any] | None, ...]
    findings: tuple[Finding, ...]
    statistics: Statistics
    printed: str
    module: Module
    profile: Profile | None = None
    is_stopped: bool = False

    def array(self, index: int) -> npt.NDArray[Any]:
        """The final content of the array argument at a position."""
        found = self.outputs[index]
        if found is None:
            raise IndexError(f"argument {index} is no array")
        return found


def run_ptx(
    ptx: str | Module,
    kernel: str | None,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Argument],
    *,
    cluster: int | Sequence[int] | None = None,
    dynamic_shared: int = 0,
    checks: Checks = ALL_CHECKS,
    plan: Plan = IN_STEP,
    shared_arrays: tuple[SharedArray, ...] = (),
    time_limit: float | None = None,
    instruction_limit: int | None = None,
    profile: bool = False,
    on_tick: Callable[[int, int, int], None] | None = None,
) -> RunResult:
    """Executes one kernel of a PTX module on NumPy.

    `ptx` is PTX text (or a module parsed before), `kernel` the entry's name (None: the only one),
    `grid`, `block` and `cluster` are extents (an integer or up to three). `args` are in the
    kernel's order: NumPy arrays (passed by pointer; copied, never changed), `host.Buffer`,
    `host.Tensor`, numbers, or `bytes` for structs. `dynamic_shared` is the number of dynamic shared
    bytes, `shared_arrays` names the parts of the kernel's shared memory for findings. `profile`
    asks for costs by line. `on_tick` gets the finished blocks, all blocks and the thread
    instructions so far, now and then; `time_limit` is in seconds of this thread's processor
    time, a launch of more than `instruction_limit` instructions of all threads is stopped and
    judged so far.

    Raises PtxError for PTX that is malformed or not supported, LaunchError for a launch that cannot
    be, timer.TimeLimit.
    """
    keep_freed_memory()
    module = parse_module(ptx) if isinstance(ptx, str) else ptx
    function = _kernel(module, kernel)
    shape = _shape(function, grid, block, cluster)
    deadline = None if time_limit is None else time.thread_time() + time_limit

    def once(uses: Uses | None, on_tick: Callable[[int, int, int], None] | None) -> RunResult:
        launch = Launch(module, function, shape, plan, checks.off)
        launch.layout.shared_arrays = shared_arrays
        launch.uses = uses
        machine = Machine(launch)
        machine.observe(races=checks.races, uninitialised=checks.uninitialised, profile=profile)
        machine.timer.on_tick = on_tick
        machine.timer.deadline = deadline
        machine.timer.most_instructions = instruction_limit
        return _run(launch, machine, args, dynamic_shared, profile=profile)

    result = once(None, on_tick)
    loads = suspects(result.findings, module)
    if not loads:
        return result
    recorder = OriginRecorder(loads)
    try:
        once(recorder, None)
        return once(UsedOnly(recorder.used()), None)
    except (TooManyOrigins, TimeLimit):
        return result


def _run(
    launch: Launch, machine: Machine, args: Sequence[Argument], dynamic_shared: int, *,
    profile: bool,
) -> RunResult:  # fmt: skip
    """One execution from the beginning to the end."""
    arguments = Arguments(launch.layout.memory, launch.kernel, args)
    machine.prepare(tuple(arguments.contents), dynamic_shared)
    _judge_shared(launch.module, launch.layout)
    start = time.monotonic()
    is_stopped = False
    try:
        machine.run()
    except InstructionLimit:
        is_stopped = True
    return RunResult(
        outputs=tuple(arguments.download(index) for index in range(len(args))),
        findings=launch.findings.all(),
        statistics=Statistics(
            thread_instructions=launch.instructions,
            seconds=time.monotonic() - start,
            blocks=launch.shape.grid.volume,
        ),
        printed="".join(launch.printed),
        module=launch.module,
        profile=profile_of(launch) if profile else None,
        is_stopped=is_stopped,
    )


def _kernel(module: Module, name: str | None) -> Function:
    names = module.kernels()
    if name is None and len(names) == 1:
        name = names[0]
    if name is None or name not in names:
        asked = "no kernel named" if name is None else f"no kernel `{name}`"
        raise LaunchError(f"{asked}; the module has: {', '.join(names) or 'none'}")
    return module.functions[name]


def _shape(
    function: Function,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    cluster: int | Sequence[int] | None,
) -> Shape:
    required = function.limits.get("reqnctapercluster")
    if cluster is None:
        cluster = required or 1
    shape = Shape(dim3(grid, "grid"), dim3(block, "block"), dim3(cluster, "cluster"))
    _judge(function, shape)
    return shape


def _judge(function: Function, shape: Shape) -> None:
    """Refuses launches that a GPU would refuse."""
    threads = shape.block.volume
    if threads > _MAX_THREADS:
        raise LaunchError(f"a block of {threads} threads; the limit is {_MAX_THREADS}")
    _judge_extents("block", shape.block, _MAX_BLOCK)
    _judge_extents("grid", shape.grid, _MAX_GRID)
    if shape.grid.volume > _MAX_BLOCKS:
        raise LaunchError(
            f"a grid of {shape.grid.volume} blocks; this machine runs at most {_MAX_BLOCKS}"
        )
    if any(g % c for g, c in zip(shape.grid, shape.cluster, strict=True)):
        raise LaunchError(f"a grid of {shape.grid} is no multiple of a cluster of {shape.cluster}")
    most = function.limits.get("maxntid")
    if most is not None and threads > int(np.prod(most)):
        raise LaunchError(f"`{function.name}` allows {int(np.prod(most))} threads, not {threads}")
    exact = function.limits.get("reqntid")
    if exact is not None and Dim3(*exact) != shape.block:
        raise LaunchError(
            f"`{function.name}` requires a block of {Dim3(*exact)}, not {shape.block}"
        )


def _shared_limit(target: Target) -> int:
    return target.shared_limit


def _judge_extents(what: str, extents: Dim3, limits: Dim3) -> None:
    for axis, extent, limit in zip("xyz", extents, limits, strict=True):
        if extent > limit:
            raise LaunchError(f"the {what}'s {axis} extent is {extent}; the limit is {limit}")


def _judge_shared(module: Module, layout: Layout) -> None:
    """Refuses a launch with more shared memory than a block can have on the module's target."""
    needed = layout.shared_end - SHARED_START
    target = TARGETS.get(module.target, max(TARGETS.values(), key=_shared_limit))
    if needed <= target.shared_limit:
        return
    arrays = ", ".join(
        f"`{source_name(shared.variable.name)}` {shared.size}"
        for shared in sorted(layout.shared, key=lambda shared: shared.start)
    )
    raise LaunchError(
        f"{needed} bytes of shared memory ({arrays}); "
        f"a block can have {target.shared_limit} on {target.name}"
    )

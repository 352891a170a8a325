"""Proves a plan on the emulator: no schedule finds a fault in the program, and without any one of
its operations some schedule does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from prismc.checker.results import CheckedProgram
from prismc.checker.types import typed
from prismc.checker.types.walk import calls_in
from prismc.driver.build import Emit, build_file
from prismc.driver.launch_arguments import ArgumentError, make_arguments
from prismc.driver.session import Session
from prismc.driver.sync.account import Function, Proof, Witness
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.findings import Finding
from prismc.emulator.host import Argument, LaunchError
from prismc.emulator.machine import TimeLimit
from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.ptx.tree import Module, PtxError
from prismc.emulator.report import places, thread_text
from prismc.emulator.schedule import Plan, adversaries
from prismc.hardware.targets import Target
from prismc.source.files import SourceFile
from prismc.source.record import Record, replace

STATIC_SHARED = 48 * 1024  # bytes that a kernel has without asking for more
SECONDS = 60.0  # for one run on the emulator


class Launch(Record):
    """How a kernel is run; `reached` are the symbols of the functions that it may call, its own
    included."""

    kernel: typed.Instance
    grid: tuple[int, ...]
    arguments: tuple[Argument, ...]
    dynamic_shared: int
    reached: frozenset[str]


class ProofError(Exception):
    """A launch that cannot be run; the text says why."""


def choose_launch(
    checked: CheckedProgram, name: str | None, grid: Sequence[int], texts: Sequence[str], seed: int
) -> Launch:
    """The launch that a command line asks for: of the kernel `name`, or of the only one.

    Raises ArgumentError.
    """
    bodies = checked.program.bodies
    kernels = [body.instance for body in bodies.values() if body.instance.is_kernel]
    named = [each for each in kernels if name in (None, each.name, each.symbol)]
    if len(named) != 1:
        words = ", ".join(each.symbol for each in kernels) or "none"
        raise ArgumentError(f"name one kernel with `--kernel`; the file has: {words}")
    kernel = named[0]
    need = checked.memory.need[kernel.symbol]
    return Launch(
        kernel=kernel,
        grid=tuple(grid),
        arguments=make_arguments(kernel, texts, seed),
        dynamic_shared=need if need > STATIC_SHARED else 0,
        reached=frozenset(_reached(checked.program, kernel)),
    )


def _reached(program: typed.Program, kernel: typed.Instance) -> Iterator[str]:
    waiting, seen = [kernel.symbol], {kernel.symbol}
    while waiting:
        symbol = waiting.pop()
        yield symbol
        for call in calls_in(program.bodies[symbol].statements):
            if call.callee.symbol not in seen and call.callee.symbol in program.bodies:
                seen.add(call.callee.symbol)
                waiting.append(call.callee.symbol)


def prove(
    session: Session,
    file: SourceFile,
    functions: Sequence[Function],
    launch: Launch,
    schedules: int,
    seed: int,
    step: Callable[[str], None],
) -> Proof:
    """Run the program, then the program without each operation in turn, over several schedules.

    `step` is told of each program that has been run. Raises ProofError where a launch is refused or
    a program cannot be built (the session has the problems).
    """
    plans = adversaries(schedules, seed)
    runner = _Runner(session, file, launch)
    whole = runner.program(None)
    faults = tuple(each for plan in plans for each in runner.findings(whole, plan))
    step("the program")
    reached, not_reached = _by_reach(functions, launch)
    witnesses: list[tuple[int, Witness | None]] = []
    for number in reached:
        program = runner.program(number)
        found = (each for plan in plans for each in runner.findings(program, plan))
        witnesses.append((number, next(found, None)))
        step(f"without #{number}")
    return Proof(
        kernel=launch.kernel.symbol,
        schedules=len(plans),
        faults=_each_once(faults),
        witnesses=tuple(witnesses),
        not_reached=tuple(not_reached),
    )


def _by_reach(functions: Sequence[Function], launch: Launch) -> tuple[list[int], list[int]]:
    reached: list[int] = []
    not_reached: list[int] = []
    for function in functions:
        place = reached if function.symbol in launch.reached else not_reached
        place += [operation.number for operation in function.operations]
    return sorted(reached), sorted(not_reached)


def _each_once(faults: tuple[Witness, ...]) -> tuple[Witness, ...]:
    """The first of the findings that say the same at the same place."""
    found = {(each.kind, each.message, each.place): each for each in reversed(faults)}
    return tuple(reversed(found.values()))


class _Runner:
    """Builds a program to PTX and runs it."""

    def __init__(self, session: Session, file: SourceFile, launch: Launch) -> None:
        self._session = session
        self._file = file
        self._launch = launch

    def program(self, dropped: int | None) -> Module:
        """The program's PTX, without one operation."""
        session, options = self._session, self._session.options
        session.options = replace(options, dropped_sync=() if dropped is None else (dropped,))
        built = build_file(session, self._file, [options.target], [Emit.PTX], _unwritten)
        session.options = options
        if built is None:
            raise ProofError("the program cannot be built")
        return parse_module(built.outputs[0].content.decode())

    def findings(self, program: Module, plan: Plan) -> Iterator[Witness]:
        """What the emulator finds under one schedule."""
        launch = self._launch
        threads = launch.kernel.launch.threads if launch.kernel.launch is not None else 0
        try:
            result = run_ptx(
                program,
                launch.kernel.symbol,
                launch.grid,
                threads,
                launch.arguments,
                dynamic_shared=launch.dynamic_shared,
                plan=plan,
                time_limit=SECONDS,
            )
        except (LaunchError, PtxError) as error:
            raise ProofError(str(error)) from error
        except TimeLimit as error:
            raise ProofError(f"a run took longer than {SECONDS:.0f} s; launch less") from error
        yield from _witnesses(result, plan)


def _witnesses(result: RunResult, plan: Plan) -> Iterator[Witness]:
    for finding in result.findings:
        yield Witness(
            kind=finding.kind.value,
            message=_message(finding),
            place=places(finding.site, result.module)[0],
            schedule=_schedule_words(plan),
        )


def _message(finding: Finding) -> str:
    """What is wrong, where in memory, and the two threads, as far as they are known."""
    memory = f"{finding.array} {finding.element}".strip()
    threads = [thread_text(each) for each in (*finding.threads[:1], finding.other_thread) if each]
    return "; ".join(part for part in (finding.message, memory, " and ".join(threads)) if part)


def _schedule_words(plan: Plan) -> str:
    """`random turns, seed 3, high blocks first`: which of the schedules it was."""
    words = [plan.order.value]
    if plan.seed:
        words.append(f"seed {plan.seed}")
    if plan.high_blocks_first:
        words.append("high blocks first")
    return ", ".join(words)


def _unwritten(target: Target, kind: Emit) -> Path:
    """Where an output would go; it stays in memory."""
    return Path(f"{target.name}{kind.suffix}")

"""Proves a plan on the emulator: no schedule finds a fault in the program, and without any one of
its operations some schedule does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from prismc.checker.sync.plan import SyncKind
from prismc.checker.types import typed
from prismc.checker.types.walk import calls_in
from prismc.driver.arguments import make_arguments
from prismc.driver.compiling import kernels_of
from prismc.driver.kernels import choose
from prismc.driver.running import Bound, Launch, Outcome, Stopped, bind, run
from prismc.driver.session import Session
from prismc.driver.sync.account import Function, Proof, Request, Witness
from prismc.emulator.findings import Finding
from prismc.emulator.ptx.tree import Module
from prismc.emulator.report import places, thread_text
from prismc.emulator.schedule import Plan, adversaries
from prismc.source.files import SourceFile
from prismc.source.record import replace

_GENERATED = ".cu:"
# A program without an operation is stopped after so many times the instructions that the whole one
# takes, or these, and given up after so many schedules that had to be stopped.
PATIENCE = 16
LEAST_INSTRUCTIONS = 1 << 20
MOST_STOPPED = 3


def prove(
    session: Session,
    file: SourceFile,
    program: typed.Program,
    functions: Sequence[Function],
    request: Request,
    step: Callable[[str], None],
) -> Proof | None:
    """Run the program, then the program without each operation in turn, over several schedules.

    `step` is told of each program that has been run. None where a program cannot be built: the
    session has the problems. Raises RunError for a launch that cannot be, and where the whole
    program takes too long.
    """
    prover = _Prover(session, file, request)
    whole = prover.bound(None)
    if whole is None:
        return None
    faults, instructions = prover.whole(whole)
    step("the program")
    most = max(LEAST_INSTRUCTIONS, PATIENCE * instructions)
    reached, not_reached = _by_reach(functions, program, whole.kernel.name)
    witnesses: list[tuple[int, Witness | None]] = []
    no_verdict: dict[int, str] = {}
    for number in reached:
        bound = prover.bound(number)
        if bound is None:
            return None
        witness, stopped = prover.without(bound, most)
        witnesses.append((number, witness))
        if stopped:
            no_verdict[number] = stopped
        step(f"without #{number}")
    return Proof(
        kernel=whole.kernel.name,
        schedules=request.schedules,
        faults=faults,
        witnesses=tuple(witnesses),
        no_verdict=no_verdict,
        not_reached=tuple(not_reached),
    )


class _Prover:
    """Builds programs and runs them as the request says."""

    def __init__(self, session: Session, file: SourceFile, request: Request) -> None:
        self._session = session
        self._file = file
        self._request = request
        self._launch = Launch(grid=request.grid)
        self._plans = adversaries(request.schedules, request.seed)

    def bound(self, dropped: int | None) -> Bound | None:
        """The kernel without one operation, with its arguments; None after a problem."""
        session, request, options = self._session, self._request, self._session.options
        session.options = replace(options, dropped_sync=() if dropped is None else (dropped,))
        kernels = kernels_of(session, self._file)
        session.options = options
        if session.sink.has_errors():
            return None
        kernel = choose(kernels, request.kernel)
        values, poisoned = make_arguments(kernel, request.arguments, request.seed)
        return bind(kernel, values, poisoned)

    def whole(self, bound: Bound) -> tuple[tuple[Witness, ...], int]:
        """What is found under all schedules, and the instructions of the longest run."""
        found: list[Witness] = []
        most = 0
        for outcome in run(bound, self._launch, self._plans, time_limit=self._request.time_limit):
            found += _witnesses(outcome, bound)
            most = max(most, outcome.result.statistics.thread_instructions)
        return _each_once(found), most

    def without(self, bound: Bound, most: int) -> tuple[Witness | None, str]:
        """The first finding of any schedule; else, where runs did not end, when they were stopped.

        A run without end is no finding: the machine finds deadlocks by itself, but not that a loop
        waits for a value which never comes.
        """
        stopped = 0
        runs = run(
            bound,
            self._launch,
            self._plans,
            time_limit=self._request.time_limit,
            instruction_limit=most,
        )
        try:
            for outcome in runs:
                witness = next(_witnesses(outcome, bound), None)
                if witness is not None:
                    return witness, ""
                stopped += outcome.result.is_stopped
                if stopped == MOST_STOPPED:
                    break
        except Stopped as stop:
            return None, str(stop)
        return None, f"stopped after {most:,} instructions" if stopped else ""


def _witnesses(outcome: Outcome, bound: Bound) -> Iterator[Witness]:
    """The findings of one run."""
    for finding in outcome.result.findings:
        yield Witness(
            kind=finding.kind.value,
            message=_message(finding),
            place=_place(finding, bound.kernel.module),
            schedule=_schedule_words(outcome.plan),
        )


def _by_reach(
    functions: Sequence[Function], program: typed.Program, kernel: str
) -> tuple[list[int], list[int]]:
    """The operations of the functions that a kernel may call, its own included, and the others;
    without votes, which are part of a statement."""
    symbols = _reached(program, kernel)
    reached: list[int] = []
    not_reached: list[int] = []
    for function in functions:
        place = reached if function.symbol in symbols else not_reached
        place += [
            operation.number
            for operation in function.operations
            if operation.kind != SyncKind.BLOCK_VOTE.value
        ]
    return sorted(reached), sorted(not_reached)


def _reached(program: typed.Program, kernel: str) -> set[str]:
    waiting, seen = [kernel], {kernel}
    while waiting:
        for call in calls_in(program.bodies[waiting.pop()].statements):
            symbol = call.callee.symbol
            if symbol not in seen and symbol in program.bodies:
                seen.add(symbol)
                waiting.append(symbol)
    return seen


def _each_once(faults: Iterable[Witness]) -> tuple[Witness, ...]:
    """The first of the findings that say the same at the same place."""
    found: dict[tuple[str, str, str], Witness] = {}
    for each in faults:
        found.setdefault((each.kind, each.message, each.place), each)
    return tuple(found.values())


def _message(finding: Finding) -> str:
    """What is wrong, where in memory, and the two threads, as far as they are known."""
    memory = f"{finding.array} {finding.element}".strip()
    threads = [thread_text(each) for each in (*finding.threads[:1], finding.other_thread) if each]
    return "; ".join(part for part in (finding.message, memory, " and ".join(threads)) if part)


def _place(finding: Finding, module: Module) -> str:
    """The line of the program; what the compiler adds to a program has lines of its own."""
    found = places(finding.site, module)
    return next((place for place in found if _GENERATED not in place), found[0])


def _schedule_words(plan: Plan) -> str:
    """`random turns, seed 3, high blocks first`: which of the schedules it was."""
    words = [plan.order.value]
    if plan.seed:
        words.append(f"seed {plan.seed}")
    if plan.high_blocks_first:
        words.append("high blocks first")
    return ", ".join(words)

"""A plan with its reasons in lines and words, ready to be shown in any form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prismc.checker.results import CheckedProgram
from prismc.checker.sync.explain import FunctionAccount, OperationAccount, explain_plan
from prismc.checker.sync.plan import (
    Access,
    Deed,
    Edge,
    SyncKind,
    SyncOperation,
    SyncPlan,
    Where,
)
from prismc.checker.sync.requirements import Requirement
from prismc.checker.types import typed
from prismc.checker.types.walk import statements_in
from prismc.driver.session import Session
from prismc.driver.sync.instructions import instructions_in
from prismc.driver.sync.shapes import Shaped, last_line, shaped
from prismc.hardware.primitives import PRIMITIVES, Cost
from prismc.source.files import Files
from prismc.source.record import Record, replace
from prismc.source.span import Span

COSTS = {
    Cost.WARP: "a thread alone or the lanes of a warp: the cheapest",
    Cost.ARRIVE: "waits for nobody: an arrival, a fence, the end of a group",
    Cost.BLOCK: "several warps: waits for the slowest of them",
    Cost.WAIT_COMPLETE: "a wait for what is most often complete",
    Cost.WAIT: "a wait for what is not complete",
}
Ranges = tuple[tuple[int, int], ...]
_PHASES = (Deed.ARRIVE, Deed.WAIT, Deed.INITIALISE)


class Side(Record):
    """One access of a reason. `threads` are ranges [start, end) of the function's instance, none
    for all of it."""

    root: str
    deed: Deed
    file: str
    line: int
    threads: Ranges


class Reason(Record):
    """An order that an operation of `kind` makes. `loop` is the line of the loop that the path goes
    around, 0 where it goes forward. `witness` are two threads, of the earlier and of the later
    access."""

    kind: SyncKind
    hazard: str
    earlier: Side
    later: Side
    loop: int
    witness: tuple[int, int]
    unit: str = "thread"

    @property
    def label(self) -> str:
        """What is at stake: a read or a write that comes too early, a phase, the end of memory."""
        deeds = (self.earlier.deed, self.later.deed)
        if Deed.END in deeds:
            return "END"
        return "PHASE" if any(deed in _PHASES for deed in deeds) else self.hazard

    @property
    def places(self) -> tuple[object, ...]:
        """What it is about, whichever threads."""
        sides = (self.earlier, self.later)
        touched = ((side.root, side.deed, side.file, side.line) for side in sides)
        return (self.hazard, self.loop, *touched)


class Witness(Record):
    """What the emulator found in the program without one operation, and under which schedule."""

    kind: str
    message: str
    place: str
    schedule: str


class Operation(Record):
    """One operation, where it stands, what it is, and why.

    It stands in front of line `line`, with `is_after` behind it, `indent` columns in. `needed` are
    the orders that only it makes, `merged` all that it makes, those included.
    """

    number: int
    kind: str
    threads: str
    instruction: str
    cost: Cost
    line: int
    is_after: bool
    indent: int
    needed: tuple[Reason, ...]
    merged: tuple[Reason, ...]
    witness: Witness | None = None

    @property
    def title(self) -> str:
        return f"{self.kind} of {self.threads}"


class Function(Record):
    """A function of the program; `settled` tells memory that needs no operation, and why,
    `required` what its callers put in order."""

    symbol: str
    title: str
    file: str
    first_line: int
    last_line: int
    operations: tuple[Operation, ...]
    settled: tuple[tuple[str, str], ...]
    required: tuple[Requirement, ...]
    pipelines: tuple[Shaped, ...]

    @property
    def count(self) -> str:
        """How many operations, in words."""
        number = len(self.operations)
        return {0: "needs none", 1: "1 operation"}.get(number, f"{number} operations")


class Request(Record):
    """What to prove on: a launch as the command line names it. `kernel` None is the only one;
    `time_limit` is in seconds of processor time for each program, one
    operation less being another program."""

    kernel: str | None
    grid: tuple[int, ...]
    arguments: tuple[tuple[str, str], ...]
    schedules: int
    seed: int
    time_limit: float


class Proof(Record):
    """What the emulator found. `faults` are findings in the program as it is; `witnesses` what was
    found without each operation, None where nothing was; `no_verdict` tells of those among them
    without which the program did not end, and when it was stopped; `not_reached` are operations in
    functions that the kernel does not call."""

    kernel: str
    schedules: int
    faults: tuple[Witness, ...]
    witnesses: tuple[tuple[int, Witness | None], ...]
    no_verdict: Mapping[int, str]
    not_reached: tuple[int, ...]

    @property
    def holds(self) -> bool:
        return not self.faults and all(witness for _, witness in self.witnesses)


def with_witnesses(functions: Sequence[Function], proof: Proof) -> tuple[Function, ...]:
    """The functions, each operation with what was found without it."""
    found = dict(proof.witnesses)
    return tuple(
        replace(
            function,
            operations=tuple(
                replace(operation, witness=found.get(operation.number))
                for operation in function.operations
            ),
        )
        for function in functions
    )


def account_of(session: Session, checked: CheckedProgram) -> tuple[Function, ...]:
    """The functions of a program without errors, those of the root file first, as in the text.

    Of other files only functions with operations are told.
    """
    told = explain_plan(
        checked.program, checked.perspectives, checked.memory, checked.settings, checked.plan
    )
    functions = [
        _function(account, checked.program, checked.plan, session)
        for account in told
        if account.operations or account.instance.span.file == session.root
    ]
    functions.sort(key=lambda each: (each.file != session.root, each.file, each.first_line))
    return tuple(functions)


def _function(
    account: FunctionAccount, program: typed.Program, plan: SyncPlan, session: Session
) -> Function:
    instance, files = account.instance, session.files
    spans = {s.id: s.span for s in statements_in(program.bodies[instance.symbol].statements)}
    first = files.position(instance.requires_span).line
    last = max((last_line(span, files) for span in spans.values()), default=first)
    operations = [each.operation for each in account.operations]
    instructions = instructions_in(operations, plan, session.options.target)
    return Function(
        symbol=instance.symbol,
        title=_title(instance),
        file=instance.span.file,
        first_line=first,
        last_line=last,
        operations=tuple(
            _operation(each, spans, files, instructions[each.operation.number])
            for each in account.operations
        ),
        settled=tuple((item.root, item.why.value) for item in account.settled),
        required=account.required,
        pipelines=tuple(
            shaped(one, program, instance.symbol, files)
            for one in plan.instances[instance.symbol].pipelines
        ),
    )


def _title(instance: typed.Instance) -> str:
    word = "kernel" if instance.is_kernel else "def"
    generics = ", ".join(f"{name} = {value}" for name, value in instance.generics)
    return f"{word} {instance.name}" + (f" with {generics}" if generics else "")


def _operation(
    account: OperationAccount, spans: Mapping[int, Span], files: Files, instruction: str
) -> Operation:
    operation = account.operation
    primitive = PRIMITIVES[operation.kind.value]
    span = spans[operation.position.anchor]
    start = files.position(span)
    is_after = operation.position.where is Where.AFTER
    return Operation(
        number=operation.number,
        kind=operation.kind.value,
        threads=_who(operation),
        instruction=instruction,
        cost=primitive.cost,
        line=last_line(span, files) if is_after else start.line,
        is_after=is_after,
        indent=start.column - 1,
        needed=_reasons(operation.edges, files, operation.kind, by_threads=False),
        merged=_reasons(account.merged, files, operation.kind, by_threads=True),
    )


def _reasons(
    edges: Iterable[Edge], files: Files, kind: SyncKind, *, by_threads: bool
) -> tuple[Reason, ...]:
    """Reasons for people: each pair of lines once, or (`by_threads`) for each sets of threads."""
    found: dict[object, Reason] = {}
    for edge in edges:
        reason = _reason(edge, files, kind)
        threads = (reason.earlier.threads, reason.later.threads) if by_threads else ()
        found.setdefault((reason.places, threads), reason)
    return tuple(found.values())


def _who(operation: SyncOperation) -> str:
    """`block[1]`, or `thread 0 of block[1]`, `threads 32..127 of block[1]`."""
    whole, ranges = str(operation.participants.perspective), operation.participants.ranges
    if not operation.part:
        return whole
    if len(ranges) == 1 and ranges[0][1] - ranges[0][0] == 1:
        return f"thread {ranges[0][0]} of {whole}"
    words = (f"{start}..{end - 1}" for start, end in ranges)
    return f"threads {', '.join(words)} of {whole}"


def _reason(edge: Edge, files: Files, kind: SyncKind) -> Reason:
    is_grid = kind is SyncKind.GRID_BARRIER
    return Reason(
        kind=kind,
        hazard=edge.hazard,
        earlier=_side(edge.earlier, files),
        later=_side(edge.later, files),
        loop=0 if edge.around_loop is None else files.position(edge.around_loop).line,
        witness=(0, 1) if is_grid else _two_threads(edge),
        unit="block" if is_grid else "thread",
    )


def _side(access: Access, files: Files) -> Side:
    return Side(
        root=access.root,
        deed=access.deed,
        file=access.at.file,
        line=files.position(access.at).line,
        threads=access.participants.ranges,
    )


def _two_threads(edge: Edge) -> tuple[int, int]:
    """Two different threads, one of each side."""
    first = next(_threads(edge.earlier))
    second = next((thread for thread in _threads(edge.later) if thread != first), None)
    if second is None:
        second = first
        first = next((thread for thread in _threads(edge.earlier) if thread != second), first)
    return first, second


def _threads(access: Access) -> Iterator[int]:
    """The first few threads of an access."""
    for start, end in access.participants.ranges or ((0, 2),):
        yield from range(start, min(end, start + 2))

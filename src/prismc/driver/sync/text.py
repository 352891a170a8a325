"""A plan as text: the source with the operations in their places, then the reasons of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from prismc.checker.sync.plan import Deed, SyncKind
from prismc.diagnostics.display import printable
from prismc.diagnostics.style import Role, Style, plain
from prismc.driver.sync.account import (
    COSTS,
    Function,
    Operation,
    Proof,
    Ranges,
    Reason,
    Side,
    Witness,
)
from prismc.driver.sync.shapes import shaped_words
from prismc.hardware.primitives import Cost
from prismc.source.files import Files
from prismc.source.resources import portable_name

MOST_RANGES = 4
_GROUPS = "a wait counts groups, and this ends one"
# What is still on its way where a wait of this kind is left out.
_PENDING = {
    SyncKind.WAIT_GROUP: "copies",
    SyncKind.WAIT_BULK: "bulk copies",
    SyncKind.WAIT_BULK_WRITES: "bulk copies",
    SyncKind.WAIT_PRODUCTS: "products",
}
_FENCES = (SyncKind.PROXY_FENCE, SyncKind.FULL_PROXY_FENCE)
_GOING_ON = {Deed.READ: "reading", Deed.WRITE: "writing", Deed.UPDATE: "updating"}
_WHY = {
    SyncKind.MBARRIER_INIT.value: "nobody can arrive or wait before it",
    SyncKind.BLOCK_VOTE.value: "tells all threads whether their block is the last",
    SyncKind.FENCE_PRODUCTS.value: "the code may have touched the registers of the products",
}
NOTHING = "no function here touches memory\n"


def show_account(functions: Sequence[Function], files: Files, style: Style = plain) -> str:
    """All functions, a blank line between them; ends with a line end."""
    return "\n".join(_function(each, files, style) for each in functions) or NOTHING


def _function(function: Function, files: Files, style: Style) -> str:
    place = f"{portable_name(function.file)}:{function.first_line}"
    head = f"{place}: {function.title}: {function.count}"
    lines = [style(Role.MESSAGE, printable(head))]
    if function.operations:
        lines += _source(function, files, style)
        for operation in function.operations:
            lines += ["", *_operation(operation, function, style)]
    rest = [*map(shaped_words, function.pipelines), *why_settled(function)]
    lines += [""] * bool(function.operations and rest)  # or they seem to be of the last operation
    lines += [f"  {line}" for line in rest]
    return "\n".join(lines) + "\n"


def show_proof(proof: Proof) -> str:
    """What the emulator found, in a few lines."""
    found = Counter(witness.kind for _, witness in proof.witnesses if witness is not None)
    kinds = ", ".join(f"{kind}: {number}" for kind, number in sorted(found.items()))
    lines = [
        f"proof of {proof.kernel} on the emulator, {proof.schedules} schedules:",
        f"  with all operations: {len(proof.faults) or 'no'} findings",
        *(f"    {witness_words(each)}" for each in proof.faults),
        f"  without one of them: found {found.total()} of {len(proof.witnesses)}"
        + (f" ({kinds})" if kinds else ""),
    ]
    for number, witness in proof.witnesses:
        if number in proof.no_verdict:
            lines.append(f"    #{number}: no verdict without it, {proof.no_verdict[number]}")
        elif witness is None:
            lines.append(f"    #{number}: nothing found without it; choose other arguments")
    if proof.not_reached:
        numbers = ", ".join(f"#{number}" for number in proof.not_reached)
        lines.append(f"  not tried, since the kernel does not call their functions: {numbers}")
    lines.append(f"  the plan is {'' if proof.holds else 'not '}proved by this launch")
    return "\n".join(lines) + "\n"


def witness_words(witness: Witness) -> str:
    """A finding on one line."""
    return f"{witness.kind}: {witness.message}, {witness.place} ({witness.schedule})"


def why_settled(function: Function) -> Iterator[str]:
    """Why no operation is there for the memory that needs none."""
    if not function.operations and not function.settled:
        yield "it touches no memory that threads share"
    by_reason: dict[str, list[str]] = {}
    for root, why in function.settled:
        by_reason.setdefault(why, []).append(f"`{root}`")
    for why, roots in by_reason.items():
        yield f"nothing for {', '.join(roots)}: {why}"


def _source(function: Function, files: Files, style: Style) -> Iterator[str]:
    """The function's lines; an operation stands on a line of its own, marked `+`."""
    file = files.known(function.file)
    width = len(str(function.last_line))
    for number in range(function.first_line, function.last_line + 1):
        for operation in standing(function, number, is_after=False):
            yield _inserted(operation, width, style)
        frame = style(Role.FRAME, f"{number:>{width}} |")
        yield f"{frame} {printable(file.line(number))}".rstrip()
        for operation in standing(function, number, is_after=True):
            yield _inserted(operation, width, style)


def standing(function: Function, line: int, *, is_after: bool) -> Iterator[Operation]:
    """The operations in front of a line, or behind it."""
    for operation in function.operations:
        if operation.line == line and operation.is_after is is_after:
            yield operation


def _inserted(operation: Operation, width: int, style: Style) -> str:
    words = f"{' ' * operation.indent}#{operation.number} {operation.title}"
    frame = style(Role.FRAME, f"{'':>{width}} +")
    return f"{frame} {style(Role.HELP, words)}"


def _operation(operation: Operation, function: Function, style: Style) -> Iterator[str]:
    where = f"{'behind' if operation.is_after else 'before'} line {operation.line}"
    yield style(Role.HELP, f"#{operation.number} {operation.title}, {where}")
    yield f"   instruction: {operation.instruction}"
    yield f"   cost: {operation.cost.value} of {len(Cost)}, {COSTS[operation.cost]}"
    if operation.merged:
        yield f"   orders {len(operation.merged)}:"
        yield from (f"     {reason_words(each, function.file)}" for each in operation.merged)
        yield "   cannot be left out:"
        yield from (f"     {words}" for words in without_lines(operation))
    else:
        yield f"   cannot be left out: {needs_words(operation)}"
    if operation.witness is not None:
        yield "   found without it:"
        yield f"     {witness_words(operation.witness)}"


def without_lines(operation: Operation) -> tuple[str, ...]:
    """What may happen without an operation, each once."""
    return tuple(dict.fromkeys(map(without_words, operation.needed)))


def needs_words(operation: Operation) -> str:
    """Why an operation is there that orders nothing itself."""
    return _WHY.get(operation.kind, _GROUPS)


def reason_words(reason: Reason, file: str) -> str:
    """`RAW s: line 5 writes (thread 0), line 6 reads (threads 32..63), forward`."""
    earlier, later = (_side(side, file) for side in (reason.earlier, reason.later))
    return f"{reason.label} {memory_words(reason)}: {earlier}, {later}, {path_words(reason)}"


def memory_words(reason: Reason) -> str:
    """What both touch: one array, or two that have the same bytes at different times."""
    first, second = reason.earlier.root, reason.later.root
    return first if first == second else f"{first} then {second}"


def path_words(reason: Reason) -> str:
    """How one gets from the earlier access to the later one."""
    return f"around the loop of line {reason.loop}" if reason.loop else "forward"


def without_words(reason: Reason) -> str:
    """What may happen if the operation is left out: mostly, what two threads then do without an
    order between them."""
    first, second = (f"{reason.unit} {thread}" for thread in reason.witness)
    earlier, later = reason.earlier, reason.later
    next_time = ", in a later iteration" if reason.loop else ""
    here, there = f"(line {earlier.line})", f"(line {later.line}{next_time})"
    it = "it" if earlier.root == later.root else f"`{later.root}`, which may have the same bytes,"
    does = later.deed.value
    match later.deed:
        case Deed.END:
            return f"{_late(reason, first)} when that ends {there}"
        case Deed.ARRIVE | Deed.WAIT if earlier.deed is Deed.INITIALISE:
            return f"{second} {does} at {later.root} {there}, not yet initialised {here}"
        case Deed.ARRIVE:
            after = f"for the next phase of `{later.root}` {there}"
            return f"{second} arrives {after} before {first} has waited for this one {here}"
        case Deed.WAIT:
            return f"{second} waits for `{later.root}` {there} before {first} has arrived {here}"
    if reason.kind in _PENDING:
        return f"{_late(reason, first)} when line {later.line} {does} {it}{next_time}"
    if reason.kind in _FENCES:
        seen = f"which the engine that {does} {it} {there} may not see"
        return f"{first} {earlier.deed.value} `{earlier.root}` {here}, {seen}"
    touched = f"{first} {earlier.deed.value} `{earlier.root}` {here}"
    return f"{touched} and {second} {does} {it} {there}, in no order"


def _late(reason: Reason, thread: str) -> str:
    """Who may still touch memory, and how: a thread, or the copies of a line."""
    earlier = reason.earlier
    here = f"(line {earlier.line})"
    if earlier.deed is Deed.ARRIVE:
        return f"{thread} may still arrive at {earlier.root} {here}"
    going_on = f"may still be {_GOING_ON[earlier.deed]} `{earlier.root}`"
    if reason.kind in _PENDING:
        return f"{_PENDING[reason.kind]} of line {earlier.line} {going_on}"
    return f"{thread} {going_on} {here}"


def _side(side: Side, file: str) -> str:
    is_here = side.file == file
    place = f"line {side.line}" if is_here else f"{portable_name(side.file)}:{side.line}"
    if side.deed is Deed.END:
        return f"{place} is the end"
    return f"{place} {side.deed.value} ({threads_words(side.threads)})"


def threads_words(ranges: Ranges) -> str:
    """`all threads`, `thread 3`, `threads 0..31, 64..95`, `threads 0, 32, 64, ..., 224`."""
    if not ranges:
        return "all threads"
    several = len(ranges) > 1 or ranges[0][1] - ranges[0][0] > 1
    shown = list(_ranges(ranges))
    if len(shown) > MOST_RANGES:
        shown[MOST_RANGES - 1 : -1] = ["..."]
    return f"thread{'s' if several else ''} " + ", ".join(shown)


def _ranges(ranges: Iterable[tuple[int, int]]) -> Iterator[str]:
    for start, end in ranges:
        yield str(start) if end == start + 1 else f"{start}..{end - 1}"

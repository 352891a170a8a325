"""Control flow of a PTX function: basic blocks, an order for reconvergence, loops that spin.

Lanes that diverge meet again because the machine always runs the group whose block comes first in
`Flow.order`: a topological order in which every loop is contiguous, so that whoever left a loop
waits behind it for the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from prismc.emulator.ptx.tree import (
    Address,
    Arguments,
    Function,
    Instruction,
    LabelName,
    Negated,
    Operand,
    Pair,
    PtxError,
    Register,
    Special,
    Vector,
)
from prismc.source.record import Record

_JUMPS = frozenset({"bra", "brx", "ret", "exit", "trap", "call"})
# Instructions where lanes may have to wait for others: each is a block of its own.
_MEETINGS = frozenset(
    {"bar", "barrier", "shfl", "vote", "match", "redux", "elect", "mma", "wmma", "wgmma",
     "ldmatrix", "stmatrix", "movmatrix", "setmaxnreg"}
)  # fmt: skip
_NO_RESULT = frozenset(
    {"st", "red", "bra", "brx", "ret", "exit", "trap", "call", "membar", "fence", "prefetch",
     "prefetchu", "discard", "nanosleep", "brkpt", "pmevent", "stmatrix"}
)  # fmt: skip
_WATCHING = frozenset({"volatile", "relaxed", "acquire", "mmio"})


class Block(NamedTuple):
    """Instructions `first` (included) to `last` (excluded), and the blocks that may follow."""

    first: int
    last: int
    successors: tuple[int, ...]


class Spin(NamedTuple):
    """A loop that waits for others: by which instruction, and whether it keeps no state.

    Without state (a counter, a growing pause) all turns are the same while nothing changes.
    """

    watched: Instruction
    stateless: bool


class Flow(Record):
    """The control flow of one function. `rank[b]` is block b's place in the reconvergence order.

    `block_of` maps the index of an instruction that starts a block to the block's number; the
    index behind the last instruction maps to a last, empty block that returns. `spins` holds the
    back edges of loops that wait for another thread.
    """

    blocks: tuple[Block, ...]
    block_of: dict[int, int]
    rank: tuple[int, ...]
    back_edges: frozenset[tuple[int, int]]
    spins: dict[tuple[int, int], Spin]


def flow_of(function: Function) -> Flow:
    """Blocks, order and loops of a function that has a body."""
    body = function.body or ()
    starts = _starts(function, body)
    block_of = {start: number for number, start in enumerate(starts)}
    ends = [*starts[1:], len(body)]
    blocks = [
        Block(first, last, _successors(function, body, first, last, block_of))
        for first, last in zip(starts, ends, strict=True)
    ]
    order = _Orderer(blocks)
    order.place(range(len(blocks)), 0)
    rank = [0] * len(blocks)
    for place, block in enumerate(order.order):
        rank[block] = place
    spins: dict[tuple[int, int], Spin] = {}
    for edge, loop in order.loops.items():
        watched = _watched(body, blocks, loop)
        if watched is not None:
            inside = [body[at] for b in sorted(loop, key=rank.__getitem__)
                      for at in range(blocks[b].first, blocks[b].last)]  # fmt: skip
            spins[edge] = Spin(watched, _is_stateless(inside))
    return Flow(
        blocks=tuple(blocks),
        block_of=block_of,
        rank=tuple(rank),
        back_edges=frozenset(order.loops),
        spins=spins,
    )


def is_meeting(instruction: Instruction) -> bool:
    """Whether lanes may have to wait at this instruction."""
    form = instruction.form
    if form.name == "mbarrier":
        return form.has("test_wait") or form.has("try_wait")
    return form.name in _MEETINGS


def _starts(function: Function, body: tuple[Instruction, ...]) -> list[int]:
    starts = {0, len(body), *function.labels}
    for index, instruction in enumerate(body):
        if instruction.form.name in _JUMPS:
            starts.add(index + 1)
        elif is_meeting(instruction):
            starts |= {index, index + 1}
    return sorted(starts)


def _successors(
    function: Function,
    body: tuple[Instruction, ...],
    first: int,
    last: int,
    block_of: dict[int, int],
) -> tuple[int, ...]:
    if first == len(body):
        return ()
    instruction = body[last - 1]
    name = instruction.form.name
    following = (block_of[last],)
    if name == "bra":
        targets = tuple(block_of[index] for index in branch_targets(function, instruction))
        return targets + following if instruction.guard else targets
    if name == "brx":
        targets = tuple(block_of[index] for index in branch_targets(function, instruction))
        return tuple(dict.fromkeys(targets + (following if instruction.guard else ())))
    if name in ("ret", "exit", "trap") and instruction.guard is None:
        return ()
    return following


def branch_targets(function: Function, instruction: Instruction) -> tuple[int, ...]:
    """Indexes of the instructions that a `bra` or `brx` may go to."""
    label = instruction.operands[-1] if instruction.operands else None
    if not isinstance(label, LabelName):
        raise PtxError(f"`{instruction.opcode}` needs a label", instruction.line)
    if instruction.form.name == "brx":
        return tuple(function.labels[item] for item in function.tables[label.number])
    return (function.labels[label.number],)


class _Orderer:
    """Places blocks so that joins follow what joins and loops stay together.

    Strongly connected parts come in topological order; inside one, the edges back to its entry are
    taken away and the rest is ordered in the same way.
    """

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.order: list[int] = []
        self.loops: dict[tuple[int, int], frozenset[int]] = {}

    def place(self, members: Iterable[int], entry: int) -> None:
        inside = frozenset(members)
        for part in self._parts(inside, entry):
            looped = any(
                target in part and (source, target) not in self.loops
                for source in part
                for target in self.blocks[source].successors
            )
            if len(part) == 1 and not looped:
                self.order += part
            else:
                self._place_loop(part, inside)

    def _place_loop(self, part: list[int], around: frozenset[int]) -> None:
        loop = frozenset(part)
        header = self._header(loop, around)
        for source in part:
            if header in self.blocks[source].successors:
                self.loops[source, header] = self._turn(source, header, loop)
        if len(part) == 1:
            self.order += part
        else:
            self.place(part, header)

    def _turn(self, source: int, header: int, loop: frozenset[int]) -> frozenset[int]:
        """The blocks between a loop's header and the end of one edge back to it: a loop that begins
        by waiting has two such edges, and the wait is a loop of its own."""
        found = {header, source}
        reached = [] if source == header else [source]
        while reached:
            target = reached.pop()
            before = {block for block in loop - found if target in self.blocks[block].successors}
            found |= before
            reached += sorted(before)
        return frozenset(found)

    def _header(self, loop: frozenset[int], around: frozenset[int]) -> int:
        """The first block of the loop that is entered from outside; else the first in the text."""
        for block in sorted(loop):
            for source in sorted(around - loop):
                if block in self.blocks[source].successors:
                    return block
        return min(loop)

    def _parts(self, inside: frozenset[int], entry: int) -> list[list[int]]:
        """Strongly connected parts in topological order (Tarjan, without recursion)."""
        number: dict[int, int] = {}
        low: dict[int, int] = {}
        stack: list[int] = []
        on_stack: set[int] = set()
        parts: list[list[int]] = []
        for root in [entry, *sorted(inside)]:
            if root in number:
                continue
            work = [(root, iter(self._edges(root, inside)))]
            number[root] = low[root] = len(number)
            stack.append(root)
            on_stack.add(root)
            while work:
                block, edges = work[-1]
                target = next(edges, None)
                if target is None:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[block])
                    if low[block] == number[block]:
                        at = stack.index(block)
                        parts.append(sorted(stack[at:]))
                        on_stack -= set(stack[at:])
                        del stack[at:]
                elif target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(self._edges(target, inside))))
                elif target in on_stack:
                    low[block] = min(low[block], number[target])
        parts.reverse()
        return parts

    def _edges(self, block: int, inside: frozenset[int]) -> list[int]:
        return [
            target
            for target in self.blocks[block].successors
            if target in inside and (block, target) not in self.loops
        ]


def _watched(
    body: tuple[Instruction, ...], blocks: list[Block], loop: frozenset[int]
) -> Instruction | None:
    """The strong load, atomic or barrier test that decides when the loop is left, if one does.

    That is: the predicates of the branches out of the loop depend on it through registers.
    """
    inside = [body[at] for b in sorted(loop) for at in range(blocks[b].first, blocks[b].last)]
    wanted: set[int] = set()
    for block in loop:
        leaving = any(target not in loop for target in blocks[block].successors)
        last = body[blocks[block].last - 1]
        if leaving and last.guard is not None:
            wanted.add(last.guard.register)
    seen: set[int] = set()
    while wanted - seen:
        seen |= wanted
        for instruction in inside:
            if wanted.isdisjoint(results_of(instruction)):
                continue
            if _watches(instruction):
                return instruction
            wanted |= set(sources_of(instruction))
    return None


def _is_stateless(loop: list[Instruction]) -> bool:
    """Whether no register carries a value from one turn to the next, and no clock is read."""
    results = {register for instruction in loop for register in results_of(instruction)}
    set_before: set[int] = set()
    for instruction in loop:
        if any(isinstance(operand, Special) for operand in instruction.operands):
            return False
        if not set_before.issuperset(results.intersection(sources_of(instruction))):
            return False
        if instruction.guard is None:
            set_before |= set(results_of(instruction))
    return True


def _watches(instruction: Instruction) -> bool:
    form = instruction.form
    if form.name in ("atom", "nanosleep"):
        return True
    if form.name == "mbarrier":
        return form.has("test_wait") or form.has("try_wait")
    return form.name == "ld" and any(modifier in _WATCHING for modifier in form.modifiers)


def _has_result(instruction: Instruction) -> bool:
    """Whether the first operand is where the result goes."""
    if instruction.form.name in _NO_RESULT or not instruction.operands:
        return False
    return not isinstance(instruction.operands[0], Address)


def results_of(instruction: Instruction) -> tuple[int, ...]:
    """Numbers of the registers that an instruction writes."""
    if not _has_result(instruction):
        return ()
    return tuple(_registers(instruction.operands[0]))


def sources_of(instruction: Instruction) -> tuple[int, ...]:
    """Numbers of the registers that an instruction reads, its guard's included."""
    skipped = 1 if _has_result(instruction) else 0
    found = [r for operand in instruction.operands[skipped:] for r in _registers(operand)]
    if instruction.guard is not None:
        found.append(instruction.guard.register)
    return tuple(found)


def unread(body: tuple[Instruction, ...]) -> frozenset[int]:
    """Registers that instructions set and none reads."""
    read = {register for instruction in body for register in sources_of(instruction)}
    return frozenset(r for instruction in body for r in results_of(instruction)) - read


def copied_only(body: tuple[Instruction, ...]) -> frozenset[int]:
    """Registers whose values are only stored, or moved to registers that are only stored.

    Copies of structs load padding and members that nobody has set; that uses nothing.
    """
    used: set[int] = set()
    moves: list[tuple[int, tuple[int, ...]]] = []
    for instruction in body:
        name = instruction.form.name
        if name == "st":
            used |= set(_registers(instruction.operands[0]))
            used |= {instruction.guard.register} if instruction.guard else set()
        elif name == "mov" and isinstance(instruction.operands[0], Register):
            moves.append((instruction.operands[0].number, sources_of(instruction)))
        else:
            used |= set(sources_of(instruction))
    changed = True
    while changed:
        before = len(used)
        for target, sources in moves:
            if target in used:
                used |= set(sources)
        changed = len(used) != before
    everything = {r for instruction in body for r in results_of(instruction)}
    return frozenset(everything - used)


def _registers(operand: Operand | None) -> Iterable[int]:
    match operand:
        case Register(number):
            yield number
        case Negated(register):
            yield register.number
        case Vector(items):
            for item in items:
                yield from _registers(item)
        case Pair(first, second):
            yield from _registers(first)
            yield from _registers(second)
        case Arguments(items):
            for item in items:
                yield from _registers(item)
        case Address(base, _, coordinates):
            yield from _registers(base if isinstance(base, Register) else None)
            for vector in coordinates:
                yield from _registers(vector)
        case _:
            return

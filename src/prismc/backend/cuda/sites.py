"""Where the values of a function are born, written and used, as places in its text.

Positions number the text; a path names the regions around a place. Together they answer, in
structured code, whether control can get from one place to another.

An operation's own reads and writes happen in steps: first it reads what it copies (a loop's initial
values, the operands that `asm` updates), then it writes those copies, then it reads its other
operands, then it runs its regions and writes its results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from prismc.ir.core import Function, Op, Region, Value
from prismc.ir.ops.arithmetic import Insert
from prismc.ir.ops.control import Break, Continue, For, If, While, Yield
from prismc.ir.ops.intrinsic import Asm
from prismc.source.record import Record


class Step(NamedTuple):
    """Inside the region `region` (counted) of `owner`."""

    owner: Op
    region: int

    @property
    def is_loop(self) -> bool:
        return isinstance(self.owner, For | While)


Path = tuple[Step, ...]


class Site(NamedTuple):
    """A place in the text."""

    position: int
    path: Path

    def loops(self) -> Path:
        """The steps of the path that are loops, outermost first."""
        return tuple(step for step in self.path if step.is_loop)


class Use(NamedTuple):
    """An operation that has a value as an operand, and where it reads it."""

    op: Op
    site: Site


# The steps of one operation.
_COPIES, _READS, _ENTERS = 1, 2, 3


class Sites(Record):
    """The places of one function's values and operations.

    `writes` are the places after which a value that several operations may produce holds what one
    of them gave: for a loop's argument the copy before the loop and every end of an iteration.
    """

    births: Mapping[Value, Site]
    definers: Mapping[Value, Op]
    uses: Mapping[Value, tuple[Use, ...]]
    writes: Mapping[Value, tuple[Site, ...]]
    starts: Mapping[Op, Site]
    ends: Mapping[Op, Site]
    owners: Mapping[Op, Op]


def find_sites(function: Function) -> Sites:
    """The sites of every value and operation of `function`."""
    finder = _Finder()
    for parameter in function.parameters:
        finder.born(parameter, Site(0, ()))
    finder.region(function.body, ())
    return Sites(
        births=finder.births,
        definers=finder.definers,
        uses={value: tuple(uses) for value, uses in finder.uses.items()},
        writes={value: tuple(sites) for value, sites in finder.writes.items()},
        starts=finder.starts,
        ends=finder.ends,
        owners=finder.owners,
    )


class _Finder:
    def __init__(self) -> None:
        self.births: dict[Value, Site] = {}
        self.definers: dict[Value, Op] = {}
        self.uses: dict[Value, list[Use]] = {}
        self.writes: dict[Value, list[Site]] = {}
        self.starts: dict[Op, Site] = {}
        self.ends: dict[Op, Site] = {}
        self.owners: dict[Op, Op] = {}
        self._position = 0
        self._loops: list[For | While] = []

    def born(self, value: Value, site: Site, op: Op | None = None) -> None:
        self.births[value] = site
        self.uses[value] = []
        self.writes[value] = [site]
        if op is not None:
            self.definers[value] = op

    def region(self, region: Region, path: Path) -> None:
        for op in region.ops:
            self.starts[op] = Site(self._position, path)
            if path:
                self.owners[op] = path[-1].owner
            match op:
                case For() | While():
                    self._loop(op, path)
                case If():
                    self._if(op, path)
                case Yield() | Break() | Continue():
                    self._exit(op, path)
                case _:
                    self._plain(op, path)
            self._position += _ENTERS + 1

    def _at(self, step: int, path: Path) -> Site:
        return Site(self._position + step, path)

    def _use(self, value: Value, op: Op, site: Site) -> None:
        self.uses[value].append(Use(op, site))

    def _plain(self, op: Op, path: Path) -> None:
        copies = _count_of_copies(op)
        for value in op.operands[:copies]:
            self._use(value, op, self.starts[op])
        if len(op.operands) > copies:
            use = Use(op, self._at(_READS, path))
            for value in op.operands[copies:]:
                self.uses[value].append(use)
        end = self.ends[op] = self._at(_ENTERS, path)
        first_copy = len(op.results) - copies
        for result in op.results[:first_copy]:
            self.born(result, end, op)
        for result in op.results[first_copy:]:
            self.born(result, self._at(_COPIES, path), op)

    def _if(self, op: If, path: Path) -> None:
        self._use(op.condition, op, self._at(_READS, path))
        yields: list[Yield] = []
        for number, region in enumerate(op.regions):
            self._position += _ENTERS
            self.region(region, (*path, Step(op, number)))
            if isinstance(region.terminator, Yield):
                yields.append(region.terminator)
        self.ends[op] = self._at(_ENTERS, path)
        for result in op.results:
            self.born(result, self.ends[op], op)
            self.writes[result] = [self.ends[one] for one in yields] or [self.ends[op]]

    def _loop(self, op: For | While, path: Path) -> None:
        for value in op.initial:
            self._use(value, op, self._at(0, path))
        entry = self._at(_COPIES, path)
        header: tuple[Value, ...] = ()
        if isinstance(op, For):
            self._use(op.start, op, self._at(_READS, path))
            header = (op.stop, op.step)
        self._loops.append(op)
        for number, region in enumerate(op.regions):
            self._position += _ENTERS
            inside = (*path, Step(op, number))
            for argument in region.arguments:
                self.born(argument, self._at(0, inside), op)
            for argument in region.arguments[-len(op.initial) :] if op.initial else ():
                self.writes[argument] = [entry]
            self.region(region, inside)
        # Stop and step are read again after every iteration.
        for value in header:
            self._use(value, op, self._at(_READS, (*path, Step(op, 0))))
        self._loops.pop()
        self.ends[op] = self._at(_ENTERS, path)
        for result in op.results:
            self.born(result, self.ends[op], op)

    def _exit(self, op: Yield | Break | Continue, path: Path) -> None:
        for value in op.values:
            self._use(value, op, self._at(0, path))
        self.ends[op] = self._at(_COPIES, path)
        loop = self._loop_of(op, path)
        if loop is None:
            return
        for number in range(len(op.values)):
            self.writes[loop.body.arguments[number - len(op.values)]].append(self.ends[op])

    def _loop_of(self, op: Yield | Break | Continue, path: Path) -> For | While | None:
        """The loop whose variables the exit writes, if it is the end of one of its iterations."""
        if not isinstance(op, Yield):
            return self._loops[-1]
        owner, region = path[-1]
        is_body = isinstance(owner, For | While) and owner.regions[region] is owner.body
        return owner if is_body and isinstance(owner, For | While) else None


def _count_of_copies(op: Op) -> int:
    """How many operands, the first ones, become the last results by being changed in place."""
    match op:
        case Asm():
            return len(op.updates)
        case Insert():
            return 1
    return 0


def are_exclusive(one: Path, other: Path) -> bool:
    """Whether the places are in different arms of one `if`."""
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            return mine.owner is theirs.owner and isinstance(mine.owner, If)
    return False


def common_path(one: Path, other: Path) -> Path:
    """The regions around both."""
    length = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return one[:length]

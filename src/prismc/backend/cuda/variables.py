"""C++ variables for SSA values: values that never live at the same time may share one.

A loop's argument and result are one variable, written before the loop and at the end of each
iteration. Beyond that, values share a variable where the text then reads like the source: a loop's
initial value, what its iterations carry, what both arms of an `if` give, what `asm` updates, and a
value computed from an earlier one of the same name (`x = x + 1`). Sharing is refused where a value
would be overwritten that is still needed (Boissinot et al., "Revisiting Out-of-SSA Translation",
2009, in its simple form: interference by liveness at writes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prismc.backend.cuda.inlining import Inlining, effective_uses
from prismc.backend.cuda.sites import Path, Site, Sites, are_exclusive, common_path
from prismc.ir.core import Function, Op, Region, Value, walk
from prismc.ir.effects import is_droppable
from prismc.ir.ops.arithmetic import Insert
from prismc.ir.ops.control import Break, Continue, For, If, While, Yield
from prismc.ir.ops.intrinsic import Asm
from prismc.ir.types import ArrayType, Type


class Variable:
    """A C++ variable and the values that share it.

    `first` is the position of its first birth or write, `last` that of its last write or use.
    """

    __slots__ = ("first", "last", "members")

    def __init__(self, members: Sequence[Value], extent: tuple[int, int]) -> None:
        self.members = list(members)
        self.first, self.last = extent

    def absorb(self, other: Variable) -> None:
        """Share with the values of another variable."""
        self.members += other.members
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)

    @property
    def type(self) -> Type:
        return self.members[0].type

    @property
    def hint(self) -> str:
        return next((member.hint for member in self.members if member.hint), "")


def assign_variables(function: Function, sites: Sites, inlining: Inlining) -> dict[Value, Variable]:
    """The variable of every value that needs one. Values that nothing reads have none."""
    assigner = _Assigner(function, sites, inlining)
    assigner.region(function.body)
    return assigner.variables


class _Assigner:
    def __init__(self, function: Function, sites: Sites, inlining: Inlining) -> None:
        self._sites = sites
        self._inlining = inlining
        self._liveness = _Liveness(sites, inlining)
        self._counters: set[Value] = set()
        self.variables: dict[Value, Variable] = {}
        for parameter in function.parameters:
            self._add((parameter,))
        for op in walk(function.body):
            self._define(op)

    # ------------------------------------------------------------------ what has a variable

    def _define(self, op: Op) -> None:
        if isinstance(op, For | While):
            self._define_loop(op)
            return
        if op in self._inlining.choices and not self._is_needed(op.result):
            return
        for result in op.results:
            if result in self._inlining.inlined or result in self._inlining.places:
                continue
            if self._is_needed(result) or not is_droppable(op):
                self._add((result,))

    def _define_loop(self, op: For | While) -> None:
        if isinstance(op, For):
            counter = op.body.arguments[0]
            self._counters.add(counter)
            self._add((counter,))
        for values in loop_units(op):
            if not any(self._is_needed(value) for value in values):
                continue
            self._add(values)

    def _add(self, values: Sequence[Value]) -> None:
        """One variable for `values`."""
        variable = Variable(values, self._liveness.extent(values))
        self.variables.update(dict.fromkeys(values, variable))

    def _is_needed(self, value: Value) -> bool:
        return bool(self._sites.uses[value])

    # ------------------------------------------------------------------ sharing

    def region(self, region: Region) -> None:
        for op in region.ops:
            match op:
                case For() | While():
                    self._share_each(op.results, op.initial)
                case If() if op not in self._inlining.choices:
                    for nested in op.regions:
                        if isinstance(nested.terminator, Yield):
                            self._share_each(op.results, nested.terminator.values)
                case Asm():
                    self._share_each(op.results[len(op.results) - len(op.updates) :], op.updates)
                case Insert():
                    self._share(op.result, op.vector)
                case _:
                    self._share_by_name(op)
            for nested in op.regions:
                self.region(nested)
            if isinstance(op, For | While):
                self._share_exits(op, op.body)

    def _share_exits(self, loop: For | While, region: Region) -> None:
        """Share what the ends of `loop`'s iterations in `region` carry with its variables."""
        for op in region.ops:
            is_end = isinstance(op, Yield) and region is loop.body
            if is_end or isinstance(op, Break | Continue):
                self._share_each(loop.results, op.operands)
            elif isinstance(op, If):
                for nested in op.regions:
                    self._share_exits(loop, nested)

    def _share_each(self, ones: Sequence[Value], others: Sequence[Value]) -> None:
        for one, other in zip(ones, others, strict=True):
            self._share(one, other)

    def _share_by_name(self, op: Op) -> None:
        for result in op.results:
            if result.hint and result in self.variables:
                for operand in self._read_by(op):
                    if operand.hint == result.hint:
                        self._share(result, operand)

    def _read_by(self, op: Op) -> Iterator[Value]:
        """The values with variables that the expression of `op` reads."""
        for operand in op.operands:
            if operand not in self._inlining.inlined:
                yield operand
            elif (definer := self._sites.definers[operand]) not in self._inlining.choices:
                yield from self._read_by(definer)

    def _share(self, one: Value, other: Value) -> None:
        """Let two values have one variable, if they have variables and may."""
        mine, theirs = self.variables.get(one), self.variables.get(other)
        if mine is None or theirs is None or mine is theirs or mine.type != theirs.type:
            return
        if isinstance(mine.type, ArrayType) or one in self._counters or other in self._counters:
            return
        if self._liveness.interfere(mine, theirs):
            return
        # The older one first: its name is the variable's.
        if theirs.first < mine.first:
            mine, theirs = theirs, mine
        mine.absorb(theirs)
        self.variables.update(dict.fromkeys(theirs.members, mine))


class _Liveness:
    """Whether values are still needed at places, from births, uses and loops."""

    def __init__(self, sites: Sites, inlining: Inlining) -> None:
        self._sites = sites
        self._inlining = inlining
        self._uses: dict[Value, tuple[Site, ...]] = {}
        self._last: dict[Value, int] = {}
        self._extents: dict[Value, tuple[int, int]] = {}

    def interfere(self, one: Variable, other: Variable) -> bool:
        """Whether a write of one of the variables could destroy a value of the other."""
        if one.last < other.first or other.last < one.first:
            return False  # the common case
        if self._is_made_in_test(one, other) or self._is_made_in_test(other, one):
            return True
        return any(
            self._conflict(mine, theirs)
            for mine in one.members
            for theirs in self._overlapping(mine, other.members)
        )

    def _overlapping(self, value: Value, others: Sequence[Value]) -> Iterator[Value]:
        """Those of `others` that matter somewhere between the first and last place of `value`."""
        first, last = self._extent_of(value)
        for other in others:
            begin, end = self._extent_of(other)
            if begin <= last and first <= end:
                yield other

    def _extent_of(self, value: Value) -> tuple[int, int]:
        if value not in self._extents:
            self._extents[value] = self.extent((value,))
        return self._extents[value]

    def extent(self, values: Sequence[Value]) -> tuple[int, int]:
        """The first and the last position at which a variable of `values` matters."""
        writes = [write.position for value in values for write in self._sites.writes[value]]
        births = [self._sites.births[value].position for value in values]
        uses = [self._last_use(value) for value in values]
        return min(*births, *writes), max(*uses, *writes)

    def _conflict(self, one: Value, other: Value) -> bool:
        definer = self._sites.definers.get(one)
        return (
            (definer is not None and definer is self._sites.definers.get(other))
            or any(self._is_live(one, write) for write in self._sites.writes[other])
            or any(self._is_live(other, write) for write in self._sites.writes[one])
        )

    def _is_made_in_test(self, one: Variable, other: Variable) -> bool:
        """Whether the test of a loop that carries `other` makes a value of `one`: the test runs
        once more after the last iteration."""
        carriers = {self._sites.definers.get(value) for value in other.members}
        loops = {loop for loop in carriers if isinstance(loop, While)}
        return bool(loops) and any(
            step.owner in loops and step.region == 0
            for value in one.members
            for step in self._sites.births[value].path
        )

    def _is_live(self, value: Value, write: Site) -> bool:
        """Whether what `value` holds just before `write` may be read after it."""
        born = self._sites.births[value]
        if not born.position <= write.position < self._last_use(value):
            return False
        return any(_reaches(born, write, use) for use in self._uses_of(value))

    def _uses_of(self, value: Value) -> tuple[Site, ...]:
        if value not in self._uses:
            self._uses[value] = tuple(effective_uses(value, self._sites, self._inlining))
        return self._uses[value]

    def _last_use(self, value: Value) -> int:
        """The last position at which `value` may be needed: a use, or the end of a loop around one
        that does not contain its birth."""
        if value not in self._last:
            inside = self._sites.births[value].path
            last = -1
            for use in self._uses_of(value):
                last = max(last, use.position)
                if use.path is not inside:
                    last = max(last, *self._loop_ends(use.path, inside))
            self._last[value] = last
        return self._last[value]

    def _loop_ends(self, path: Path, inside: Path) -> Iterator[int]:
        yield -1
        for step in path[len(common_path(path, inside)) :]:
            if step.is_loop:
                yield self._sites.ends[step.owner].position


def _reaches(born: Site, write: Site, use: Site) -> bool:
    """Whether control can get from `write` to `use` without passing `born`."""
    shared = common_path(write.path, use.path)
    if any(step.is_loop for step in shared[len(common_path(shared, born.path)) :]):
        return True
    return write.position < use.position and not are_exclusive(write.path, use.path)


def loop_units(op: For | While) -> list[tuple[Value, ...]]:
    """For each value that a loop carries, all its names: in the regions and as the result."""
    columns = [region.arguments[-len(op.initial) :] for region in op.regions] if op.initial else []
    return list(zip(op.results, *columns, strict=True)) if op.initial else []

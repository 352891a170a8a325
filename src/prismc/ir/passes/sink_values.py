"""Computes what is only used behind a loop behind it, so that no register holds it meanwhile.

The CUDA compilers keep a value where it is first computed: the offset of a tile of the output,
worked out before the main loop, costs two registers all through it. A value moves down, into the
arm of an `if` where only that arm uses it, never into a loop; and only where what it is computed
from takes no more registers through the loops that it passes than the value itself.
"""

from __future__ import annotations

from typing import NamedTuple

from prismc.ir.core import Function, Op, Region, Value, walk
from prismc.ir.effects import is_pure
from prismc.ir.ops.arithmetic import Binary, Bitcast, Compare, Constant, Convert, Select, Unary
from prismc.ir.ops.control import For, If, While
from prismc.ir.ops.groups import InGroup, Position
from prismc.ir.passes.base import Pass
from prismc.ir.passes.drop_dead import DropDead
from prismc.ir.types import ScalarType
from prismc.source.record import replace

_MOVES = Binary | Unary | Compare | Select | Convert | Bitcast | InGroup


class SinkValues(Pass):
    name = "sink-values"
    after = (DropDead,)

    def function(self, function: Function) -> Function:
        if not any(isinstance(op, For | While) for op in walk(function.body)):
            return function
        sinker = _Sinker(function)
        sinker.decide(function.body)
        return replace(function, body=sinker.moved(function.body)) if sinker.landings else function


class _Landing(NamedTuple):
    """Where a value is computed: right before `before`. `loop` is the last operation on the way
    that is a loop or holds one; None where none is passed."""

    before: Op
    loop: Op | None


class _Sinker:
    def __init__(self, function: Function) -> None:
        self.landings: dict[Op, Op] = {}
        self._arrivals: dict[Op, list[Op]] = {}
        self._definers: dict[Value, Op] = {}
        self._users: dict[Value, list[Op]] = {}
        self._numbers: dict[Op, int] = {}
        # For each operation and each region around it, what of the region it is or stands in.
        self._steps: dict[Op, dict[Region, Op]] = {}
        # The operations of each region that are loops or hold some.
        self._loops: dict[Region, list[Op]] = {}
        self._collect(function.body, {})

    def _collect(self, region: Region, around: dict[Region, Op]) -> bool:
        """Note all that is in `region`; tell whether there are loops."""
        loops = self._loops[region] = []
        for op in region.ops:
            self._numbers[op] = len(self._numbers)
            steps = self._steps[op] = {**around, region: op}
            for value in op.operands:
                self._users.setdefault(value, []).append(op)
            for result in op.results:
                self._definers[result] = op
            inner = [self._collect(nested, steps) for nested in op.regions]
            if any(inner) or isinstance(op, For | While):
                loops.append(op)
        return bool(loops)

    # ------------------------------------------------------------------ decisions

    def decide(self, region: Region) -> None:
        """Find where the values of a region go, the last ones first: what they are computed from
        may follow them."""
        for op in reversed(region.ops):
            for nested in op.regions:
                self.decide(nested)
            if self._may_move(op):
                landing = self._landing(op, region)
                if landing.loop is not None and self._may_pass(op, landing.loop):
                    self.landings[op] = landing.before
                    self._arrivals.setdefault(landing.before, []).insert(0, op)

    def _may_move(self, op: Op) -> bool:
        return (
            isinstance(op, _MOVES)
            and is_pure(op)
            and isinstance(op.result.type, ScalarType)
            and op.result in self._users
        )

    def _landing(self, op: Op, region: Region) -> _Landing:
        """The last place before all uses that is in no further loop."""
        users = [self._place(user) for user in self._users[op.result]]
        passed: Op | None = None
        start = op
        while True:
            steps = {self._steps[user][region] for user in users}
            first = min(steps, key=self._numbers.__getitem__)
            for loop in self._loops[region]:
                if self._numbers[start] < self._numbers[loop] < self._numbers[first]:
                    passed = loop
            arm = self._only_arm(first, users)
            if arm is None:
                return _Landing(first, passed)
            region, start = arm, first

    def _place(self, user: Op) -> Op:
        """The operation whose place in the text is the user's: itself, or what it lands before."""
        return self.landings.get(user, user)

    def _only_arm(self, first: Op, users: list[Op]) -> Region | None:
        """The arm of the `if` `first` that holds all `users`."""
        if not isinstance(first, If):
            return None
        for arm in first.regions:
            if all(arm in self._steps[user] for user in users):
                return arm
        return None

    # ------------------------------------------------------------------ registers

    def _may_pass(self, op: Op, loop: Op) -> bool:
        """Whether no more registers are held through `loop` when `op` comes after it."""
        needed = dict.fromkeys(self._leaves(op, loop))
        return sum(map(_registers, needed)) <= _registers(op.result)

    def _leaves(self, op: Op, loop: Op) -> list[Value]:
        """What `op` is computed from that would be held through `loop` for its sake alone."""
        found: list[Value] = []
        for value in op.operands:
            definer = self._definers.get(value)
            if definer is None or isinstance(definer, Constant | Position):
                continue
            others = [self._place(user) for user in self._users[value] if user is not op]
            if any(self._numbers[user] >= self._numbers[loop] for user in others):
                continue
            if not others and self._may_move(definer):
                found += self._leaves(definer, loop)
            else:
                found.append(value)
        return found

    # ------------------------------------------------------------------ the new text

    def moved(self, region: Region) -> Region:
        """The region with every operation where it was decided to be."""
        ops: list[Op] = []
        for op in region.ops:
            ops += self._arrivals.get(op, ())
            if op not in self.landings:
                ops.append(op.with_regions(tuple(map(self.moved, op.regions))))
        unchanged = len(ops) == len(region.ops) and all(map(_same, ops, region.ops))
        return region if unchanged else replace(region, ops=tuple(ops))


def _same(one: Op, other: Op) -> bool:
    return one is other


def _registers(value: Value) -> int:
    """How many registers of 32 bits hold a value."""
    of = value.type
    assert isinstance(of, ScalarType)
    return 2 if of.scalar.bits > 32 else 1

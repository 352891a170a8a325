"""Which values become part of the expression that uses them, and which get a variable.

A value used once and without a name of its own is written where it is used, as far as that changes
neither how often nor when memory is read: not across a loop's border, and a load not across a
statement that may write what it reads. An `if` that only chooses between two such values becomes
`c ? a : b`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from prismc.backend.cuda.sites import Path, Site, Sites
from prismc.backend.cuda.types import is_widening, scalar_of
from prismc.ir.core import Function, Op, Region, Value, walk
from prismc.ir.effects import Effect, effects_of, is_pure
from prismc.ir.ops.arithmetic import Constant, Convert, Insert
from prismc.ir.ops.control import For, If, Yield
from prismc.ir.ops.intrinsic import Asm
from prismc.ir.ops.memory import (
    ArrayAlloc,
    ArrayFill,
    ArrayLoad,
    ArrayStore,
    Load,
    PointerCast,
    SharedMemory,
    SubArray,
)
from prismc.ir.types import ArrayType
from prismc.source.record import Record

# Operators in one expression; a reader has to hold them all.
_LIMIT = 12
# What loads read, by class.
_READS: dict[type[Op], Effect] = {Load: Effect.READS_MEMORY, ArrayLoad: Effect.READS_ARRAY}
# Operators in a loop's header, which are computed again for each iteration.
_HEADER_LIMIT = 2


class Inlining(Record):
    """`inlined` values have no variable. `choices` are the `if`s that are expressions. `places`
    are the array elements that `asm` writes directly, by result. `zeroed` arrays are declared with
    zeros. `absorbed` are the operations that these two make superfluous.
    """

    inlined: frozenset[Value]
    choices: frozenset[Op]
    places: dict[Value, ArrayStore]
    zeroed: frozenset[Value]
    absorbed: frozenset[Op]


def plan_inlining(function: Function, sites: Sites) -> Inlining:
    """Decide for every value of `function`."""
    planner = _Planner(sites)
    planner.region(function.body)
    return Inlining(
        inlined=frozenset(planner.inlined),
        choices=frozenset(planner.choices),
        places=planner.places,
        zeroed=frozenset(planner.zeroed),
        absorbed=frozenset(planner.absorbed),
    )


class _Planner:
    def __init__(self, sites: Sites) -> None:
        self.inlined: set[Value] = set()
        self.choices: set[Op] = set()
        self.places: dict[Value, ArrayStore] = {}
        self.zeroed: set[Value] = set()
        self.absorbed: set[Op] = set()
        self._sites = sites
        self._weights: dict[Value, int] = {}  # of inlined values
        # Loads that are not yet part of a statement, with what they read.
        self._pending: dict[Value, Effect] = {}
        # Inlined values whose expressions contain loads.
        self._loading: set[Value] = set()

    def region(self, region: Region) -> None:
        for number, op in enumerate(region.ops):
            if op in self.absorbed:
                continue
            if isinstance(op, Asm):
                self._absorb_stores(op, region.ops[number + 1 :])
            if isinstance(op, ArrayAlloc):
                self._absorb_zeros(op.result, region.ops[number + 1 :])
            for nested in op.regions:
                self.region(nested)
            if isinstance(op, If) and self._is_choice(op):
                self.choices.add(op)
                self._await_loads(op)
            self._settle_loads(op)
            self._consider(op)

    # ------------------------------------------------------------------ values

    def _consider(self, op: Op) -> None:
        """Inline the result of `op`, if it has exactly one and the rules allow it."""
        if len(op.results) != 1 or isinstance(op, Insert):
            return
        reads = _READS.get(type(op))
        if reads is None and not is_pure(op) and op not in self.choices:
            return
        value = op.result
        if isinstance(op, Constant | SharedMemory | PointerCast) or self._is_free(op):
            self.inlined.add(value)
            self._weights[value] = self._weight(op.operands)
            return
        weight = 1 + self._weight(self._parts(op))
        if self._may_move(value, op, weight):
            self.inlined.add(value)
            self._weights[value] = weight
            if reads is not None:
                self._pending[value] = reads
            if reads is not None or self._contains_loads(op):
                self._loading.add(value)

    def _is_free(self, op: Op) -> bool:
        """Whether `op` widens an integer variable, which subscripts and sums do by themselves."""
        return (
            isinstance(op, Convert)
            and is_widening(scalar_of(op.operand.type), scalar_of(op.result.type))
            and op.operand not in self._loading
            and self._weight((op.operand,)) == 0
            and not op.result.hint
        )

    def _may_move(self, value: Value, op: Op, weight: int) -> bool:
        uses = self._sites.uses[value]
        if len(uses) != 1 or weight > _LIMIT:
            return False
        if isinstance(op, SubArray):
            return True
        if value.hint or isinstance(value.type, ArrayType):
            return False
        ((user, site),) = uses
        if isinstance(user, For) and site.path != self._sites.births[value].path:
            outside = site.path[:-1]
            is_light = weight <= _HEADER_LIMIT and is_pure(op) and not self._contains_loads(op)
            return is_light and _loops(outside) == _loops(self._sites.births[value].path)
        born = self._sites.births[value]
        return site.path is born.path or site.loops() == born.loops()

    def _weight(self, values: tuple[Value, ...]) -> int:
        return sum([self._weights.get(value, 0) for value in values])

    def _parts(self, op: Op) -> tuple[Value, ...]:
        """The values that the expression of `op` is written with."""
        if op not in self.choices:
            return op.operands
        ends = (region.terminator.operands for region in op.regions)
        return op.operands + tuple(value for values in ends for value in values)

    def _contains_loads(self, op: Op) -> bool:
        return any(part in self._loading and part in self.inlined for part in self._parts(op))

    def _is_choice(self, op: If) -> bool:
        if len(op.results) != 1 or op.result.hint or isinstance(op.result.type, ArrayType):
            return False
        for region in op.regions:
            if not isinstance(region.terminator, Yield):
                return False
            if not all(
                len(one.results) == 1 and one.result in self.inlined for one in region.ops[:-1]
            ):
                return False
        ends = (region.terminator.operands for region in op.regions)
        weight = self._weight(tuple(value for values in ends for value in values))
        return weight + self._weight(op.operands) < _LIMIT

    # ------------------------------------------------------------------ loads

    def _await_loads(self, choice: Op) -> None:
        """The loads in a choice are part of whatever statement the choice becomes part of."""
        for region in choice.regions:
            for op in walk(region):
                reads = _READS.get(type(op))
                if reads is not None and op.result in self.inlined:
                    self._pending[op.result] = reads

    def _settle_loads(self, op: Op) -> None:
        """Give a variable to each load that would move over what `op` writes; forget those that
        are part of statements by now."""
        if op.regions or not self._pending:
            return
        start = self._sites.starts[op]
        effects = effects_of(op)
        for value, reads in list(self._pending.items()):
            statement, stays = self._statement_of(value)
            if statement.position < start.position:
                del self._pending[value]
            elif statement.position > start.position and _disturbs(effects, reads):
                del self._pending[value]
                self.inlined.discard(stays)
                self._weights.pop(stays, None)

    def _statement_of(self, value: Value) -> tuple[Site, Value]:
        """The start of the statement that the inlined load `value` is written in, as known so far,
        and the value to give a variable if the load must stay where it is: the load, or the
        outermost choice around it."""
        stays = value
        while True:
            ((op, _),) = self._sites.uses[value]
            is_choice = isinstance(op, Yield) and self._sites.owners.get(op) in self.choices
            if is_choice:
                op = self._sites.owners[op]
            if len(op.results) != 1 or op.result not in self.inlined:
                return self._sites.starts[op], stays
            value = op.result
            stays = value if is_choice else stays

    # ------------------------------------------------------------------ arrays and asm

    def _absorb_zeros(self, array: Value, following: tuple[Op, ...]) -> None:
        """Let the declaration of an array do what a fill with zero right after it does."""
        for op in following:
            if not isinstance(op, Constant):
                break
        else:
            return
        if isinstance(op, ArrayFill) and op.array is array:
            filler = self._sites.definers.get(op.value)
            if isinstance(filler, Constant) and _has_no_bits(filler.value):
                self.zeroed.add(array)
                self.absorbed.add(op)

    def _absorb_stores(self, asm: Asm, following: tuple[Op, ...]) -> None:
        """Let `asm` write array elements itself where the next operations only store its results.

        An updated element must also be what it starts from.
        """
        stores: dict[Value, ArrayStore] = {}
        for op in following:
            if isinstance(op, ArrayStore) and op.value in asm.results:
                stores[op.value] = op
            elif not isinstance(op, Constant):
                break
        outputs = len(asm.results) - len(asm.updates)
        taken: set[tuple[Value, tuple[object, ...]]] = set()
        for number, result in enumerate(asm.results):
            store = stores.get(result)
            if store is None or len(self._sites.uses[result]) != 1:
                continue
            place = self._element(store)
            if place is None or place in taken:
                continue
            if number >= outputs and not self._loads(asm.updates[number - outputs], place):
                continue
            taken.add(place)
            self.places[result] = store
            self.absorbed.add(store)

    def _element(self, op: ArrayStore | ArrayLoad) -> tuple[Value, tuple[object, ...]] | None:
        """The array that is no part of another, and constant indices; None if some are not."""
        found: list[object] = []
        array, indices = op.array, op.indices
        while True:
            definers = [self._sites.definers.get(index) for index in indices]
            constants = [one.value for one in definers if isinstance(one, Constant)]
            if len(constants) != len(indices):
                return None
            found[:0] = constants
            outer = self._sites.definers.get(array)
            if not isinstance(outer, SubArray):
                return array, tuple(found)
            array, indices = outer.array, outer.indices

    def _loads(self, value: Value, place: tuple[Value, tuple[object, ...]]) -> bool:
        """Whether `value` is read from `place` and not kept anywhere."""
        definer = self._sites.definers.get(value)
        return (
            isinstance(definer, ArrayLoad)
            and value in self._pending
            and value in self.inlined
            and self._element(definer) == place
        )


def _has_no_bits(value: float) -> bool:
    return value == 0 and math.copysign(1.0, value) > 0


def _loops(path: Path) -> Path:
    return Site(0, path).loops()


def _disturbs(effects: Effect, reads: Effect) -> bool:
    if reads is Effect.READS_ARRAY:
        return bool(effects & Effect.WRITES_ARRAY)
    return bool(effects & (Effect.WRITES_MEMORY | Effect.SYNCHRONISES))


def effective_uses(value: Value, sites: Sites, inlining: Inlining) -> Iterator[Site]:
    """Where the text reads `value`: inside the expressions of inlined values, at their uses."""
    for op, site in sites.uses[value]:
        user: Op = op
        if isinstance(op, Yield) and sites.owners.get(op) in inlining.choices:
            user = sites.owners[op]
        if user is op and not _is_inlined(op, inlining):
            yield site
        elif _is_inlined(user, inlining):
            yield from effective_uses(user.result, sites, inlining)
        else:
            yield Site(sites.ends[user].position, sites.ends[user].path)


def _is_inlined(op: Op, inlining: Inlining) -> bool:
    return len(op.results) == 1 and op.result in inlining.inlined

"""`pipeline`: the loop over slots that it stands for (`docs/language.md`, "Pipelines").

With S slots iteration i works on slot i mod S, and is produced S - 1 iterations before it is
consumed: a prologue of S - 1 produces, then a loop of S steps, each of which produces one iteration
and consumes another, all under the condition that the iteration exists. That condition moves inside
asynchronous scopes, so that the number of their groups does not depend on it. Where the regions
touch the rings in different warps, which run ahead by themselves, there is no prologue, and a step
produces and consumes the same iteration. Synchronisation is derived from this form as from any
other.
"""

from __future__ import annotations

from collections.abc import Callable

from prismc.checker.types import typed
from prismc.checker.types.constructs import Constructs
from prismc.checker.types.context import UNKNOWN
from prismc.checker.types.declarations import Made
from prismc.checker.types.guards import Guard
from prismc.checker.types.model import INT, PointerType
from prismc.checker.types.narrowing import NarrowKind
from prismc.checker.types.pipeline_errors import BadRing
from prismc.checker.types.regions import check_regions
from prismc.checker.types.ring_paths import check_paths
from prismc.checker.types.ring_threads import run_apart
from prismc.checker.types.turns import Turns
from prismc.frontend import ast
from prismc.frontend.walk import walk
from prismc.source.record import Record, replace
from prismc.source.span import Span


class Range(Record):
    """The iterations: from `start` by `step` as long as they are before `stop`. Each is a constant
    or a variable that nothing else writes."""

    start: typed.Expression
    stop: typed.Expression
    step: typed.Expression


class Pipelines(Constructs):
    """Expands a pipeline; each region is elaborated once for each slot it works on."""

    def pipeline(self, node: ast.Pipeline) -> Made:
        """The statements that a pipeline stands for."""
        rings = [self._ring(ring) for ring in node.rings]
        known = tuple(ring for ring in rings if ring is not None)
        bounds = self.range_of(node)
        if bounds is None or len(known) != len(rings) or not self._agree(node, known):
            return self._tried(node)
        fixed = [self._fixed(value, node.header) for value in bounds]
        over = Range(start=fixed[0][0], stop=fixed[1][0], step=fixed[2][0])
        declared = tuple(statement for _, made in fixed for statement in made)
        self.loops += 1
        body = self._apart(node, known, over) or self._ahead(node, known, over)
        self.loops -= 1
        return (typed.Block(id=self.id(), span=node.span, body=(*declared, *body)),)

    def _ahead(self, node: ast.Pipeline, rings: tuple[typed.Variable, ...], over: Range) -> Made:
        """The form in which all but one of the slots are filled ahead."""
        slots, at = rings[0].slots, node.variable.span
        prologue = [
            self._region(node, rings, over, over.start, number, produces=True)
            for number in range(slots - 1)
        ]
        variable = self._local(node.variable.text, over.start, at)
        first = self.read(at, variable)
        steps: list[typed.Statement] = []
        for slot in range(slots):
            ahead = slot + slots - 1
            steps.append(self._region(node, rings, over, first, ahead, produces=True))
            steps.append(self._region(node, rings, over, first, slot, produces=False))
        self._judge(node, (steps[-2],), (steps[-1],))
        return (*prologue, self._loop(node, variable, over, rings, steps, has_tail=True))

    def _apart(self, node: ast.Pipeline, rings: tuple[typed.Variable, ...], over: Range) -> Made:
        """The form for regions that run in different warps; nothing if they do not."""
        if not all(any(_splits(one) for one in region) for region in (node.produce, node.consume)):
            return ()
        slots, at = rings[0].slots, node.variable.span
        variable = self._local(node.variable.text, over.start, at)
        first = self.read(at, variable)
        steps: list[typed.Statement] = []
        for slot in range(slots):
            declared = self._iteration(node, over, first, slot)
            produce = self._slots(node, rings, slot, produces=True)
            consume = self._slots(node, rings, slot, produces=False)
            if slot == 0:
                if not run_apart((produce,), (consume,)):
                    return ()
                self._judge(node, (produce,), (consume,))
            body: Made = (produce, consume)
            if slot:
                body = Guard(self, self._exists(declared, over)).under(body, is_iteration=True)
            steps.append(typed.Block(id=self.id(), span=node.span, body=(declared, *body)))
        return (self._loop(node, variable, over, rings, steps, has_tail=False),)

    def _tried(self, node: ast.Pipeline) -> Made:
        """The regions alone, for what can be said about them."""
        self.is_failed = True
        for name in (node.variable, *(ring.name for ring in node.rings)):
            self.bind(name, UNKNOWN)
        return (*self.statements(node.produce), *self.statements(node.consume))

    def _ring(self, ring: ast.Ring) -> typed.Variable | None:
        """A shared array of slots; None after reporting."""
        reference = ast.Reference(
            id=ring.pointer.id, span=ring.pointer.span, name=ring.pointer.text
        )
        variable = self.variable_at(reference)
        if variable is not None and variable.slots:
            return variable
        if self.binding_at(reference) is not UNKNOWN and self.symbol_at(reference) is not None:
            note = self.declared_here(variable) if variable is not None else ()
            reason = "is no shared array of slots"
            self.report(
                BadRing(at=ring.pointer.span, name=ring.pointer.text, reason=reason, related=note)
            )
        return None

    def _agree(self, node: ast.Pipeline, rings: tuple[typed.Variable, ...]) -> bool:
        """Whether all rings have as many slots, and each stands here once."""
        for number, variable in enumerate(rings):
            reason = ""
            if variable in rings[:number]:
                reason = "is a ring of this pipeline already"
            elif variable.slots != rings[0].slots:
                reason = f"has {variable.slots} slots, and `{rings[0].name}` {rings[0].slots}"
            if reason:
                at = node.rings[number].pointer.span
                note = self.declared_here(variable)
                self.report(BadRing(at=at, name=variable.name, reason=reason, related=note))
                return False
        return True

    def _fixed(self, value: typed.Expression, at: Span) -> tuple[typed.Expression, Made]:
        """A bound that is evaluated once, and the declaration that does it."""
        if isinstance(value, typed.Constant):
            return value, ()
        variable = self._local("bound", value, at)
        return self.read(value.span, variable), (self._declare(variable, value, at),)

    def _again(self, value: typed.Expression) -> typed.Expression:
        """Another use of a bound."""
        return self.read(value.span, value.variable) if isinstance(value, typed.Read) else value

    def _local(self, name: str, value: typed.Expression, at: Span) -> typed.Variable:
        """A variable without a name in the source, at the code's perspective."""
        return typed.Variable(
            id=self.id(),
            name=name,
            type=value.type,
            kind=typed.VariableKind.LOOP,
            perspective=self.bound.code,
            is_stated=False,
            bound=self.bound,
            span=at,
        )

    def _declare(
        self, variable: typed.Variable, value: typed.Expression, at: Span
    ) -> typed.Declare:
        return typed.Declare(id=self.id(), span=at, variable=variable, value=value)

    def _loop(
        self,
        node: ast.Pipeline,
        variable: typed.Variable,
        over: Range,
        rings: tuple[typed.Variable, ...],
        steps: list[typed.Statement],
        *,
        has_tail: bool,
    ) -> typed.For:
        """The loop of one step for each slot."""
        slots, at = rings[0].slots, node.variable.span
        zero = self.constant(at, INT, 0)
        slot, parity = (self._local(name, zero, at) for name in ("slot", "parity"))
        turns = Turns(
            rings=rings,
            slots=slots,
            length=len(steps) // slots,
            step=self._again(over.step),
            slot=slot,
            parity=parity,
            advance=(self._next_slot(slot, slots, at), self._next_parity(slot, parity, at)),
            has_tail=has_tail,
        )
        return typed.For(
            id=self.id(),
            span=node.span,
            variable=variable,
            start=self._again(over.start),
            stop=self._again(over.stop),
            step=self._times(over.step, slots),
            unroll=False,
            body=tuple(steps),
            turns=turns,
        )

    def _next_slot(self, slot: typed.Variable, slots: int, at: Span) -> typed.Assign:
        """`slot = slot + 1 if slot < slots - 1 else 0`, by a mask where that is the same."""
        following = self.combine("+", self.read(at, slot), self.constant(at, INT, 1), at, at)
        last, zero = (self.constant(at, INT, number) for number in (slots - 1, 0))
        if slots & (slots - 1) == 0:
            return self._set(slot, self.combine("&", following, last, at, at))
        is_before = self.combine("<", self.read(at, slot), last, at, at)
        return self._set(slot, self._choice(is_before, following, zero, at))

    def _next_parity(self, slot: typed.Variable, parity: typed.Variable, at: Span) -> typed.Assign:
        """`parity = parity ^ (1 if slot == 0 else 0)`, with the next slot."""
        zero, one = (self.constant(at, INT, number) for number in (0, 1))
        is_first = self.combine("==", self.read(at, slot), zero, at, at)
        turned = self._choice(is_first, one, zero, at)
        return self._set(parity, self.combine("^", self.read(at, parity), turned, at, at))

    def _choice(
        self,
        condition: typed.Expression,
        value: typed.Expression,
        otherwise: typed.Expression,
        at: Span,
    ) -> typed.Conditional:
        return typed.Conditional(
            id=self.id(), span=at, type=INT, value=value, condition=condition, otherwise=otherwise
        )

    def _set(self, variable: typed.Variable, value: typed.Expression) -> typed.Assign:
        at = value.span
        place = typed.VariablePlace(id=self.id(), span=at, type=INT, variable=variable)
        return typed.Assign(id=self.id(), span=at, place=place, operator="", value=value)

    def _times(self, step: typed.Expression, number: int) -> typed.Expression:
        count = self.constant(step.span, step.type, number)
        return self.combine("*", self._again(step), count, step.span, step.span)

    def _region(
        self,
        node: ast.Pipeline,
        rings: tuple[typed.Variable, ...],
        over: Range,
        first: typed.Expression,
        number: int,
        *,
        produces: bool,
    ) -> typed.Block:
        """One execution of a region: iteration `number` after `first`, if there is one."""
        declared = self._iteration(node, over, first, number)
        narrow = self._slots(node, rings, number % rings[0].slots, produces=produces)
        iteration = declared.value
        if number or isinstance(iteration, typed.Constant) or first is over.start:
            exists = self._exists(declared, over)
            condition = exists()
            if not (isinstance(condition, typed.Constant) and condition.value):
                narrow = replace(narrow, body=Guard(self, exists).around(narrow.body))
        return typed.Block(id=self.id(), span=node.span, body=(declared, narrow))

    def _iteration(
        self, node: ast.Pipeline, over: Range, first: typed.Expression, number: int
    ) -> typed.Declare:
        """The declaration of the pipeline's variable: iteration `number` after `first`."""
        at = node.variable.span
        iteration = self._again(first)
        if number:
            ahead = self._times(over.step, number)
            iteration = self.combine("+", iteration, ahead, at, at)
        variable = self._local(node.variable.text, iteration, at)
        self.bind(node.variable, variable)
        return self._declare(variable, iteration, at)

    def _slots(
        self, node: ast.Pipeline, rings: tuple[typed.Variable, ...], slot: int, *, produces: bool
    ) -> typed.Narrow:
        """One execution of a region with the rings' names as one of their slots."""
        views = tuple(
            self._view_of(ring, variable, slot, produces=produces)
            for ring, variable in zip(node.rings, rings, strict=True)
        )
        narrow = typed.Narrow(
            id=self.id(),
            span=node.span,
            kind=NarrowKind.PARTITION,
            views=views,
            body=self.statements(node.produce if produces else node.consume),
            header=node.header,
        )
        if produces and slot == 0 and not self.is_failed:
            for problem in check_paths(narrow):
                self.report(problem)
        return narrow

    def _exists(self, declared: typed.Declare, over: Range) -> Callable[[], typed.Expression]:
        """The condition that an iteration exists, made anew with each call."""
        at, iteration = declared.span, declared.value
        descends = isinstance(over.step, typed.Constant) and over.step.value < 0
        sign = ">" if descends else "<"

        def exists() -> typed.Expression:
            known = isinstance(iteration, typed.Constant)
            value = iteration if known else self.read(at, declared.variable)
            assert value is not None, "an iteration has a value"
            return self.combine(sign, value, self._again(over.stop), at, at)

        return exists

    def _view_of(
        self, ring: ast.Ring, variable: typed.Variable, slot: int, *, produces: bool
    ) -> typed.View:
        """A ring's name as one of its slots, which is only read where it is consumed."""
        at = ring.pointer.span
        source = self.slot(at, variable, slot)
        assert isinstance(source.type, PointerType)
        type_ = source.type if produces else replace(source.type, is_const=True)
        made = self.variable(ring.name, type_, typed.VariableKind.RING, variable.perspective)
        return typed.View(
            id=self.id(),
            span=ring.span,
            variable=made,
            source=source,
            offset=None,
            function=None,
            is_async=False,
        )

    def _judge(self, node: ast.Pipeline, produce: Made, consume: Made) -> None:
        """What the regions may not do; one execution of each tells."""
        if self.is_failed:
            return
        for problem in check_regions(produce, consume, node.header):
            self.report(problem)


def _splits(statement: ast.Node) -> bool:
    """Whether arms of a `split` stand in a statement."""
    return any(isinstance(node, ast.Split | ast.First) for node in walk(statement))

"""Mirrored arrays: the blocks of a cluster keep copies of one array alike.

Only loads that go to all blocks fill them (`docs/language.md`, "Clusters"). Each block counts the
bytes of all loads, its own times the blocks, so every block has to issue the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.perspectives.mirror_errors import (
    MirroredPart,
    MirroredStore,
    MulticastDiffers,
    OtherBlocks,
    OtherCopy,
)
from prismc.checker.types import typed
from prismc.checker.types.conversions import root_variable
from prismc.checker.types.model import PointerType, Type
from prismc.checker.types.variables import mirrors_of
from prismc.checker.types.walk import (
    bodies_of,
    calls_of,
    expressions_in,
    places_of,
)
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import CONSTANT, Level, Perspective
from prismc.source.record import Record, replace
from prismc.source.span import Span


class Reaching:
    """The symbols of functions that do to their callers' memory what several blocks must know of:
    load into mirrored arrays, or touch another block's."""

    def __init__(self) -> None:
        self.filling: set[str] = set()
        self.far: set[str] = set()


class Around(Record):
    """What decides whether code runs: as broad as `varies`, the narrowest of it at `at`."""

    varies: Perspective = CONSTANT
    at: Span | None = None


def check_mirrors(
    body: typed.Body, varies: Mapping[int, Perspective], reaching: Reaching, sink: Sink
) -> None:
    """Judge one body; it is added to those that are `reaching` if it is one."""
    walk = _Walk(body.instance, varies, reaching, sink)
    walk.statements(body.statements, Around())


class _Walk:
    def __init__(
        self,
        instance: typed.Instance,
        varies: Mapping[int, Perspective],
        reaching: Reaching,
        sink: Sink,
    ) -> None:
        self._instance = instance
        self._varies = varies
        self._reaching = reaching
        self._sink = sink
        self._blocks = _blocks_of(instance)

    def statements(self, body: tuple[typed.Statement, ...], around: Around) -> None:
        for statement in body:
            self._statement(statement, around)
            for call in calls_of((statement,)):
                self._call(call, around)
            if isinstance(statement, typed.Split):
                for arm in statement.arms:
                    self.statements(arm.body, self._in_arm(arm, around))
                continue
            inside = self._inside(statement, around)
            for inner in bodies_of(statement):
                self.statements(inner, inside)

    # ----------------------------------------------------------------------- what is around

    def _inside(self, statement: typed.Statement, around: Around) -> Around:
        match statement:
            case typed.If(condition=condition) | typed.While(condition=condition):
                return self._under(around, condition)
            case typed.For(start=start, stop=stop, step=step):
                for bound in (start, stop, step):
                    around = self._under(around, bound)
                return around
            case _:
                return around

    def _under(self, around: Around, condition: typed.Expression) -> Around:
        found = around.varies.meet(self._varies.get(condition.id, CONSTANT))
        return around if found == around.varies else Around(varies=found, at=condition.span)

    def _in_arm(self, arm: typed.Arm, around: Around) -> Around:
        """Arms of blocks are not taken by all blocks; those of threads are the same in each."""
        if arm.to.level is Level.THREAD:
            return around
        one = Perspective(Level.BLOCK, 1)
        return replace(around, varies=around.varies.meet(one), at=arm.header)

    # ----------------------------------------------------------------------- what is judged

    def _statement(self, statement: typed.Statement, around: Around) -> None:
        if isinstance(statement, typed.DeclareShared):
            self._declared(statement.variable)
        if isinstance(statement, typed.Narrow):
            self._scope(statement)
        for place in places_of(statement):
            while isinstance(place, typed.ComponentPlace):
                place = place.vector
            if isinstance(place, typed.MemoryPlace):
                self._stored(place.pointer, place.span)

    def _declared(self, variable: typed.Variable) -> None:
        blocks = mirrors_of(variable)
        if blocks > 1 and blocks != self._blocks:
            whole = f"block[{self._blocks}]"
            self._sink.report(
                MirroredPart(
                    at=variable.span,
                    name=variable.name,
                    blocks=blocks,
                    around=f"a cluster has {self._blocks}",
                    advice=whole,
                    related=(Related(at=self._instance.requires_span, message="it is here"),),
                )
            )

    def _scope(self, narrow: typed.Narrow) -> None:
        """An asynchronous scope stands where the code of all blocks with a copy is known."""
        for view in narrow.views:
            blocks = _mirrors(view.source)
            if view.is_async and blocks > self._blocks:
                self._sink.report(
                    MulticastDiffers(
                        at=view.span,
                        name=_name(view.source),
                        blocks=blocks,
                        reason=f"this function knows of {self._blocks} only",
                        advice=f"require `block[{blocks}]`, or open the scope where it is called",
                        related=(Related(at=self._instance.requires_span, message="it is here"),),
                    )
                )

    def _stored(self, pointer: typed.Expression, at: Span) -> None:
        blocks = _mirrors(pointer)
        if blocks > 1:
            name, notes = _name(pointer), _copies(pointer)
            self._sink.report(MirroredStore(at=at, name=name, blocks=blocks, related=notes))

    def _named(self, call: typed.Call, argument: typed.Expression) -> None:
        """Each block waits for what comes into its own copy; nobody's wait tells of another's."""
        self._sink.report(
            OtherCopy(
                at=argument.span,
                name=_name(argument),
                blocks=_mirrors(argument),
                callee=call.callee.name,
                related=_copies(argument),
            )
        )

    def _call(self, call: typed.Call, around: Around) -> None:
        callee = call.callee
        if callee.symbol in self._reaching.far or _is_far(callee):
            self._far(call)
        for parameter, argument in zip(callee.parameters, call.arguments, strict=False):
            if _mirrors(argument) == 1:
                continue
            if _is_far(callee, parameter):
                self._named(call, argument)
            elif callee.symbol in self._reaching.filling or _is_load(callee, parameter):
                self._loaded(call, argument, around)
            elif _changes(callee, parameter):
                self._stored(argument, argument.span)

    def _far(self, call: typed.Call) -> None:
        """A call that touches another block's memory: somebody around has to know of the block."""
        if self._instance.bound.code.level is Level.THREAD:
            self._reaching.far.add(self._instance.symbol)
        elif self._blocks == 1:
            is_kernel = self._instance.is_kernel
            reason = "is not launched in clusters" if is_kernel else "requires one block only"
            self._sink.report(
                OtherBlocks(
                    at=call.span,
                    callee=call.callee.name,
                    around=f"`{self._instance.name}` {reason}",
                    related=(Related(at=self._instance.requires_span, message="it is here"),),
                )
            )

    def _loaded(self, call: typed.Call, argument: typed.Expression, around: Around) -> None:
        """A load that reaches several blocks, whichever of them runs the code."""
        blocks = _mirrors(argument)
        if any(_mirrors_of_type(each.type) == blocks for each in self._instance.parameters):
            self._reaching.filling.add(self._instance.symbol)
        together = Perspective(Level.BLOCK, blocks)
        for varies, at, what in (
            (around.varies, around.at, "is decided here"),
            *self._sizes(call),
        ):
            if together.is_narrower_or_equal(varies):
                continue
            where = () if at is None else (Related(at=at, message=f"{varies} {what}"),)
            self._sink.report(
                MulticastDiffers(
                    at=call.span,
                    name=_name(argument),
                    blocks=blocks,
                    reason=f"each {varies} decides for itself",
                    advice=f"make it the same in all blocks: decide by what is {together}",
                    related=where,
                )
            )
            return

    def _sizes(self, call: typed.Call) -> list[tuple[Perspective, Span | None, str]]:
        """How often the number of bytes varies."""
        effects = call.callee.effects
        if effects is None or effects.bytes is None:
            return []
        arguments = dict(zip(call.callee.parameters, call.arguments, strict=False))
        named = (
            arguments[part.variable]
            for part in expressions_in(effects.bytes)
            if isinstance(part, typed.Read) and part.variable in arguments
        )
        return [
            (self._varies.get(each.id, CONSTANT), each.span, "has its own number of bytes")
            for each in named
        ]


def _blocks_of(instance: typed.Instance) -> int:
    """The blocks that run one instance of a function."""
    return instance.launch.cluster if instance.launch is not None else max(1, instance.bound.block)


def _mirrors(value: typed.Expression) -> int:
    return _mirrors_of_type(value.type)


def _mirrors_of_type(of: Type) -> int:
    return of.mirrors if isinstance(of, PointerType) else 1


def _name(pointer: typed.Expression) -> str:
    variable = root_variable(pointer)
    return "this" if variable is None else variable.name


def _copies(pointer: typed.Expression) -> tuple[Related, ...]:
    """Where a mirrored array is declared."""
    root = root_variable(pointer)
    message = f"`{_name(pointer)}` has a copy in each of {_mirrors(pointer)} blocks"
    return () if root is None else (Related(at=root.span, message=message),)


def _is_load(callee: typed.Instance, parameter: typed.Variable) -> bool:
    """Whether a callee brings a parameter's memory by loads that mbarriers count."""
    effects = callee.effects
    counts = effects is not None and effects.completes is Completion.MBARRIER
    return effects is not None and counts and parameter in effects.writes


def _is_far(callee: typed.Instance, parameter: typed.Variable | None = None) -> bool:
    """Whether a callee touches another block's memory, in the place of one parameter if given."""
    effects = callee.effects
    return effects is not None and any(
        each.block is not None and parameter in (None, each.parameter) for each in effects.extents
    )


def _changes(callee: typed.Instance, parameter: typed.Variable) -> bool:
    """Whether a callee changes what a parameter names, as far as its own body does not tell."""
    assert isinstance(parameter.type, PointerType)
    if callee.effects is not None:
        return parameter in callee.effects.writes
    is_changed = not parameter.type.is_const
    return is_changed and (callee.kind is typed.InstanceKind.UNSAFE or parameter.type.is_atomic)

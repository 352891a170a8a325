"""The perspective rules of statements: who may say what (`docs/language.md`, "Perspectives")."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from types import MappingProxyType

from prismc.checker.perspectives.aliases import Roots, pointer_variables
from prismc.checker.perspectives.asynchronous import check_scopes
from prismc.checker.perspectives.atomics import Atomics, Scopes
from prismc.checker.perspectives.boundary import check_declared_effects
from prismc.checker.perspectives.calls import check_call
from prismc.checker.perspectives.data import Data, Uniform
from prismc.checker.perspectives.errors import (
    ArmMisaligned,
    Divergence,
    ExitCrosses,
    GroupBroadens,
    GroupDoesNotDivide,
    SplitTooLarge,
)
from prismc.checker.perspectives.facts import PerspectiveFacts
from prismc.checker.perspectives.mapped import check_mapped
from prismc.checker.perspectives.mirrors import Reaching, check_mirrors
from prismc.checker.perspectives.scope import Frame, Scope
from prismc.checker.perspectives.views import Views
from prismc.checker.perspectives.writes import Writes
from prismc.checker.types import typed
from prismc.checker.types.model import ErrorType, PointerType
from prismc.checker.types.origins import InstanceSink
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import Bound, Perspective
from prismc.source.span import Span

# Why threads that leave together may not leave these, by keyword.
_NOT_LEFT = MappingProxyType(
    {
        "pipeline": "steps that have begun would never end",
        "partition": "what it narrows is whole again only behind it",
        "claim": "what it claims is free again only behind it",
    }
)


def check_perspectives(program: typed.Program, sink: Sink) -> PerspectiveFacts:
    """Judge every instance; callees come first, so that calls know what they require."""
    varies: dict[int, Perspective] = {}
    bounds: dict[int, Bound] = {}
    uniform: dict[str, Mapping[typed.Variable, Perspective]] = {}
    scopes: dict[str, Mapping[typed.Variable, Perspective]] = {}
    committing: set[str] = set()
    reaching = Reaching()
    refused = set(program.refused)
    for symbol, body in program.bodies.items():
        before = sink.errors_reported
        instance_sink = InstanceSink(sink, body.instance)
        checker = _BodyChecker(body, instance_sink, varies, bounds, uniform, scopes)
        checker.statements(body.statements)
        if symbol not in program.refused:
            check_declared_effects(body, checker.aliases, instance_sink)
            check_mapped(body, instance_sink)
            check_mirrors(body, varies, reaching, instance_sink)
        if check_scopes(body, committing, instance_sink):
            committing.add(symbol)
        uniform[symbol] = checker.data.uniform_parameters
        scopes[symbol] = checker.atomics.scopes
        if sink.errors_reported > before:
            refused.add(symbol)
    return PerspectiveFacts(
        varies=MappingProxyType(varies),
        bounds=MappingProxyType(bounds),
        refused=frozenset(refused),
    )


class _BodyChecker:
    """Walks the statements of one body."""

    def __init__(
        self,
        body: typed.Body,
        sink: InstanceSink,
        varies: dict[int, Perspective],
        bounds: dict[int, Bound],
        uniform: Uniform,
        scopes: Scopes,
    ) -> None:
        self._instance = body.instance
        self._sink = sink
        self._bounds = bounds
        self._uniform = uniform
        self._scope = Scope(body)
        self.aliases = self._scope.aliases
        written = _written_roots(body, self._scope)
        self.data = Data(self._scope, sink, varies, self._call, written)
        self.atomics = Atomics(scopes, self._scope, self.data, sink)
        self._writes = Writes(self._scope, self.data, sink)
        self._views = Views(self._scope, self.data, sink)

    def _call(self, call: typed.Call) -> None:
        check_call(call, self._scope, self.data, self._uniform, self._sink)
        self.atomics.judge(call)

    def statements(self, body: tuple[typed.Statement, ...]) -> None:
        for statement in body:
            self._bounds[statement.id] = self._scope.bound
            self._statement(statement)

    def _statement(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Declare():
                self._writes.declare(statement)
            case typed.DeclareSeveral():
                self._writes.declare_several(statement)
            case typed.DeclareShared(variable=variable):
                self._writes.declared_perspective(variable)
                self._scope.declared(variable)
            case typed.Assign():
                self.data.varies(statement.value)
                self._writes.write(statement.place, statement.value)
            case typed.AssignSeveral(places=places, values=values):
                for place, value in zip(places, values, strict=True):
                    self._writes.write(place, value)
            case typed.LoadInto():
                self._writes.load_into(statement)
            case typed.Evaluate(call=call):
                self.data.varies(call)
            case typed.Return():
                self._return(statement)
            case typed.Break() | typed.Continue():
                self._exit("break" if isinstance(statement, typed.Break) else "continue", statement)
            case typed.Assert(condition=condition) | typed.Assume(condition=condition):
                self.data.varies(condition)
            case typed.Print(arguments=arguments):
                for argument in arguments:
                    self.data.varies(argument)
            case typed.Asm():
                self._writes.asm(statement)
            case _:
                self._compound(statement)

    def _compound(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Block(body=body, is_refused=True):
                with self._sink.silent():
                    self.statements(body)
            case typed.Block(body=body):
                self.statements(body)
            case typed.If(condition=condition, body=body, otherwise=otherwise):
                self._require_uniform("condition", condition, statement.span)
                self.statements(body)
                self.statements(otherwise)
            case typed.While(condition=condition, body=body):
                with self._scope.loop(condition.span):
                    self._require_uniform("condition", condition, statement.span)
                    self.statements(body)
            case typed.For():
                self._for(statement)
            case typed.Group():
                self._group(statement)
            case typed.Finish(counter=counter, body=body):
                self.data.varies(counter)
                self.statements(body)
            case typed.Split():
                self._split(statement)
            case typed.Narrow():
                self._narrow(statement)
            case _:
                pass

    # ------------------------------------------------------------------ control flow

    def _require_uniform(self, construct: str, condition: typed.Expression, span: Span) -> None:
        """Conditions and bounds are at least as broad as the code: its threads stay together."""
        varies, code = self.data.varies(condition), self._scope.code
        if self._instance.kind is typed.InstanceKind.EXPRESSION:
            return
        if isinstance(condition.type, ErrorType):
            return
        if code.is_narrower_or_equal(varies):
            self.data.require_settled(condition, code)
            return
        self._sink.report(
            Divergence(
                at=condition.span,
                construct=construct,
                code_perspective=code,
                varies=varies,
                advice=f"wrap the statement in `group {varies}:`, so that each decides for itself",
                related=(*self.data.culprit(condition, code), *self.data.speaker_note()),
            )
        )

    def _for(self, statement: typed.For) -> None:
        for bound in (statement.start, statement.stop, statement.step):
            self._require_uniform("loop bound", bound, statement.span)
        header = statement.variable.span
        with self._scope.loop(header):
            self._scope.declared(statement.variable)
            self.statements(statement.body)

    def _exit(self, keyword: str, statement: typed.Statement) -> None:
        """An exit stays within the perspective of what it leaves (paper-notes A45)."""
        outer, crossed = self._exited(keyword)
        if crossed is None:
            return
        leaves = "function" if outer.keyword == "function" else "loop"
        self._sink.report(
            ExitCrosses(
                at=statement.span,
                exit=keyword,
                why=_NOT_LEFT.get(crossed.keyword, "some threads would leave, others stay"),
                outer=outer.bound.code,
                leaves=leaves,
                crossed=f"a `{crossed.keyword}` of {crossed.bound.code} code",
                related=(
                    Related(at=crossed.header, message=f"it crosses this {crossed.keyword}"),
                    Related(at=outer.header, message=f"the {leaves} it leaves"),
                ),
            )
        )

    def _exited(self, keyword: str) -> tuple[Frame, Frame | None]:
        """The loop or function that is left, and the outermost construct on the way out."""
        crossed: Frame | None = None
        for frame in reversed(self._scope.frames):
            if frame.keyword == "function" or (frame.keyword == "loop" and keyword != "return"):
                return frame, crossed
            if frame.blocks_exits:
                crossed = frame
            if frame.keyword == "pipeline" and keyword != "return":  # it stands for a loop
                return frame, frame
        raise AssertionError("every walk starts inside a function")

    def _return(self, statement: typed.Return) -> None:
        self._exit("return", statement)
        for value in statement.values:
            self.data.varies(value)
        # An expression function is as broad as its arguments, an unsafe one is believed.
        if self._instance.kind in (typed.InstanceKind.EXPRESSION, typed.InstanceKind.UNSAFE):
            return
        for value, result in zip(statement.values, self._instance.results, strict=False):
            self._writes.result(value, result)

    # ------------------------------------------------------------------ whose code

    def _group(self, statement: typed.Group) -> None:
        if self._judge_group(statement):
            inside = statement.bound
        else:
            inside = self._scope.bound.group(statement.to)
        frame = Frame(keyword="group", bound=inside, header=statement.header)
        with self._scope.inside(frame):
            self.statements(statement.body)

    def _judge_group(self, statement: typed.Group) -> bool:
        bound, to = self._scope.bound, statement.to
        if bound.allows_group(to):
            return True
        entry = bound.size(to.level)
        if entry:
            self._report_does_not_divide(statement, entry)
        else:
            self._sink.report(
                GroupBroadens(
                    at=statement.header,
                    code_perspective=bound.code,
                    to=to,
                    related=self.data.speaker_note(),
                )
            )
        return False

    def _report_does_not_divide(self, statement: typed.Group, entry: int) -> None:
        self._sink.report(
            GroupDoesNotDivide(
                at=statement.header,
                size=statement.to.size,
                entry=entry,
                level=statement.to.level.name.lower(),
                related=self.data.speaker_note(),
            )
        )

    def _split(self, statement: typed.Split) -> None:
        fits = self._judge_sum(statement)
        for arm in statement.arms:
            if fits:
                self._judge_arm(arm)
            frame = Frame(
                keyword=statement.keyword,
                bound=arm.bound,
                header=arm.header,
                arm=arm,
                split=statement,
            )
            with self._scope.inside(frame):
                self.statements(arm.body)

    def _judge_sum(self, statement: typed.Split) -> bool:
        """Whether the arms fit at all; where they do not, their alignment is not looked at."""
        level = statement.arms[0].to.level
        available = self._scope.bound.size(level)
        asked = sum(arm.to.size for arm in statement.arms)
        if asked <= available:
            return True
        self._sink.report(
            SplitTooLarge(
                at=statement.header,
                asked=asked,
                available=available,
                level=level.name.lower(),
                related=self.data.speaker_note(),
            )
        )
        return False

    def _judge_arm(self, arm: typed.Arm) -> None:
        bound = self._scope.bound
        if bound.allows_arm(arm.to, arm.offset) or not bound.size(arm.to.level):
            return
        base = bound.base_for(arm.to.level)
        self._sink.report(
            ArmMisaligned(
                at=arm.header,
                size=arm.to.size,
                offset=arm.offset,
                alignment=gcd(base, arm.offset),
                reason=_misaligned(base, arm.offset),
                advice=_arm_advice(base, arm.offset),
                related=self.data.speaker_note(),
            )
        )

    def _narrow(self, statement: typed.Narrow) -> None:
        self._views.judge(statement)
        with self._scope.narrowing(statement):
            self.statements(statement.body)


def _misaligned(base: int, offset: int) -> str:
    if base == 0:
        return f"it would not be aligned at {offset}"
    if offset == 0:
        return f"the units are only known to start at a multiple of {base}"
    return f"the units start at a multiple of {base}, the arm {offset} further"


def _arm_advice(base: int, offset: int) -> str:
    if offset == 0:
        return f"use an arm whose size divides {base}, or split before the code is narrowed"
    return "put the larger arms first"


def _written_roots(body: typed.Body, scope: Scope) -> Roots:
    """Roots that the body stores to, directly or by passing them to a parameter that may."""
    written: list[typed.Variable] = []
    for statement in body.all_statements:
        if isinstance(statement, typed.Assign) and isinstance(statement.place, typed.MemoryPlace):
            written += pointer_variables(statement.place.pointer)
    for call in body.calls:
        for parameter, argument in zip(call.callee.parameters, call.arguments, strict=False):
            if isinstance(parameter.type, PointerType) and not parameter.type.is_const:
                written += pointer_variables(argument)
    return scope.aliases.roots_of(written)

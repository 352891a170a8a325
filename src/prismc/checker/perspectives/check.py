"""The perspective rules of statements: who may say what (`docs/language.md`, "Perspectives")."""

from __future__ import annotations

from math import gcd
from types import MappingProxyType

from prismc.checker.perspectives.aliases import pointer_variables
from prismc.checker.perspectives.calls import check_call
from prismc.checker.perspectives.data import Data
from prismc.checker.perspectives.errors import (
    ArmMisaligned,
    DeclaredBroader,
    DeclaredDoesNotDivide,
    Divergence,
    ExitCrosses,
    GroupBroadens,
    GroupDoesNotDivide,
    NarrowElsewhere,
    NarrowTarget,
    OffsetVaries,
    PointerAssignment,
    SplitTooLarge,
    StoreTooBroad,
    StoreVaries,
    WriteDown,
    WriteScope,
)
from prismc.checker.perspectives.facts import PerspectiveFacts
from prismc.checker.perspectives.scope import Frame, Scope
from prismc.checker.types import typed
from prismc.checker.types.model import ErrorType, PointerType
from prismc.checker.types.walk import calls_in, place_operands, statements_in
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import THREAD, Bound, Perspective
from prismc.source.span import Span


def check_perspectives(program: typed.Program, sink: Sink) -> PerspectiveFacts:
    """Judge every instance; callees come first, so that calls know what they require."""
    varies: dict[int, Perspective] = {}
    bounds: dict[int, Bound] = {}
    uniform: dict[str, frozenset[typed.Variable]] = {}
    refused = set(program.refused)
    for symbol, body in program.bodies.items():
        before = sink.errors_reported
        checker = _BodyChecker(body, sink, varies, bounds, uniform)
        checker.statements(body.statements)
        uniform[symbol] = frozenset(checker.data.uniform_parameters)
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
        sink: Sink,
        varies: dict[int, Perspective],
        bounds: dict[int, Bound],
        uniform: dict[str, frozenset[typed.Variable]],
    ) -> None:
        self._instance = body.instance
        self._sink = sink
        self._bounds = bounds
        self._uniform = uniform
        self._scope = Scope(body)
        written = _written_roots(body, self._scope)
        self.data = Data(self._scope, sink, varies, self._call, written)

    def _call(self, call: typed.Call) -> None:
        check_call(call, self._scope, self.data, self._uniform, self._sink)

    def statements(self, body: tuple[typed.Statement, ...]) -> None:
        for statement in body:
            self._bounds[statement.id] = self._scope.bound
            self._statement(statement)

    def _statement(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Declare():
                self._declare(statement)
            case typed.DeclareSeveral():
                self._declare_several(statement)
            case typed.DeclareShared(variable=variable):
                self._declared_perspective(variable)
                self._scope.declared(variable)
            case typed.Assign():
                self.data.varies(statement.value)
                self._write(statement.place, statement.value)
            case typed.AssignSeveral(places=places, values=values):
                for place, value in zip(places, values, strict=True):
                    self._write(place, value)
            case typed.LoadInto():
                self._load_into(statement)
            case typed.Evaluate(call=call):
                self.data.varies(call)
            case typed.Return():
                self._return(statement)
            case typed.Break() | typed.Continue():
                self._exit("break" if isinstance(statement, typed.Break) else "continue", statement)
            case typed.Assert(condition=condition):
                self.data.varies(condition)
            case typed.Print(arguments=arguments):
                for argument in arguments:
                    self.data.varies(argument)
            case typed.Asm():
                self._asm(statement)
            case _:
                self._compound(statement)

    def _compound(self, statement: typed.Statement) -> None:
        match statement:
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
            case typed.Split():
                self._split(statement)
            case typed.Narrow():
                self._narrow(statement)
            case _:
                pass

    # ------------------------------------------------------------------ declarations and writes

    def _declare(self, statement: typed.Declare) -> None:
        variable, value = statement.variable, statement.value
        if value is not None:
            self.data.varies(value)
        if self._declared_perspective(variable) and value is not None:
            self._require_as_broad(f"`{variable.name}`", variable, value)
        self._scope.declared(variable)

    def _declare_several(self, statement: typed.DeclareSeveral) -> None:
        self.data.varies(statement.call)
        for variable in statement.variables:
            self._declared_perspective(variable)
            self._scope.declared(variable)

    def _declared_perspective(self, variable: typed.Variable) -> bool:
        """`@ q`: not broader than the code, and its size divides the entry of its level."""
        stated, bound = variable.perspective, self._scope.bound
        entry = bound.size(stated.level)
        if entry and entry % stated.size == 0:
            return True
        if entry == 0 or stated.size % entry == 0:
            self._sink.report(
                DeclaredBroader(
                    at=variable.span,
                    name=variable.name,
                    stated=stated,
                    code_perspective=bound.code,
                    related=self.data.speaker_note(),
                )
            )
        else:
            self._sink.report(
                DeclaredDoesNotDivide(
                    at=variable.span,
                    name=variable.name,
                    stated=stated,
                    size=stated.size,
                    entry=entry,
                    level=stated.level.name.lower(),
                    related=self.data.speaker_note(),
                )
            )
        return False

    def _require_as_broad(
        self, what: str, variable: typed.Variable, value: typed.Expression
    ) -> None:
        """A value is at least as broad as the variable it goes to; pointers are exactly so."""
        target, varies = variable.perspective, self.data.varies(value)
        if isinstance(value.type, ErrorType):
            return
        if isinstance(variable.type, PointerType):
            self._require_equal(variable, value, varies)
        elif target.is_narrower_or_equal(varies):
            self.data.require_settled(value, target)
        else:
            note = Related(at=variable.span, message=f"{what} is {target}")
            self._sink.report(
                WriteDown(
                    at=value.span,
                    what=what,
                    target=target,
                    varies=varies,
                    advice=f"declare {what} `@ {varies}`, or give it a value that is {target}",
                    related=(note, *self.data.culprit(value, target)),
                )
            )

    def _require_equal(
        self, variable: typed.Variable, value: typed.Expression, varies: Perspective
    ) -> None:
        if varies != variable.perspective:
            note = Related(at=variable.span, message=f"`{variable.name}` is {variable.perspective}")
            self._sink.report(
                PointerAssignment(
                    at=value.span,
                    name=variable.name,
                    target=variable.perspective,
                    given=varies,
                    related=(note, *self.data.culprit(value, variable.perspective)),
                )
            )

    def _write(self, place: typed.Place, value: typed.Expression) -> None:
        for operand in place_operands(place):
            self.data.varies(operand)
        match place:
            case typed.VariablePlace(variable=variable):
                self._write_variable(place, variable, value)
            case typed.ElementPlace(array=array, index=index):
                self._write_element(place, array, index, value)
            case typed.MemoryPlace(pointer=pointer):
                self._store(place, pointer)
                self.data.varies(value)
            case typed.ComponentPlace(vector=vector):
                self._write(vector, value)
            case _:
                pass

    def _write_variable(
        self, place: typed.Place, variable: typed.Variable, value: typed.Expression
    ) -> None:
        if not self._require_scope(place.span, variable):
            self.data.varies(value)
            return
        self._require_as_broad(f"`{variable.name}`", variable, value)

    def _write_element(
        self,
        place: typed.Place,
        array: typed.Expression,
        index: typed.Expression,
        value: typed.Expression,
    ) -> None:
        variable = _array_variable(array)
        if variable is None or not self._require_scope(place.span, variable):
            self.data.varies(value)
            return
        target, varies = variable.perspective, self.data.varies(index)
        if target.is_narrower_or_equal(varies):
            self._require_as_broad(f"`{variable.name}`", variable, value)
            return
        note = Related(at=variable.span, message=f"`{variable.name}` is {target}")
        self._sink.report(
            StoreVaries(
                at=index.span,
                name=variable.name,
                array_perspective=target,
                varies=varies,
                related=(note, *self.data.culprit(index, target)),
            )
        )

    def _require_scope(self, span: Span, variable: typed.Variable) -> bool:
        """A variable is written by all of those who share it, together."""
        if variable.perspective.is_narrower_or_equal(self._scope.code):
            return True
        note = Related(at=variable.span, message=f"`{variable.name}` is {variable.perspective}")
        self._sink.report(
            WriteScope(
                at=span,
                name=variable.name,
                variable_perspective=variable.perspective,
                code_perspective=self._scope.code,
                related=(note, *self.data.speaker_note()),
            )
        )
        return False

    def _store(self, place: typed.Place, pointer: typed.Expression) -> None:
        """Only a thread's own pointer is stored through (paper-notes A14)."""
        perspective = self.data.varies(pointer)
        if perspective == THREAD or isinstance(pointer.type, ErrorType):
            return
        for variable in pointer_variables(pointer):
            if self._scope.hiding_of(variable) is not None:
                return
            note = Related(at=variable.span, message=f"`{variable.name}` is {perspective}")
            self._sink.report(
                StoreTooBroad(
                    at=place.span,
                    name=variable.name,
                    pointer_perspective=perspective,
                    related=(note,),
                )
            )
            return

    def _load_into(self, statement: typed.LoadInto) -> None:
        self.data.varies(statement.array)
        variable = _array_variable(statement.array)
        varies = (
            self.data.varies(statement.first)
            .meet(self.data.varies(statement.pointer))
            .meet(self.data.varies(statement.index))
        )
        if variable is None or not self._require_scope(statement.span, variable):
            return
        if not variable.perspective.is_narrower_or_equal(varies):
            note = Related(at=variable.span, message=f"`{variable.name}` is {variable.perspective}")
            self._sink.report(
                WriteDown(
                    at=statement.span,
                    what=f"`{variable.name}`",
                    target=variable.perspective,
                    varies=varies,
                    advice=f"declare `{variable.name}` `@ {varies}`",
                    related=(note,),
                )
            )

    def _asm(self, statement: typed.Asm) -> None:
        """The author of `unsafe` answers for values; names are still hidden and claimed."""
        for place in (*statement.outputs, *statement.updates):
            for operand in place_operands(place):
                self.data.varies(operand)
        for value in statement.inputs:
            self.data.varies(value)

    def _return(self, statement: typed.Return) -> None:
        self._exit("return", statement)
        for value, result in zip(statement.values, self._instance.results, strict=False):
            varies = self.data.varies(value)
            if self._instance.kind in (typed.InstanceKind.EXPRESSION, typed.InstanceKind.UNSAFE):
                continue
            if isinstance(value.type, ErrorType):
                continue
            if result.perspective.is_narrower_or_equal(varies):
                self.data.require_settled(value, result.perspective)
                continue
            note = Related(at=result.span, message=f"the result is {result.perspective}")
            self._sink.report(
                WriteDown(
                    at=value.span,
                    what="the result",
                    target=result.perspective,
                    varies=varies,
                    advice=f"declare the result `@ {varies}`",
                    related=(note, *self.data.culprit(value, result.perspective)),
                )
            )

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
        raise AssertionError("every walk starts inside a function")

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
        self._judge_sum(statement)
        for arm in statement.arms:
            self._judge_arm(arm, statement.keyword)
            frame = Frame(
                keyword=statement.keyword,
                bound=arm.bound,
                header=arm.header,
                arm=arm,
                split=statement,
            )
            with self._scope.inside(frame):
                self.statements(arm.body)

    def _judge_sum(self, statement: typed.Split) -> None:
        level = statement.arms[0].to.level
        available = self._scope.bound.size(level)
        asked = sum(arm.to.size for arm in statement.arms)
        if asked > available:
            self._sink.report(
                SplitTooLarge(
                    at=statement.header,
                    asked=asked,
                    available=available,
                    level=level.name.lower(),
                    related=self.data.speaker_note(),
                )
            )

    def _judge_arm(self, arm: typed.Arm, keyword: str) -> None:
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
                related=self.data.speaker_note(),
            )
        )

    # ------------------------------------------------------------------ whose pointers

    def _narrow(self, statement: typed.Narrow) -> None:
        for view in statement.views:
            self._judge_view(statement, view)
        with self._scope.narrowing(statement):
            self.statements(statement.body)

    def _judge_view(self, statement: typed.Narrow, view: typed.View) -> None:
        given = self.data.varies(view.source)
        variable, code = view.variable, self._scope.code
        if given != code:
            self._report_elsewhere(statement, view, given)
        else:
            self._judge_target(statement, view)
        for what, part in _view_parts(view):
            varies = self.data.varies(part)
            if not variable.perspective.is_narrower_or_equal(varies):
                self._sink.report(
                    OffsetVaries(
                        at=part.span,
                        what=what,
                        to=variable.perspective,
                        varies=varies,
                        related=self.data.culprit(part, variable.perspective),
                    )
                )

    def _report_elsewhere(
        self, statement: typed.Narrow, view: typed.View, given: Perspective
    ) -> None:
        variables = list(pointer_variables(view.source))
        if any(self._scope.hiding_of(variable) is not None for variable in variables):
            return
        source, code = variables[0], self._scope.code
        broader = code.is_narrower_or_equal(given)
        advice = (
            f"move the {statement.kind.value} out to {given} code"
            if broader
            else f"group to {given} first"
        )
        note = Related(at=source.span, message=f"`{source.name}` is {given}")
        self._sink.report(
            NarrowElsewhere(
                at=view.source.span,
                name=source.name,
                keyword=statement.kind.value,
                pointer_perspective=given,
                code_perspective=code,
                advice=advice,
                related=(note, *self.data.speaker_note()),
            )
        )

    def _judge_target(self, statement: typed.Narrow, view: typed.View) -> None:
        to, bound = view.variable.perspective, self._scope.bound
        reason = _target_reason(statement.kind, to, bound)
        if reason:
            self._sink.report(
                NarrowTarget(
                    at=view.variable.span,
                    to=to,
                    code_perspective=bound.code,
                    reason=reason,
                    related=self.data.speaker_note(),
                )
            )


def _target_reason(kind: typed.NarrowKind, to: Perspective, bound: Bound) -> str:
    """Why a pointer cannot be narrowed to `to` here; empty if it can."""
    entry = bound.size(to.level)
    unit = to.level.name.lower()
    if entry == 0:
        return f"{to} is broader than the code"
    if kind is typed.NarrowKind.CLAIM:
        if to.size > entry:
            return f"one {to} is more than the {entry} {unit} units here"
        base = bound.base_for(to.level)
        return f"{to.size} does not divide {base}, the alignment here" if base % to.size else ""
    return f"{to.size} does not divide the {entry} {unit} units here" if entry % to.size else ""


def _view_parts(view: typed.View) -> list[tuple[str, typed.Expression]]:
    parts: list[tuple[str, typed.Expression]] = []
    if view.offset is not None:
        parts.append(("offset", view.offset))
    if view.function is not None:
        parts.append(("index function", view.function.body))
    return parts


def _misaligned(base: int, offset: int) -> str:
    if base == 0:
        return f"it would not be aligned at {offset}"
    return f"the units start at a multiple of {base}, the arm {offset} further"


def _array_variable(array: typed.Expression) -> typed.Variable | None:
    while isinstance(array, typed.Element):
        array = array.array
    return array.variable if isinstance(array, typed.Read) else None


def _written_roots(body: typed.Body, scope: Scope) -> frozenset[typed.Variable]:
    """Roots that the body stores to, directly or by passing them to a parameter that may."""
    written: list[typed.Variable] = []
    for statement in statements_in(body.statements):
        if isinstance(statement, typed.Assign) and isinstance(statement.place, typed.MemoryPlace):
            written += pointer_variables(statement.place.pointer)
    for call in calls_in(body.statements):
        for parameter, argument in zip(call.callee.parameters, call.arguments, strict=False):
            if isinstance(parameter.type, PointerType) and not parameter.type.is_const:
                written += pointer_variables(argument)
    return frozenset(scope.aliases.root(variable) for variable in written)

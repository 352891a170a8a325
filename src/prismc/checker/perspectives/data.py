"""How often expressions vary, and which names an expression may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prismc.checker.perspectives.aliases import Name, Roots, pointer_variables
from prismc.checker.perspectives.errors import (
    IndexWithoutDestination,
    LazyCollective,
    NoSuchUnit,
    UnsettledLoad,
    WideBroadcast,
)
from prismc.checker.perspectives.narrow_errors import (
    ClaimElsewhere,
    ClaimTwice,
    Hidden,
)
from prismc.checker.perspectives.scope import Claimed, Frame, Hiding, Scope
from prismc.checker.types import typed
from prismc.checker.types.model import ErrorType, PointerType
from prismc.checker.types.walk import expressions_in, operands
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import CONSTANT, GRID, THREAD, WARP, Level, Perspective
from prismc.source.span import Span

# By a function's symbol: the const parameters that it loads into something broader than one
# thread, and the broadest it loads them into.
Uniform = Mapping[str, Mapping[typed.Variable, Perspective]]


class Data:
    """Judges expressions of one body. `varies` is the fact it keeps, by expression id."""

    def __init__(
        self,
        scope: Scope,
        sink: Sink,
        varies: dict[int, Perspective],
        check_call: Callable[[typed.Call], None],
        written: Roots,
    ) -> None:
        self._scope = scope
        self._sink = sink
        self._varies = varies
        self._check_call = check_call
        self._written = written
        self.uniform_parameters: dict[typed.Variable, Perspective] = {}

    # ------------------------------------------------------------------ how often

    def varies(self, expression: typed.Expression) -> Perspective:
        """Visit an expression once, report what is wrong inside it, and say how often it varies."""
        if expression.id in self._varies:
            return self._varies[expression.id]
        if isinstance(expression, typed.Conditional | typed.Logical):
            found = self._lazy(expression)
        else:
            found = self._leaf(expression)
            for operand in operands(expression):
                found = found.meet(self.varies(operand))
            if isinstance(expression, typed.Call):
                self._check_call(expression)
                found = self._result(expression, found)
            if isinstance(expression, typed.Broadcast):
                found = self._broadcast(expression)
        self._varies[expression.id] = found
        return found

    def _broadcast(self, expression: typed.Broadcast) -> Perspective:
        """A shuffle gives the value to aligned lanes of one warp."""
        to = expression.to
        if to.level is not Level.THREAD or WARP.size % to.size:
            self._sink.report(WideBroadcast(at=expression.span, to=to))
        return to

    def _leaf(self, expression: typed.Expression) -> Perspective:
        """What an expression contributes of its own, its operands apart."""
        match expression:
            case typed.Read(variable=variable) | typed.Slot(variable=variable) if (
                variable in self._scope.refused
            ):
                return CONSTANT
            case typed.Read(variable=variable):
                self._use(Name(variable), expression.span)
                return variable.perspective
            case typed.Slot(variable=variable, index=index):
                self._use(Name(variable, index), expression.span)
                return variable.perspective
            case typed.UnitIndex(of=of):
                return self._unit_index(expression, of)
            case typed.UnitCount(of=of):
                self._require_units("count", of, expression.span)
                return GRID
            case _:
                return CONSTANT

    def _result(self, call: typed.Call, arguments: Perspective) -> Perspective:
        """A call varies as its result is declared; an expression function as its arguments do."""
        callee = call.callee
        if callee.kind is typed.InstanceKind.EXPRESSION:
            return arguments
        return callee.results[0].perspective if callee.results else CONSTANT

    def _lazy(self, expression: typed.Conditional | typed.Logical) -> Perspective:
        lazy: tuple[typed.Expression, ...]
        if isinstance(expression, typed.Logical):
            decides, lazy = expression.left, (expression.right,)
        else:
            decides, lazy = expression.condition, (expression.value, expression.otherwise)
        found = condition = self.varies(decides)
        for part in lazy:
            found = found.meet(self.varies(part))
            self._refuse_lazy_collectives(part, condition, decides)
        return found

    def _refuse_lazy_collectives(
        self, part: typed.Expression, condition: Perspective, decides: typed.Expression
    ) -> None:
        for inside in expressions_in(part):
            if not isinstance(inside, typed.Call):
                continue
            needs = inside.callee.bound.code
            if inside.callee.kind is typed.InstanceKind.EXPRESSION or needs == THREAD:
                continue
            if not needs.is_narrower_or_equal(condition):
                self._sink.report(
                    LazyCollective(
                        at=inside.span,
                        callee=inside.callee.name,
                        needs=needs,
                        varies=condition,
                        related=self.culprit(decides, needs),
                    )
                )

    # ------------------------------------------------------------------ units

    def _unit_index(self, expression: typed.UnitIndex, of: Perspective | None) -> Perspective:
        if of is None:
            self._sink.report(
                IndexWithoutDestination(
                    at=expression.span,
                    related=self.speaker_note(),
                    advice=self._id_advice(),
                )
            )
            return CONSTANT
        return of if self._require_units("id", of, expression.span) else CONSTANT

    def _id_advice(self) -> str:
        declare = "declare it: `i: int @ thread[1] = id()`"
        if self._scope.code == THREAD:
            return f"{declare}, before the code became thread[1] (here it is always 0)"
        return f"{declare}, or name the unit: `id(thread[1])`"

    def _require_units(self, function: str, of: Perspective, span: Span) -> bool:
        """Whether the code holds the units that `id(of)` and `count(of)` need; reports if not."""
        reason, advice = self._no_such_unit(of, function)
        if reason:
            self._sink.report(
                NoSuchUnit(
                    at=span,
                    function=function,
                    of=of,
                    code_perspective=self._scope.code,
                    reason=reason,
                    advice=advice,
                    related=self.speaker_note(),
                )
            )
        return not reason

    def _no_such_unit(self, of: Perspective, function: str) -> tuple[str, str]:
        """What is wrong with the unit and what to do; two empty texts if it is there."""
        code = self._scope.code
        entry = self._scope.bound.size(of.level)
        noun = "index" if function == "id" else "count"
        if entry == 0 or (entry < of.size and of.level is code.level):
            advice = f"take the {noun} before the code became {code}, and keep it in a variable"
            return f"{of} is broader than the code", advice
        if entry % of.size != 0:
            reason = f"{of.size} does not divide the {entry} {of.level.name.lower()} units here"
            return reason, f"count units that are narrower than {code} and divide it"
        # A generic function counts for all its instances, those of a single unit among them.
        is_generic = bool(self._scope.instance.generics)
        if of != code or is_generic:
            return "", ""
        before = f"take the {noun} before the code became {code}, where there are several of them"
        if function == "id":
            reason = "there is only one, so its index is always 0"
            return reason, f"{before}: `i: int @ {code} = id()`"
        if of.level is Level.BLOCK:
            return "there is only one here", f"{before}: `n: int = count({code})`"
        return "", ""

    # ------------------------------------------------------------------ names

    def _use(self, name: Name, span: Span) -> None:
        hiding = self._scope.hiding_of(name)
        if hiding is not None:
            self.report_hidden(name, hiding, span)
            return
        claim = self._scope.claims.get(name.variable)
        if claim is not None:
            self._use_claimed(name.variable, claim, span)

    def report_hidden(self, name: Name, hiding: Hiding, span: Span) -> None:
        """A name that a narrowing hides; the second span is the narrowing."""
        related = [Related(at=hiding.header, message=f"this {hiding.keyword} hides it")]
        merged = self._scope.aliases.merged_at(name, hiding.source)
        if name != hiding.source and merged is not None:
            message = f"`{name.shown}` is an alias of `{hiding.source.shown}` since here"
            related.append(Related(at=merged, message=message))
        self._sink.report(
            Hidden(
                at=span,
                name=name.shown,
                construct=hiding.keyword,
                source=hiding.source.shown,
                view=hiding.view.name,
                related=tuple(related),
            )
        )

    def _use_claimed(self, variable: typed.Variable, claim: Claimed, span: Span) -> None:
        """Refuse a claimed name outside its owner's arm, or in two arms of one split."""
        arms, obstacle = self._path_to_owner(claim)
        if obstacle:
            where = Related(at=claim.header, message=f"claimed here for one {claim.owner}")
            self._sink.report(
                ClaimElsewhere(
                    at=span,
                    name=variable.name,
                    owner=claim.owner,
                    reason=obstacle,
                    related=(where, *self.speaker_note()),
                )
            )
            return
        for frame in arms:
            assert frame.split is not None
            assert frame.arm is not None
            first_arm, first_use = claim.used_by.setdefault(frame.split.id, (frame.arm, span))
            if first_arm is not frame.arm:
                note = Related(at=first_use, message="this arm uses it already")
                self._sink.report(ClaimTwice(at=span, name=variable.name, related=(note,)))
                return

    def _path_to_owner(self, claim: Claimed) -> tuple[list[Frame], str]:
        """The arms from the claim down to its owner, and what stands in the way, if anything."""
        arms: list[Frame] = []
        if self._scope.frames[claim.depth - 1].bound.code == claim.owner:
            return arms, ""
        for frame in self._scope.frames[claim.depth :]:
            if frame.keyword == "group":
                return arms, f"this group gives it to every {frame.bound.code}"
            if frame.arm is not None:
                arms.append(frame)
                if frame.bound.code == claim.owner:
                    return arms, ""
        return arms, f"this is {self._scope.code} code"

    # ------------------------------------------------------------------ explanations

    def culprit(self, expression: typed.Expression, needed: Perspective) -> tuple[Related, ...]:
        """The second span: where the part that varies too often got its perspective."""
        for inside in expressions_in(expression):
            varies = self._varies.get(inside.id, CONSTANT)
            if needed.is_narrower_or_equal(varies):
                continue
            match inside:
                case typed.Read(variable=variable):
                    return (self._declared(variable),)
                case typed.Call(callee=callee) if callee.results:
                    result = callee.results[0]
                    message = f"`{callee.name}` gives one value for each {result.perspective}"
                    if callee.kind is not typed.InstanceKind.EXPRESSION:
                        return (Related(at=result.span, message=message),)
                case _:
                    pass
        return ()

    def _declared(self, variable: typed.Variable) -> Related:
        how = "" if variable.is_stated else ", as the code here is"
        message = f"`{variable.name}` is {variable.perspective}{how}"
        return Related(at=variable.span, message=message)

    def speaker_note(self) -> tuple[Related, ...]:
        """The second span: where the code perspective became what it is."""
        frame = self._scope.speaker()
        if frame.keyword == "function":
            message = f"the code is {frame.bound.code} from here on"
        else:
            message = f"the code perspective became {frame.bound.code} here"
        return (Related(at=frame.header, message=message),)

    # ------------------------------------------------------------------ uniform loads

    def require_settled(self, expression: typed.Expression, needed: Perspective) -> None:
        """Refuse a load into something broader than one thread from memory still written to.

        Shared memory and pieces of a partition are settled by the barriers that are derived; a
        kernel's const parameters are never written. What remains is grid memory this kernel writes.
        """
        if needed == THREAD or needed.level is Level.CONSTANT:
            return
        if isinstance(expression, typed.Broadcast):
            return
        if isinstance(expression, typed.Load):
            self.require_settled_pointer(expression.pointer, expression.span, needed)
        for operand in operands(expression):
            self.require_settled(operand, needed)

    def require_settled_pointer(
        self,
        pointer: typed.Expression,
        span: Span,
        needed: Perspective,
        *,
        advice: str = "use `broadcast(..)`, or read it as `@ thread[1]`",
        note: Related | None = None,
    ) -> None:
        """Refuse what `pointer` names if it is not settled; note what callers have to grant."""
        for variable in pointer_variables(pointer):
            if self.is_unsettled(variable):
                self._sink.report(
                    UnsettledLoad(
                        at=span,
                        name=variable.name,
                        target=needed,
                        advice=advice,
                        related=(note or self._declared(variable),),
                    )
                )
                return
            for root in self._scope.aliases.roots(variable):
                if _is_const_parameter(root):
                    known = self.uniform_parameters.get(root, needed)
                    self.uniform_parameters[root] = max(known, needed)

    def is_unsettled(self, variable: typed.Variable) -> bool:
        """Whether other blocks may be writing what `variable` points to."""
        if isinstance(variable.type, ErrorType):
            return False
        roots = self._scope.aliases.roots(variable)
        return variable.perspective.level is Level.GRID and not roots.isdisjoint(self._written)


def _is_const_parameter(variable: typed.Variable) -> bool:
    is_parameter = variable.kind is typed.VariableKind.PARAMETER
    return is_parameter and isinstance(variable.type, PointerType) and variable.type.is_const

"""Whose pointers are narrowed, to what, and by which offset."""

from __future__ import annotations

from prismc.checker.perspectives.aliases import names_in
from prismc.checker.perspectives.data import Data
from prismc.checker.perspectives.narrow_errors import (
    NarrowElsewhere,
    NarrowTarget,
    OffsetVaries,
)
from prismc.checker.perspectives.scope import Scope, source_of
from prismc.checker.types import typed
from prismc.checker.types.narrowing import NarrowKind
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import Bound, Level, Perspective


class Views:
    """Judges the pairs of `partition`, `claim` and `async`."""

    def __init__(self, scope: Scope, data: Data, sink: Sink) -> None:
        self._scope = scope
        self._data = data
        self._sink = sink

    def judge(self, statement: typed.Narrow) -> None:
        """Judge each pair, then pairs against one another: two names for one memory."""
        for view in statement.views:
            self._judge_view(statement, view)
        for number, view in enumerate(statement.views):
            self._judge_alias(statement, view, statement.views[:number])

    def _judge_alias(
        self, statement: typed.Narrow, view: typed.View, before: tuple[typed.View, ...]
    ) -> None:
        """Refuse an alias of what an earlier pair hides; the same name in two pairs is one memory
        seen twice, and their elements are compared with one another."""
        name = source_of(view)
        for other in before:
            hiding = self._scope.hiding_by(statement, other)
            if name != hiding.source and self._scope.aliases.may_share(hiding.source, name):
                self._data.report_hidden(name, hiding, view.source.span)
                return

    def _judge_view(self, statement: typed.Narrow, view: typed.View) -> None:
        given = self._data.varies(view.source)
        variable, code = view.variable, self._scope.code
        if self._scope.has_refused(view.source):
            self._scope.refused.add(variable)
            return
        is_ring = variable.kind is typed.VariableKind.RING and given.level is Level.BLOCK
        if statement.kind is NarrowKind.ASYNC or is_ring:
            if not given.is_narrower_or_equal(code):
                self._report_elsewhere(statement, view, given)
        elif given != code:
            self._report_elsewhere(statement, view, given)
        else:
            self._judge_target(statement, view)
        for what, part in _view_parts(view):
            varies = self._data.varies(part)
            if variable in self._scope.refused:
                continue
            if not variable.perspective.is_narrower_or_equal(varies):
                self._scope.refused.add(variable)
                self._sink.report(
                    OffsetVaries(
                        at=part.span,
                        what=what,
                        to=variable.perspective,
                        varies=varies,
                        related=self._data.culprit(part, variable.perspective),
                    )
                )

    def _report_elsewhere(
        self, statement: typed.Narrow, view: typed.View, given: Perspective
    ) -> None:
        names = list(names_in(view.source))
        if any(self._scope.hiding_of(name) is not None for name in names):
            return
        source, code = names[0].variable, self._scope.code
        if self._scope.bound.allows_group(given):
            advice = f"put it into `group {given}:`"
        else:
            advice = _advice_elsewhere(statement.kind.value, source.name, given, code, view)
        note = Related(at=source.span, message=f"`{source.name}` is {given}")
        self._sink.report(
            NarrowElsewhere(
                at=view.source.span,
                name=source.name,
                keyword=statement.kind.value,
                pointer_perspective=given,
                code_perspective=code,
                advice=advice,
                related=(note, *self._data.speaker_note()),
            )
        )

    def _judge_target(self, statement: typed.Narrow, view: typed.View) -> None:
        to, bound = view.variable.perspective, self._scope.bound
        reason = _target_reason(statement.kind, to, bound)
        if reason:
            self._scope.refused.add(view.variable)
            self._sink.report(
                NarrowTarget(
                    at=view.variable.span,
                    to=to,
                    code_perspective=bound.code,
                    reason=reason,
                    related=self._data.speaker_note(),
                )
            )


def _advice_elsewhere(
    keyword: str, name: str, given: Perspective, code: Perspective, view: typed.View
) -> str:
    """What to do about a pointer of `given` that `code` narrows to less than itself, or to more."""
    to = view.variable.perspective
    if not code.is_narrower_or_equal(given):
        return f"narrow `{name}` where the code is {given}, or to a size of this code's"
    if to == code or not to.is_narrower_or_equal(code):
        return f"move the {keyword} out to {given} code"
    part = f"{name}_{code.level.name.lower()}"
    outer = f"partition {name} as {part} @ {code} at ..:"
    return f"write `{outer}` around this, where the code is {given}, and {keyword} `{part}` here"


def _target_reason(kind: NarrowKind, to: Perspective, bound: Bound) -> str:
    """Why a pointer cannot be narrowed to `to` here; empty if it can."""
    entry = bound.size(to.level)
    unit = to.level.name.lower()
    if entry == 0:
        return f"{to} is broader than the code"
    if kind is NarrowKind.CLAIM:
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

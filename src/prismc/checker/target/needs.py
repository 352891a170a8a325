"""Holds what `@effects(needs(..))` declares against the target, at the line of use."""

from __future__ import annotations

from prismc.checker.target.errors import NeedsTarget, UnknownNeed
from prismc.checker.types import typed
from prismc.checker.types.walk import calls_in
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.targets import Target, is_need, meets


def check_needs(program: typed.Program, target: Target, sink: Sink) -> None:
    """Refuse calls of functions that need what `target` lacks, and needs that nobody knows."""
    for body in program.bodies.values():
        _check_declared(body.instance, sink)
        for call in calls_in(body.statements):
            _check_call(call, target, sink)


def _check_declared(instance: typed.Instance, sink: Sink) -> None:
    if instance.effects is None:
        return
    for word in instance.effects.needs:
        if not is_need(word):
            sink.report(UnknownNeed(at=instance.effects.span, word=word))


def _check_call(call: typed.Call, target: Target, sink: Sink) -> None:
    effects = call.callee.effects
    if effects is None:
        return
    for word in effects.needs:
        if is_need(word) and not meets(target, word):
            note = Related(at=effects.span, message=f"`{call.callee.name}` declares it here")
            sink.report(
                NeedsTarget(
                    at=call.span,
                    callee=call.callee.name,
                    needed=word,
                    target=target.name,
                    related=(note,),
                )
            )

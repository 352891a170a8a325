"""Holds what `@effects(needs(..))` declares against the target, at the line of use.

A function needs what the functions it calls need. Inside the standard library that is nobody's
fault: the line of use is the call from outside, with the calls below it as its reasons.
"""

from __future__ import annotations

from prismc.checker.target.errors import NeedsTarget, NoClusters, UnknownNeed
from prismc.checker.types import typed
from prismc.checker.types.origins import InstanceSink
from prismc.checker.types.walk import calls_in
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.features import Feature
from prismc.hardware.targets import Target, is_need, meets

# What is missing, with the calls that lead there, the first one first.
Missing = dict[str, tuple[Related, ...]]
_LIBRARY = "std."


def check_needs(program: typed.Program, target: Target, sink: Sink) -> None:
    """Refuse calls of functions that need what `target` lacks, and needs that nobody knows."""
    missing: dict[str, Missing] = {}
    for symbol, body in program.bodies.items():
        _check_cluster(body.instance, target, sink)
        own = missing[symbol] = _declared(body.instance, target, sink)
        told = InstanceSink(sink, body.instance)
        for call in calls_in(body.statements):
            found = missing.get(call.callee.symbol, {})
            if not found:
                continue
            if not body.instance.module.startswith(_LIBRARY):
                for word, reasons in found.items():
                    told.report(_problem(call, word, target, reasons))
                continue
            note = Related(at=call.span, message=f"`{body.instance.name}` calls it here")
            for word, reasons in found.items():
                own.setdefault(word, (*reasons, note))


def _check_cluster(kernel: typed.Instance, target: Target, sink: Sink) -> None:
    """Clusters are there from sm_90 on (PTX ISA, "Cluster of Cooperative Thread Arrays")."""
    launch = kernel.launch
    if launch is not None and launch.cluster > 1 and not target.has(Feature.CLUSTER):
        sink.report(
            NoClusters(
                at=launch.span, kernel=kernel.name, blocks=launch.cluster, target=target.name
            )
        )


def _declared(instance: typed.Instance, target: Target, sink: Sink) -> Missing:
    """What the function itself declares and the target lacks."""
    effects = instance.effects
    found: Missing = {}
    if effects is None:
        return found
    for word in effects.needs:
        if not is_need(word):
            sink.report(UnknownNeed(at=effects.span, word=word))
        elif not meets(target, word):
            note = Related(at=effects.span, message=f"`{instance.name}` declares it here")
            found[word] = (note,)
    return found


def _problem(
    call: typed.Call, word: str, target: Target, reasons: tuple[Related, ...]
) -> NeedsTarget:
    return NeedsTarget(
        at=call.span,
        callee=call.callee.name,
        needed=word,
        target=target.name,
        related=tuple(reversed(reasons)),
    )

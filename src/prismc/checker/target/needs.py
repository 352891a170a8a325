"""Holds what `@effects(needs(..))` declares against the target, at the line of use.

A function needs what the functions it calls need. Inside the standard library that is nobody's
fault: the line of use is the call from outside, with the calls below it as its reasons. A program
for a newer target is one mistake, however many lines of it need that target: each need is told
once, and not at all where another asks for more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from prismc.checker.target.errors import NeedsTarget, NoClusters, UnknownNeed
from prismc.checker.types import typed
from prismc.checker.types.origins import InstanceSink
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.features import Feature
from prismc.hardware.targets import TARGETS, Target, is_need, meets
from prismc.source.record import Record, replace

# What is missing, with the calls that lead there, the first one first.
Missing = dict[str, tuple[Related, ...]]
_LIBRARY = "std."
# So many other operations that the target lacks are shown beside the one that is told.
_SHOWN = 4


class _Lack(Record):
    """A line that needs `word`, which the target does not have; `note` says so beside another."""

    word: str
    problem: NeedsTarget | NoClusters
    note: str
    sink: Sink


def check_needs(program: typed.Program, target: Target, sink: Sink) -> bool:
    """Refuse calls of functions that need what `target` lacks, and needs that nobody knows.

    Returns whether the target has all that is needed.
    """
    lacks = list(_lacks(program, target, sink))
    first: dict[str, _Lack] = {}
    for lack in lacks:
        first.setdefault(lack.word, lack)
    for word in _strictest(first):
        lack = first[word]
        lack.sink.report(_with_others(lack, lacks))
    return not lacks


def _strictest(words: Iterable[str]) -> list[str]:
    """The words that no other one implies; of those that the same targets have, the first."""
    having: dict[frozenset[str], str] = {}
    for word in words:
        having.setdefault(frozenset(_meeting([word])), word)
    return [word for those, word in having.items() if not any(each < those for each in having)]


def _meeting(words: Collection[str]) -> list[str]:
    """The targets that have all of it, the oldest first."""
    return [name for name, each in TARGETS.items() if all(meets(each, word) for word in words)]


def _lacks(program: typed.Program, target: Target, sink: Sink) -> Iterator[_Lack]:
    """Each line outside the standard library that needs what the target lacks."""
    missing: dict[str, Missing] = {}
    for symbol, body in program.bodies.items():
        yield from _cluster(body.instance, target, sink)
        own = missing[symbol] = _declared(body.instance, target, sink)
        told = InstanceSink(sink, body.instance)
        for call in body.calls:
            found = missing.get(call.callee.symbol, {})
            if not found:
                continue
            if not body.instance.module.startswith(_LIBRARY):
                for word, reasons in found.items():
                    problem = _problem(call, word, target, reasons)
                    note = f"`{call.callee.name}` needs {word}"
                    yield _Lack(word=word, problem=problem, note=note, sink=told)
                continue
            calls = Related(at=call.span, message=f"`{body.instance.name}` calls it here")
            for word, reasons in found.items():
                own.setdefault(word, (*reasons, calls))


def _cluster(kernel: typed.Instance, target: Target, sink: Sink) -> Iterator[_Lack]:
    """Clusters are there from sm_90 on (PTX ISA, "Cluster of Cooperative Thread Arrays")."""
    launch = kernel.launch
    if launch is not None and launch.cluster > 1 and not target.has(Feature.CLUSTER):
        problem = NoClusters(
            at=launch.span,
            kernel=kernel.name,
            blocks=launch.cluster,
            target=target.name,
            newer="sm_90",
        )
        note = f"`{kernel.name}` is launched in clusters"
        yield _Lack(word=Feature.CLUSTER.value, problem=problem, note=note, sink=sink)


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
        newer=_meeting([word])[0],
    )


def _with_others(lack: _Lack, lacks: Sequence[_Lack]) -> NeedsTarget | NoClusters:
    """The problem, what else is missing, and a target that has all of it, if there is one."""
    others = {each.note: each.problem.at for each in reversed(lacks) if each.note != lack.note}
    notes = [Related(at=at, message=note) for note, at in reversed(others.items())]
    newer = _meeting({each.word for each in lacks}) or [lack.problem.newer]
    related = (*lack.problem.related, *notes[:_SHOWN])
    return replace(lack.problem, related=related, newer=newer[0])

"""Why a specialised instance exists: the note that its problems carry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prismc.checker.types.typed import Instance
from prismc.diagnostics.problem import Problem, Related
from prismc.diagnostics.sink import Sink
from prismc.source.record import replace
from prismc.source.span import Span

Generics = tuple[tuple[str, str], ...]

# Uses on the way from a root of the program to an instance that its problems tell, innermost first.
_LONGEST = 5


def with_origin(
    problem: Problem, generics: Generics, origin: Span | None, chain: tuple[Related, ...] = ()
) -> Problem:
    """`problem` with the use that asked for these generic arguments, if there is one, and the
    `chain` of uses around it."""
    if origin is None or not generics:
        return problem
    note = Related(at=origin, message=f"with {_shown(generics)}, asked for here")
    return replace(problem, related=(*problem.related, note, *chain))


def longer_chain(
    name: str, generics: Generics, origin: Span | None, chain: tuple[Related, ...]
) -> tuple[Related, ...]:
    """The chain of an instance that the instance `name` asks for, whose own is `chain`."""
    if origin is None or not generics:
        return ()
    note = Related(at=origin, message=f"`{name}` with {_shown(generics)}, asked for here")
    return (note, *chain)[:_LONGEST]


def _shown(generics: Generics) -> str:
    return ", ".join(f"{name} = {value}" for name, value in generics)


class InstanceSink(Sink):
    """Hands the problems of one instance on, each with the use that asked for the instance."""

    def __init__(self, sink: Sink, instance: Instance) -> None:
        super().__init__()
        self._sink = sink
        self._instance = instance
        self._is_silent = False

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Swallow what is reported inside: echoes of something that was refused."""
        before, self._is_silent = self._is_silent, True
        yield
        self._is_silent = before

    def report(self, problem: Problem) -> None:
        """Pass a problem on."""
        if self._is_silent:
            return
        instance = self._instance
        self._sink.report(with_origin(problem, instance.generics, instance.origin, instance.chain))

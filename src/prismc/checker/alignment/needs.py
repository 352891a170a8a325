"""What a body needs to be known: alignment of its accesses, assumptions of the functions it calls.

What depends on a function's parameters is not judged in the function: its calls have to show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from prismc.checker.alignment.errors import (
    ArgumentsShowTooLittle,
    AssumptionBroken,
    AssumptionUnproved,
    ElementsParted,
    Unaligned,
)
from prismc.checker.alignment.explain import Explanation
from prismc.checker.alignment.numbers import Known, Residue
from prismc.checker.alignment.values import Facts
from prismc.checker.types import typed
from prismc.checker.types.dump import readable
from prismc.diagnostics.problem import Problem, Related
from prismc.source.span import Span


class AccessNeed(NamedTuple):
    """`size` bytes from an element on, side by side and aligned to as many."""

    pointer: typed.Expression
    element: typed.Expression
    size: int
    lanes: int
    at: Span

    @property
    def words(self) -> str:
        return f"an address that is a multiple of {self.size} bytes"

    def problem(self, said: Explanation, *, is_broken: bool, is_parted: bool) -> Problem:
        """The refusal of this access."""
        del is_broken
        if is_parted:
            return ElementsParted(at=self.at, lanes=self.lanes, related=said.related)
        return Unaligned(
            at=self.at,
            needed=self.size,
            reason=said.reason,
            advice=said.advice,
            related=said.related,
        )


class AssumptionNeed(NamedTuple):
    """One condition that the callee of a call assumes."""

    call: typed.Call
    condition: typed.Expression

    @property
    def at(self) -> Span:
        return self.call.span

    @property
    def words(self) -> str:
        return f"`{readable(self.condition)}`"

    def problem(self, said: Explanation, *, is_broken: bool, is_parted: bool) -> Problem:
        """The refusal of this call."""
        del is_parted
        name, condition = self.call.callee.name, f"`{readable(self.condition)}`"
        note = Related(at=self.condition.span, message=f"`{name}` assumes it here")
        reason = f"; {said.reason}" if said.reason else ""
        related = (note, *said.related)
        if is_broken:
            return AssumptionBroken(
                at=self.at, callee=name, condition=condition, reason=reason, related=related
            )
        return AssumptionUnproved(
            at=self.at,
            callee=name,
            condition=condition,
            reason=reason,
            advice=said.advice,
            related=related,
        )


class InnerNeed(NamedTuple):
    """What the callee of a call leaves to its callers to show."""

    call: typed.Call
    pending: Pending

    @property
    def at(self) -> Span:
        return self.call.span

    @property
    def words(self) -> str:
        return self.pending.need.words

    def problem(self, said: Explanation, *, is_broken: bool, is_parted: bool) -> Problem:
        """The refusal of this call; the second place is what needs it."""
        del is_broken, is_parted
        need: Need = self.pending.need
        while isinstance(need, InnerNeed):
            need = need.pending.need
        note = Related(at=need.at, message="needed here")
        reason = f"; {said.reason}" if said.reason else ""
        return ArgumentsShowTooLittle(
            at=self.at,
            callee=self.call.callee.name,
            needed=self.words,
            reason=reason,
            advice=said.advice,
            related=(note, *said.related),
        )


Need = AccessNeed | AssumptionNeed | InnerNeed


class Failure(NamedTuple):
    """A need that is not met: why, and whether it certainly is not, or elements may lie apart."""

    said: Explanation
    is_broken: bool = False
    is_parted: bool = False


class Owner(Protocol):
    """The body that a need stands in."""

    def judged_with(
        self,
        numbers: Mapping[typed.Variable, Known],
        bases: Mapping[typed.Variable, Residue],
        pending: Pending,
    ) -> Failure | None:
        """The need with what a caller knows of the arguments."""


class Pending(NamedTuple):
    """A need that callers have to show, and the facts that hold where it stands."""

    owner: Owner
    facts: Facts
    need: AccessNeed | AssumptionNeed | InnerNeed

"""What to say of a name that means nothing where it stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from prismc.checker.names.errors import OtherSide, ScopeEnded, UnknownName, UsedBeforeDeclared
from prismc.checker.names.scopes import TopLevel
from prismc.checker.names.symbols import BUILTINS, HOST_BUILTINS, Symbol, SymbolKind
from prismc.checker.names.words import ADVICE
from prismc.diagnostics.problem import Problem, Related
from prismc.diagnostics.sink import Sink
from prismc.diagnostics.suggest import did_you_mean, spelling_fix
from prismc.frontend import ast
from prismc.frontend.standard import standard_names

Scope = dict[str, Symbol]

_NARROWING = (ast.Partition, ast.Claim, ast.Async, ast.Pipeline)


class Unknown(NamedTuple):
    """A use of a name, the scopes around it, which know more names at their ends, and what had the
    name in a block that has ended."""

    node: ast.Reference
    scopes: tuple[Scope, ...]
    ended: Symbol | None


class UnknownNames:
    """Reports the unknown names of one declaration, each once: what is said of the first use mends
    the others too. `assigned` are nodes left of `=`."""

    def __init__(
        self,
        level: TopLevel,
        sink: Sink,
        builtins: Mapping[str, Symbol],
        assigned: Collection[int],
    ) -> None:
        self._level, self._sink = level, sink
        self._builtins, self._assigned = builtins, assigned

    def report(self, uses: Collection[Unknown]) -> None:
        told: set[tuple[str, Symbol | None]] = set()
        for unknown in uses:
            node = unknown.node
            meant = _declared_there(unknown) or unknown.ended
            if (node.name, meant) in told:
                continue
            told.add((node.name, meant))
            self._sink.report(
                _declared_later(unknown)
                or _ended(unknown)
                or self._of_other_side(node)
                or self._nowhere(unknown, uses)
            )

    def _nowhere(self, unknown: Unknown, uses: Collection[Unknown]) -> Problem:
        node = unknown.node
        visible = [name for scope in reversed(unknown.scopes) for name in scope]
        candidates = (*visible, *self._level.names, *self._builtins)
        otherwise = f"declare `{node.name}` first, or import it"
        if node.id in self._assigned:
            where = "it" if _all_see(unknown, uses) else "it where all its uses see it"
            otherwise = f"declare {where}: `{node.name} := ..`"
        known = ADVICE.get(node.name) or self._standard_advice(node)
        advice = known or did_you_mean(node.name, candidates, otherwise)
        fixes = () if known else spelling_fix(node.span, node.name, candidates)
        return UnknownName(at=node.span, name=node.name, advice=advice, fixes=fixes)

    def _of_other_side(self, node: ast.Reference) -> OtherSide | None:
        """A built-in function of tests in device code, or one of device code in a test."""
        name, at = node.name, node.span
        if node.id in self._assigned:
            return None
        if self._builtins is not HOST_BUILTINS:
            if name not in HOST_BUILTINS or name in ADVICE or self._standard_advice(node):
                return None
            here, advice = "not in device code", "move it into a `test`, which is host code"
            return OtherSide(at=at, name=name, whose="tests", here=here, advice=advice)
        if name not in BUILTINS:
            return None
        advice = "call it in a kernel, and launch that"
        if name == "print":
            advice = "leave it out: an `assert` that fails shows its values"
        return OtherSide(at=at, name=name, whose="device code", here="not in a test", advice=advice)

    def _standard_advice(self, node: ast.Reference) -> str | None:
        """Where device code uses a name of the standard library that it did not import."""
        if node.id in self._assigned or self._builtins is HOST_BUILTINS:
            return None
        module = standard_names().get(node.name)
        return f"import it: `from {module} import {node.name}`" if module else None


def _all_see(unknown: Unknown, uses: Collection[Unknown]) -> bool:
    """Whether a declaration at this use is one for the other uses of its name."""
    depth = len(unknown.scopes)
    return all(
        len(each.scopes) >= depth and each.scopes[depth - 1] is unknown.scopes[-1]
        for each in uses
        if each.node.name == unknown.node.name
    )


def _declared_there(unknown: Unknown) -> Symbol | None:
    """What has the name further down in a scope around the use."""
    name = unknown.node.name
    return next((scope[name] for scope in reversed(unknown.scopes) if name in scope), None)


def _declared_later(unknown: Unknown) -> Problem | None:
    name, later = unknown.node.name, _declared_there(unknown)
    if later is None:
        return None
    note = Related(at=later.span, message=f"`{name}` is declared here")
    return UsedBeforeDeclared(at=unknown.node.span, name=name, related=(note,))


def _ended(unknown: Unknown) -> Problem | None:
    symbol = unknown.ended
    if symbol is None:
        return None
    advice = "declare it before the block, and assign it inside"
    if symbol.kind is SymbolKind.LOOP:
        advice = "keep what is needed of it in a variable that is declared before the loop"
    elif isinstance(symbol.node, _NARROWING):
        advice = "use it inside the block, or what it is a part of after the block"
    note = Related(at=symbol.span, message=f"the {symbol.kind.value} `{symbol.name}` is here")
    return ScopeEnded(at=unknown.node.span, name=symbol.name, advice=advice, related=(note,))

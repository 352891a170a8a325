"""Which names may stand for the same memory: hiding one hides the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from prismc.checker.types import typed
from prismc.checker.types.model import PointerType
from prismc.checker.types.walk import bodies_of
from prismc.source.span import Span

Roots = frozenset[typed.Variable]


class Name(NamedTuple):
    """What stands for memory: a pointer, or one slot of a shared array (-1 is no slot)."""

    variable: typed.Variable
    slot: int = -1

    @property
    def shown(self) -> str:
        """As the program writes it."""
        return self.variable.name if self.slot < 0 else f"{self.variable.name}[{self.slot}]"


Sources = dict[Name, list[Name]]
Pair = tuple[typed.Place, typed.Expression]


class Aliases:
    """The roots that each pointer of one body may name, flow-insensitive, swaps included.

    A view names its source's roots, a variable those of all that is assigned to it. Names that
    only ever exchange their values (`x, y = y, x`) may each name the roots of all, but never two of
    them the same: they stay apart (`docs/language.md`, "Pointer variables").
    """

    def __init__(self, body: typed.Body) -> None:
        self._sources: Sources = {}
        self._exchanged: Sources = {}
        self._views: dict[Name, Name] = {}
        self._assigned: dict[Name, list[tuple[int, ...]]] = {}
        self._merged_at: dict[Name, Span] = {}
        self._exchanged_at: dict[Name, Span] = {}
        self._reached: dict[Name, frozenset[Name]] = {}
        self._walk(body.statements, ())
        self._apart = self._classes()

    def roots(self, variable: typed.Variable) -> Roots:
        """The parameters and shared arrays whose memory `variable` may name."""
        return frozenset(root.variable for root in self.memory(Name(variable)))

    def roots_of(self, variables: Iterable[typed.Variable]) -> Roots:
        """The roots that any of `variables` may name."""
        return frozenset(root for variable in variables for root in self.roots(variable))

    def memory(self, name: Name) -> frozenset[Name]:
        """The parameters, shared arrays and slots that `name` may stand for."""
        found = self._reached.get(name)
        if found is None:
            reached = self._reach(name, (self._sources, self._exchanged))
            found = self._reached[name] = frozenset(reached)
        return found

    def may_share(self, one: Name, other: Name) -> bool:
        """Whether two names may stand for the same memory at one time."""
        first, second = self._behind(one), self._behind(other)
        kept_apart = self._apart.get(first)
        if first != second and kept_apart is not None and kept_apart == self._apart.get(second):
            return False
        return not self.memory(one).isdisjoint(self.memory(other))

    def merged_at(self, name: Name, source: Name) -> Span | None:
        """Where a pointer variable became an alias of `source`; None for parameters and views."""
        own = self._reach(name, (self._sources,))
        if self.memory(source).isdisjoint(own) and name in self._exchanged_at:
            return self._exchanged_at[name]
        return self._merged_at.get(name)

    def _behind(self, name: Name) -> Name:
        """What a view, or a view of a view, narrows."""
        while name in self._views:
            name = self._views[name]
        return name

    def _reach(self, name: Name, ways: tuple[Sources, ...]) -> list[Name]:
        """What has no source of its own, on all ways back through sources.

        A parameter that is assigned other pointers is a root still.
        """
        seen, waiting, found = {name}, [name], []
        while waiting:
            at = waiting.pop()
            if not self._sources.get(at) or at.variable.kind is typed.VariableKind.PARAMETER:
                found.append(at)
            fresh = [source for way in ways for source in way.get(at, ()) if source not in seen]
            seen.update(fresh)
            waiting += fresh
        return found

    # ------------------------------------------------------------------ names kept apart

    def _classes(self) -> dict[Name, int]:
        """A number for each group of names that stay apart, by its members.

        Each member has one value of its own, before anything is exchanged, and no two have the
        same; a member that is declared in other loops than the rest would start again alone.
        """
        classes: dict[Name, int] = {}
        seen: set[Name] = set()
        for number, name in enumerate(self._exchanged):
            if name in seen:
                continue
            members = self._exchanged_with(name)
            seen.update(members)
            origins = [self._origin(member) for member in members]
            own = [frozenset(self._reach(member, (self._sources,))) for member in members]
            is_apart = all(one.isdisjoint(other) for one, other in combinations(own, 2))
            if is_apart and None not in origins and len(set(origins)) == 1:
                classes |= dict.fromkeys(members, number)
        return classes

    def _exchanged_with(self, name: Name) -> list[Name]:
        """All names that swaps connect with one, itself first."""
        members = [name]
        for member in members:
            members += [v for v in self._exchanged.get(member, ()) if v not in members]
        return members

    def _origin(self, name: Name) -> tuple[int, ...] | None:
        """The loops around the one place that gives a name its own value; None if there are
        several."""
        assigned = self._assigned.get(name, [])
        if name.variable.kind is typed.VariableKind.PARAMETER:
            return None if assigned else ()
        return assigned[0] if len(assigned) == 1 else None

    # ------------------------------------------------------------------ statements

    def _walk(self, statements: tuple[typed.Statement, ...], loops: tuple[int, ...]) -> None:
        for statement in statements:
            self._enter(statement, loops)
            is_loop = isinstance(statement, typed.For | typed.While)
            inside = (*loops, statement.id) if is_loop else loops
            for body in bodies_of(statement):
                self._walk(body, inside)

    def _enter(self, statement: typed.Statement, loops: tuple[int, ...]) -> None:
        match statement:
            case typed.Narrow(views=views):
                for view in views:
                    self._view(view)
            case typed.Declare(variable=variable, value=value) if value is not None:
                self._assign(variable, value, statement.span, loops)
            case typed.DeclareSeveral(variables=variables, call=call):
                for variable in variables:
                    self._assign(variable, call, statement.span, loops)
            case typed.Assign(place=typed.VariablePlace(variable=variable), value=value):
                self._assign(variable, value, statement.span, loops)
            case typed.AssignSeveral(places=places, values=values):
                self._assign_several(tuple(zip(places, values, strict=False)), statement, loops)
            case _:
                pass

    def _view(self, view: typed.View) -> None:
        name, sources = Name(view.variable), list(names_in(view.source))
        self._sources.setdefault(name, []).extend(sources)
        if len(sources) == 1:
            self._views[name] = sources[0]

    def _assign_several(
        self, pairs: tuple[Pair, ...], statement: typed.Statement, loops: tuple[int, ...]
    ) -> None:
        pointers = [pair for pair in pairs if isinstance(pair[0].type, PointerType)]
        is_exchange = _is_permutation(pointers)
        for target, value in pointers:
            if not isinstance(target, typed.VariablePlace):
                continue
            if is_exchange:
                name = Name(target.variable)
                self._exchanged.setdefault(name, []).extend(names_in(value))
                self._exchanged_at.setdefault(name, statement.span)
            else:
                self._assign(target.variable, value, statement.span, loops)

    def _assign(
        self,
        variable: typed.Variable,
        value: typed.Expression,
        span: Span,
        loops: tuple[int, ...],
    ) -> None:
        if isinstance(variable.type, PointerType):
            name = Name(variable)
            self._merged_at.setdefault(name, span)
            self._assigned.setdefault(name, []).append(loops)
            self._sources.setdefault(name, []).extend(names_in(value))


def _is_permutation(pairs: list[Pair]) -> bool:
    targets = [place.variable for place, _ in pairs if isinstance(place, typed.VariablePlace)]
    sources = [value.variable for _, value in pairs if isinstance(value, typed.Read)]
    return len(targets) == len(pairs) and sorted(v.id for v in targets) == sorted(
        v.id for v in sources
    )


def pointer_variables(value: typed.Expression) -> Iterator[typed.Variable]:
    """The variables whose memory a pointer expression may name."""
    return (name.variable for name in names_in(value))


def names_in(value: typed.Expression) -> Iterator[Name]:
    """The names whose memory a pointer expression may name."""
    match value:
        case typed.Read(variable=variable):
            yield Name(variable)
        case typed.Slot(variable=variable, index=index):
            yield Name(variable, index)
        case typed.Conditional(value=chosen, otherwise=otherwise):
            yield from names_in(chosen)
            yield from names_in(otherwise)
        case typed.Call(arguments=arguments):
            for argument in arguments:
                if isinstance(argument.type, PointerType):
                    yield from names_in(argument)
        case _:
            return

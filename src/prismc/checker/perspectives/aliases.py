"""Which names may stand for the same memory: hiding one hides the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prismc.checker.types import typed
from prismc.checker.types.model import PointerType
from prismc.checker.types.walk import statements_in
from prismc.source.span import Span

Roots = frozenset[typed.Variable]


class Aliases:
    """The roots that each pointer of one body may name, flow-insensitive.

    A view names its source's roots. A pointer assignment adds the roots of its value, except a
    permuting one (`x, y = y, x`): its names stay apart (`docs/language.md`, "Pointers").
    """

    def __init__(self, body: typed.Body) -> None:
        self._sources: dict[typed.Variable, list[typed.Variable]] = {}
        self._merged_at: dict[typed.Variable, Span] = {}
        self._roots: dict[typed.Variable, Roots] = {}
        for statement in statements_in(body.statements):
            self._enter(statement)

    def roots(self, variable: typed.Variable) -> Roots:
        """The parameters and shared arrays whose memory `variable` may name."""
        found = self._roots.get(variable)
        if found is None:
            found = self._roots[variable] = frozenset(self._reach(variable))
        return found

    def roots_of(self, variables: Iterable[typed.Variable]) -> Roots:
        """The roots that any of `variables` may name."""
        return frozenset(root for variable in variables for root in self.roots(variable))

    def merged_at(self, variable: typed.Variable) -> Span | None:
        """Where a pointer variable became an alias of something; None for parameters and views."""
        return self._merged_at.get(variable)

    def _reach(self, variable: typed.Variable) -> list[typed.Variable]:
        """What has no source of its own, on all ways back through sources.

        A parameter that is assigned other pointers is a root still.
        """
        seen, waiting, found = {variable}, [variable], []
        while waiting:
            at = waiting.pop()
            sources = self._sources.get(at, [])
            if not sources or at.kind is typed.VariableKind.PARAMETER:
                found.append(at)
            fresh = [source for source in sources if source not in seen]
            seen.update(fresh)
            waiting += fresh
        return found

    def _enter(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Narrow(views=views):
                for view in views:
                    self._merge(view.variable, view.source)
            case typed.Declare(variable=variable, value=value) if value is not None:
                self._assign(variable, value, statement.span)
            case typed.DeclareSeveral(variables=variables, call=call):
                for variable in variables:
                    self._assign(variable, call, statement.span)
            case typed.Assign(place=typed.VariablePlace(variable=variable), value=value):
                self._assign(variable, value, statement.span)
            case typed.AssignSeveral(places=places, values=values):
                self._assign_several(places, values, statement.span)
            case _:
                pass

    def _assign_several(
        self,
        places: tuple[typed.Place, ...],
        values: tuple[typed.Expression, ...],
        span: Span,
    ) -> None:
        if _is_permutation(places, values):
            return
        for target, value in zip(places, values, strict=False):
            if isinstance(target, typed.VariablePlace):
                self._assign(target.variable, value, span)

    def _assign(self, variable: typed.Variable, value: typed.Expression, span: Span) -> None:
        if isinstance(variable.type, PointerType):
            self._merged_at.setdefault(variable, span)
            self._merge(variable, value)

    def _merge(self, variable: typed.Variable, value: typed.Expression) -> None:
        self._sources.setdefault(variable, []).extend(pointer_variables(value))


def _is_permutation(places: tuple[typed.Place, ...], values: tuple[typed.Expression, ...]) -> bool:
    targets = [place.variable for place in places if isinstance(place, typed.VariablePlace)]
    sources = [value.variable for value in values if isinstance(value, typed.Read)]
    return len(targets) == len(places) and sorted(v.id for v in targets) == sorted(
        v.id for v in sources
    )


def pointer_variables(value: typed.Expression) -> Iterator[typed.Variable]:
    """The variables whose memory a pointer expression may name."""
    match value:
        case typed.Read(variable=variable) | typed.Slot(variable=variable):
            yield variable
        case typed.Conditional(value=chosen, otherwise=otherwise):
            yield from pointer_variables(chosen)
            yield from pointer_variables(otherwise)
        case typed.Call(arguments=arguments):
            for argument in arguments:
                if isinstance(argument.type, PointerType):
                    yield from pointer_variables(argument)
        case _:
            return

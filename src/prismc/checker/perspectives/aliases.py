"""Which names may stand for the same memory: hiding one hides the others."""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.types import typed
from prismc.checker.types.model import PointerType
from prismc.checker.types.walk import statements_in
from prismc.source.span import Span


class Aliases:
    """Alias classes of one body, flow-insensitive.

    A view belongs to its source's class. A pointer assignment merges classes, except a permuting
    one (`x, y = y, x`): its names stay apart (`docs/language.md`, "Pointers").
    """

    def __init__(self, body: typed.Body) -> None:
        self._parent: dict[typed.Variable, typed.Variable] = {}
        self._merged_at: dict[typed.Variable, Span] = {}
        for statement in statements_in(body.statements):
            self._enter(statement)

    def root(self, variable: typed.Variable) -> typed.Variable:
        """The class's representative: the name whose memory it is."""
        while variable in self._parent:
            variable = self._parent[variable]
        return variable

    def merged_at(self, variable: typed.Variable) -> Span | None:
        """Where a pointer variable became an alias of something; None for parameters and views."""
        return self._merged_at.get(variable)

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
        targets = [p.variable for p in places if isinstance(p, typed.VariablePlace)]
        sources = [v.variable for v in values if isinstance(v, typed.Read)]
        if len(targets) == len(places) and sorted(v.id for v in targets) == sorted(
            v.id for v in sources
        ):
            return
        for target, value in zip(places, values, strict=False):
            if isinstance(target, typed.VariablePlace):
                self._assign(target.variable, value, span)

    def _assign(self, variable: typed.Variable, value: typed.Expression, span: Span) -> None:
        if isinstance(variable.type, PointerType):
            self._merged_at.setdefault(variable, span)
            self._merge(variable, value)

    def _merge(self, variable: typed.Variable, value: typed.Expression) -> None:
        for source in pointer_variables(value):
            mine, other = self.root(variable), self.root(source)
            if mine is not other:
                self._parent[mine] = other


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

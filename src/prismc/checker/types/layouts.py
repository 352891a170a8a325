"""Layouts of shared arrays: where element i really lies (`docs/language.md`, "Shared memory").

A layout is an expression function int -> int that maps 0 .. n - 1 onto itself; it is evaluated for
every index while compiling. A pointer's type names its layout, and a function is specialised to the
layouts of the pointers it is given, so that every access applies the right one.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.names.symbols import SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.context import UNKNOWN, Given, Judgement, Layout, Unknown
from prismc.checker.types.evaluate import REFUSED
from prismc.checker.types.generics import Generics, is_expression_function
from prismc.checker.types.layout_errors import BadLayout, BadTensorMap
from prismc.checker.types.model import INT, ArrayType, PointerType, size_of
from prismc.checker.types.variables import read_type
from prismc.frontend import ast
from prismc.hardware.swizzles import SWIZZLES

MOST_ELEMENTS = 1 << 16
SWIZZLED_ROW = 128  # bytes that every swizzle permutes among themselves


class Layouts(Generics):
    """Reads `layout f`, and finds the layouts of arguments."""

    def layout_of(self, node: ast.Expression, array: ArrayType, slots: int) -> Layout | None:
        """The layout that a declaration names, of each slot if there are any; None after
        reporting."""
        swizzle = self._swizzle_at(node, size_of(array.element))
        if swizzle is not None:
            return self._swizzled(node, swizzle, size_of(array), slots)
        instance = self._layout_function(node)
        if instance is None:
            return None
        reason, run = self._judged(instance, array.length)
        if reason == REFUSED:
            self.is_failed = True
            return None
        if reason is not None:
            self.report(
                BadLayout(
                    at=node.span,
                    name=instance.name,
                    reason=reason,
                    related=self.note(instance.span, f"`{instance.name}` is declared here"),
                )
            )
            return None
        self.calls.append((instance, node.span))
        return self.known_layout(Layout(function=instance, run=run))

    # ------------------------------------------------------------------ swizzles

    def _swizzle_at(self, node: ast.Expression, size: int) -> Layout | None:
        """The swizzle of elements of `size` bytes that a name stands for, if it is one."""
        symbol = self.symbol_at(node)
        if symbol is not None and symbol.kind is SymbolKind.BUILTIN and symbol.name in SWIZZLES:
            return self.program.swizzle(SWIZZLES[symbol.name], size, node.span)
        binding = self.binding_at(node)
        if isinstance(binding, typed.Instance):
            return self.program.swizzle_of(binding)
        return None

    def _swizzled(
        self, node: ast.Expression, layout: Layout, size: int, slots: int
    ) -> Layout | None:
        """A swizzle as the layout of an array, or of slots, of `size` bytes."""
        assert layout.swizzle is not None
        part = layout.swizzle.period if slots else SWIZZLED_ROW
        if size % part == 0:
            return self.known_layout(layout)
        what = "each slot" if slots else "the array"
        self.report(
            BadLayout(
                at=node.span,
                name=layout.swizzle.name,
                reason=f"moves pieces of {part} bytes as a whole, and {what} has {size}",
            )
        )
        return None

    def tensor_layout(self, node: ast.Expression, size: int) -> Layout | None:
        layout = self._swizzle_at(node, size)
        if layout is not None:
            return self.known_layout(layout)
        self.is_failed = True
        symbol = self.symbol_at(node)
        is_silent = symbol is None or symbol.kind is SymbolKind.UNKNOWN
        if is_silent or self.binding_at(node) is UNKNOWN:
            return None
        words = ", ".join(f"`{word}`" for word in SWIZZLES)
        what = f"`{symbol.name}`" if symbol is not None else "this"
        self.report(
            BadTensorMap(
                at=node.span,
                reason=f"{what} is no swizzle of the copy engine",
                advice=f"name one of {words}, or leave it out",
            )
        )
        return None

    # ------------------------------------------------------------------ functions

    def _layout_function(self, node: ast.Expression) -> typed.Instance | None:
        binding = self.binding_at(node)
        if isinstance(binding, typed.Instance):
            return binding
        symbol = self.symbol_at(node)
        if isinstance(binding, Unknown) or symbol is None or symbol.kind is SymbolKind.UNKNOWN:
            self.is_failed = True
            return None
        definition = symbol.node
        if (
            not isinstance(definition, ast.Function)
            or definition.generics
            or not is_expression_function(definition)
        ):
            reason = "is no expression function without generics"
            self.report(BadLayout(at=node.span, name=symbol.name, reason=reason))
            return None
        return self.instance_of(symbol, (), node.span)

    def _judged(self, instance: typed.Instance, count: int) -> Judgement:
        """A function as the layout of `count` elements."""
        known = self.judged_layouts.get((instance, count))
        if known is None:
            known = self.judged_layouts[instance, count] = self._judgement(instance, count)
        return known

    def _judgement(self, instance: typed.Instance, count: int) -> Judgement:
        types = [parameter.type for parameter in instance.parameters]
        if types != [INT] or [result.type for result in instance.results] != [INT]:
            return "is no function of one int to an int", 1
        if count > MOST_ELEMENTS:
            return f"would be evaluated for {count:,} elements; {MOST_ELEMENTS:,} are the limit", 1
        places: list[int] = []
        for index in range(count):
            place = self.program.evaluate(instance, (index,))
            if place is None:
                why = self.program.why_unknown(instance, (index,))
                return why and f"{why} for element {index}", 1
            if not 0 <= int(place) < count:
                return f"maps element {index} to {place}, no place in 0 .. {count - 1}", 1
            places.append(int(place))
        seen: dict[int, int] = {}
        for index, place in enumerate(places):
            if place in seen:
                return f"maps elements {seen[place]} and {index} to the same place", 1
            seen[place] = index
        return None, _run(places)

    def given_by(self, nodes: tuple[ast.Expression, ...]) -> tuple[Given, ...]:
        """What is known of the memory behind a call's arguments; nothing at all where none of them
        is out of the ordinary."""
        found = tuple(self._given_at(node) for node in nodes)
        return found if any(each != Given() for each in found) else ()

    def _given_at(self, node: ast.Expression) -> Given:
        variable = self.variable_at(node.value if isinstance(node, ast.Index) else node)
        type_ = read_type(variable) if variable is not None else None
        if not isinstance(type_, PointerType):
            return Given()
        return Given(layout=self.layouts.get(type_.layout), mirrors=type_.mirrors)


def _run(places: list[int]) -> int:
    """The largest power of two such that aligned elements in such a number stay in order."""
    run = 1
    while len(places) % (2 * run) == 0 and all(_keeps(places, 2 * run)):
        run *= 2
    return run


def _keeps(places: list[int], run: int) -> Iterator[bool]:
    for start in range(0, len(places), run):
        first = places[start]
        yield first % run == 0
        yield places[start : start + run] == [*range(first, first + run)]

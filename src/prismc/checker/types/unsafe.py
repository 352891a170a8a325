"""What only `unsafe` may hold: `asm(..)` and `cuda(..)`, and the statements that trust the author.

`$k` counts the operands as they are written over `outs`, `inouts` and `ins`; an operand that is an
array stands for its elements, separated by commas.
"""

from __future__ import annotations

import re

from prismc.checker.names.symbols import SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.assumptions import Assumptions
from prismc.checker.types.call_errors import (
    BadAsm,
    NotAPartition,
)
from prismc.checker.types.context import Binding, Unknown, is_boolean, is_refused
from prismc.checker.types.model import (
    INT,
    ArrayType,
    PointerType,
    ScalarType,
    TensorMapType,
    Type,
)
from prismc.checker.types.number_builtins import BuiltinCall
from prismc.checker.types.show import show
from prismc.diagnostics.problem import Related
from prismc.frontend import ast
from prismc.hardware.groups import Perspective
from prismc.hardware.orders import MemoryOrder, scope_word
from prismc.source.record import Record

_LISTS = ("outs", "inouts", "ins")
_DOLLAR = re.compile(r"\$(\$|\d+|[A-Za-z_]\w*|\{[A-Za-z_]\w*\})?")
_LARGEST_OPERANDS = 1024
_NAMED_IN_TEXT = (SymbolKind.GENERIC, SymbolKind.CONSTANT, SymbolKind.LOOP)


class Operands(Record):
    """One operand as written: the flat positions of its elements, in its own list."""

    list: str
    elements: tuple[typed.Place | typed.Expression, ...]


class Unsafe(Assumptions):
    """Statements that are calls of `asm`, `cuda`, `assume` and `completion`."""

    def unsafe_statement(self, call: BuiltinCall) -> tuple[typed.Statement, ...]:
        """A built-in that only `unsafe` may hold, on a line of its own."""
        if not self.in_unsafe(call):
            return ()
        match call.name:
            case "asm":
                return self._asm(call)
            case "cuda":
                return self._cuda(call)
            case _:
                return self._assume(call)

    def _assume(self, call: BuiltinCall) -> tuple[typed.Statement, ...]:
        """`assume(condition)`, or `assume(disjoint(y))`, y a partition or a tensor map."""
        if not self.takes(call, 1, 1):
            return ()
        inner = self.statement_builtin(call.arguments[0])
        if inner is None or inner.name != "disjoint":
            condition = self.assumption(call.arguments[0], "`assume`")
            if is_refused(condition):
                return ()
            return (typed.Assume(id=self.id(), span=call.span, condition=condition),)
        if not self.takes(inner, 1, 1):
            return ()
        variable = self.variable_at(inner.arguments[0])
        if variable is None or not self._has_pieces(variable):
            notes = () if variable is None else self.declared_here(variable)
            self.report(NotAPartition(at=inner.arguments[0].span, related=notes))
            return ()
        return (typed.AssumeDisjoint(id=self.id(), span=call.span, variable=variable),)

    def _has_pieces(self, variable: typed.Variable) -> bool:
        """Whether it is a partition, or a kernel's tensor map, which has tiles."""
        is_map = isinstance(variable.type, TensorMapType)
        is_of_kernel = self.instance is not None and self.instance.is_kernel
        return variable.kind is typed.VariableKind.PARTITION or (is_map and is_of_kernel)

    def _text(self, call: BuiltinCall) -> str | None:
        """The first argument: a string that the CUDA compilers can read."""
        if not call.arguments or not isinstance(call.arguments[0], ast.String):
            self._bad(call, f"`{call.name}` starts with its text", "write the text as a string")
            return None
        node = call.arguments[0]
        unreadable = "\0" in node.value or (call.name == "asm" and not node.value.isascii())
        if unreadable:
            what = "PTX is ASCII text" if call.name == "asm" else "this text holds a zero byte"
            self._bad(call, what, "write ASCII characters other than `\\0`", node)
        return None if unreadable else node.value

    def _bad(
        self,
        call: BuiltinCall,
        reason: str,
        advice: str,
        at: ast.Node | None = None,
        related: tuple[Related, ...] = (),
    ) -> None:
        span = at.span if at is not None else call.span
        self.report(BadAsm(at=span, reason=reason, advice=advice, related=related))

    def _cuda(self, call: BuiltinCall) -> tuple[typed.Statement, ...]:
        text = self._text(call)
        if text is None:
            return ()
        if len(call.arguments) > 1:
            self._bad(call, "`cuda` takes only a text", "pass values with `asm`")
            return ()
        return (typed.CudaText(id=self.id(), span=call.span, text=text),)

    def _asm(self, call: BuiltinCall) -> tuple[typed.Statement, ...]:
        text = self._text(call)
        lists = [self._operand_list(call, node) for node in call.arguments[1:]]
        if text is None or any(operands is None for operands in lists):
            return ()
        operands = sorted(
            (operand for found in lists if found for operand in found),
            key=lambda operand: _LISTS.index(operand.list),
        )
        pieces = self._pieces(call, text, operands)
        if pieces is None:
            return ()
        return (
            typed.Asm(
                id=self.id(),
                span=call.span,
                pieces=pieces,
                outputs=_places(operands, "outs"),
                updates=_places(operands, "inouts"),
                inputs=_values(operands),
                touches_memory=self._touches_memory(),
            ),
        )

    def _touches_memory(self) -> bool:
        """What is not declared touches everything."""
        effects = self.instance.effects if self.instance is not None else None
        return effects is None or bool(effects.reads or effects.writes)

    def _operand_list(self, call: BuiltinCall, node: ast.Expression) -> list[Operands] | None:
        """`outs(..)`, `inouts(..)` or `ins(..)`; None after reporting."""
        inner = self.statement_builtin(node)
        if inner is None or inner.name not in _LISTS:
            self._bad(
                call,
                "after the text stand the operand lists",
                "write `outs(..)`, `inouts(..)`, `ins(..)`",
                node,
            )
            return None
        build = self._input if inner.name == "ins" else self._output
        operands = [build(call, argument, inner.name) for argument in inner.arguments]
        known = [operand for operand in operands if operand is not None]
        return known if len(known) == len(operands) else None

    def _output(self, call: BuiltinCall, node: ast.Expression, name: str) -> Operands | None:
        place = self.place(node)
        if place is None:
            return None
        elements = self._places_of(place)
        if elements is None:
            self._bad(
                call,
                f"{show(place.type)} fits no register",
                "write to scalars or to arrays of scalars",
                node,
            )
            return None
        return Operands(list=name, elements=elements)

    def _input(self, call: BuiltinCall, node: ast.Expression, name: str) -> Operands | None:
        value = self.settled(self.expression(node, INT))
        if is_refused(value):
            return None
        elements = self._values_of(value)
        if elements is None:
            advice = "pass scalars or arrays of scalars"
            if isinstance(value.type, PointerType):
                advice = "pass `shared_address(p, i)` or `address(p, i)`"
            self._bad(call, f"{show(value.type)} fits no register", advice, node)
            return None
        return Operands(list=name, elements=elements)

    def _places_of(self, place: typed.Place) -> tuple[typed.Place, ...] | None:
        """The scalar places of a place; None for what is not made of scalars."""
        if isinstance(place.type, ScalarType):
            return (place,)
        if not isinstance(place.type, ArrayType):
            return None
        array = self._place_value(place)
        if array is None:
            return None
        places: list[typed.Place] = []
        for element in self._elements(array, place.type):
            made = typed.ElementPlace(
                id=self.id(),
                span=place.span,
                type=element.type,
                array=element.array,
                index=element.index,
            )
            inner = self._places_of(made)
            if inner is None or len(places) > _LARGEST_OPERANDS:
                return None
            places += inner
        return tuple(places)

    def _place_value(self, place: typed.Place) -> typed.Expression | None:
        """An array place as the array that it is."""
        match place:
            case typed.VariablePlace(variable=variable):
                return self.read(place.span, variable)
            case typed.ElementPlace(array=array, index=index):
                return typed.Element(
                    id=self.id(), span=place.span, type=place.type, array=array, index=index
                )
            case _:
                return None

    def _elements(self, array: typed.Expression, type_: ArrayType) -> list[typed.Element]:
        return [
            typed.Element(
                id=self.id(),
                span=array.span,
                type=type_.element,
                array=array,
                index=self.constant(array.span, INT, position),
            )
            for position in range(type_.length)
        ]

    def _values_of(self, value: typed.Expression) -> tuple[typed.Expression, ...] | None:
        if isinstance(value.type, ScalarType):
            return (value,)
        if not isinstance(value.type, ArrayType):
            return None
        values: list[typed.Expression] = []
        for element in self._elements(value, value.type):
            inner = self._values_of(element)
            if inner is None or len(values) > _LARGEST_OPERANDS:
                return None
            values += inner
        return tuple(values)

    # ------------------------------------------------------------------ the text

    def _pieces(
        self, call: BuiltinCall, text: str, operands: list[Operands]
    ) -> tuple[str | int, ...] | None:
        """Text and operand numbers in turn, text first and last."""
        starts: list[int] = []
        total = 0
        for operand in operands:
            starts.append(total)
            total += len(operand.elements)
        pieces: list[str | int] = [""]
        at = 0
        for match in _DOLLAR.finditer(text):
            _append(pieces, text[at : match.start()])
            at = match.end()
            word = match.group(1) or ""
            if word.isdigit():
                number = int(word)
                if number >= len(operands):
                    self._bad_operand(call, number, len(operands))
                    return None
                _append_operand(pieces, starts[number], len(operands[number].elements))
                continue
            replacement = "$" if word == "$" else self._constant_text(call, word.strip("{}"))
            if replacement is None:
                return None
            _append(pieces, replacement)
        _append(pieces, text[at:])
        return tuple(pieces)

    def _bad_operand(self, call: BuiltinCall, number: int, count: int) -> None:
        self._bad(
            call,
            f"`${number}` names no operand: there are {count}, counted from $0",
            "count over `outs`, `inouts` and `ins` in this order; `$$` is a dollar",
            call.arguments[0],
        )

    def _constant_text(self, call: BuiltinCall, word: str) -> str | None:
        """`$name`, `${name}`: a generic or a constant of the function, as PTX writes it."""
        found = [
            _ptx_word(binding)
            for symbol, binding in self.environment.items()
            if symbol.name == word and symbol.kind in _NAMED_IN_TEXT
        ]
        if len(found) == 1 and found[0] is not None:
            return found[0]
        reason = f"`${word}` names no generic or constant here that PTX has a word for"
        if len(found) > 1:
            reason = f"`${word}` may be one of {len(found)} constants of this function"
        self._bad(
            call,
            reason,
            "write `$0` for an operand, `$$` for a dollar; give constants names of their own",
            call.arguments[0],
        )
        return None


def _ptx_word(binding: Binding) -> str | None:
    """A number, an order's or a type's name, or the scope that holds a perspective."""
    match binding:
        case typed.Constant(value=value):
            return str(int(value))
        case Unknown():
            return "0"
        case MemoryOrder():
            return binding.value
        case Perspective():
            return scope_word(binding)
        case ScalarType(scalar=scalar) if not is_boolean(binding):
            return scalar.ptx_name
        case _:
            return None


def _append(pieces: list[str | int], text: str) -> None:
    last = pieces[-1]
    assert isinstance(last, str), "pieces end with text"
    pieces[-1] = last + text


def _append_operand(pieces: list[str | int], start: int, count: int) -> None:
    for position in range(count):
        if position:
            _append(pieces, ", ")
        pieces += [start + position, ""]


def _places(operands: list[Operands], name: str) -> tuple[typed.Place, ...]:
    return tuple(
        element
        for operand in operands
        if operand.list == name
        for element in operand.elements
        if isinstance(element, typed.Place)
    )


def _values(operands: list[Operands]) -> tuple[typed.Expression, ...]:
    return tuple(
        element
        for operand in operands
        if operand.list == "ins"
        for element in operand.elements
        if isinstance(element, typed.Expression)
    )


def element_type(of: Type) -> Type:
    """The scalar or vector at the bottom of an array type."""
    while isinstance(of, ArrayType):
        of = of.element
    return of

"""Simple statements: declarations, assignments, calls, returns, assertions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    BadArgument,
    BadReturn,
    ExitOutsideLoop,
    UnusedValue,
)
from prismc.checker.types.constant_errors import (
    StaticAssertFailed,
)
from prismc.checker.types.context import is_boolean, is_refused
from prismc.checker.types.declarations import Declarations, Made
from prismc.checker.types.errors import (
    CountsDiffer,
)
from prismc.checker.types.formats import FormatError, printf_text
from prismc.checker.types.model import (
    BOOLEAN,
    ArrayType,
    ScalarType,
    Type,
)
from prismc.checker.types.number_builtins import BuiltinCall
from prismc.checker.types.places import destination_of
from prismc.checker.types.show import show
from prismc.checker.types.unsafe import element_type
from prismc.diagnostics.words import counted
from prismc.frontend import ast
from prismc.frontend.walk import find
from prismc.source.span import Span


class Statements(Declarations):
    """One method a statement; each gives the typed statements that it stands for."""

    def statements(self, nodes: tuple[ast.Statement, ...]) -> tuple[typed.Statement, ...]:
        made: list[typed.Statement] = []
        for node in nodes:
            made += self.statement(node)
            if self.is_misused:
                break
        return tuple(made)

    def statement(self, node: ast.Statement) -> Made:
        """What one statement stands for."""
        build = _BUILD.get(type(node))
        return self.construct(node) if build is None else build(self, node)

    @abstractmethod
    def construct(self, node: ast.Statement) -> Made:
        """Statements that hold others; a rung above."""

    # ------------------------------------------------------------------ assignments

    def _assign(self, node: ast.Assign) -> Made:
        place = self.place(node.target)
        if place is None:
            self.expression(node.value)
            return ()
        target = element_type(place.type)
        self.destination = destination_of(place)
        value = self.expression(node.value, None if node.operator in ("<<", ">>") else target)
        self.destination = None
        if node.operator:
            return self._compound(node, place, value)
        value = self._assigned(value, place, target, node.value.span)
        return (typed.Assign(id=self.id(), span=node.span, place=place, operator="", value=value),)

    def _assigned(
        self, value: typed.Expression, place: typed.Place, target: Type, at: Span
    ) -> typed.Expression:
        if isinstance(value.type, ArrayType):
            return self.refuse_whole_array(at)
        variable = place.variable if isinstance(place, typed.VariablePlace) else None
        why = self.declared_here(variable) if variable is not None else ()
        return self.require_type(value, target, why)

    def _compound(self, node: ast.Assign, place: typed.Place, value: typed.Expression) -> Made:
        """`x += e`: typed as `x + e`, whose type x must have."""
        current = typed.Expression(id=self.id(), span=node.target.span, type=place.type)
        combined = self.combine(node.operator, current, value, node.span, node.span, node.value)
        if is_refused(combined):
            return ()
        assert isinstance(combined, typed.Binary), "a variable's value is not known"
        return (
            typed.Assign(
                id=self.id(),
                span=node.span,
                place=place,
                operator=node.operator,
                value=combined.right,
            ),
        )

    def _assign_several(self, node: ast.AssignSeveral) -> Made:
        places = [self.place(target) for target in node.targets]
        if len(node.values) != len(node.targets):
            self.report(
                CountsDiffer(
                    at=node.span,
                    targets=counted(len(node.targets), "target"),
                    values=counted(len(node.values), "value"),
                    what="value",
                )
            )
            return ()
        values = []
        for place, value_node in zip(places, node.values, strict=True):
            target = element_type(place.type) if place is not None else None
            self.destination = destination_of(place)
            value = self.expression(value_node, target)
            self.destination = None
            if place is not None and target is not None:
                value = self._assigned(value, place, target, value_node.span)
            values.append(value)
        known = tuple(place for place in places if place is not None)
        if len(known) != len(places):
            return ()
        return (
            typed.AssignSeveral(id=self.id(), span=node.span, places=known, values=tuple(values)),
        )

    # ------------------------------------------------------------------ calls as statements

    def _expression_statement(self, node: ast.ExpressionStatement) -> Made:
        if not isinstance(node.value, ast.Call):
            if not is_refused(self.expression(node.value)):
                self.report(UnusedValue(at=node.span))
            return ()
        call = self.statement_builtin(node.value)
        if call is not None:
            return self._builtin_statement(call, node)
        value = self.call(node.value, None)
        if isinstance(value, typed.Call):
            if value.callee.kind is typed.InstanceKind.EXPRESSION:
                self.report(UnusedValue(at=node.span))
            return (typed.Evaluate(id=self.id(), span=node.span, call=value),)
        if not is_refused(value):
            self.report(UnusedValue(at=node.span))
        return ()

    def _builtin_statement(self, call: BuiltinCall, node: ast.ExpressionStatement) -> Made:
        match call.name:
            case "asm" | "cuda" | "assume":
                return self.unsafe_statement(call)
            case "store_vec":
                return self._store_vector(call)
            case "load_into":
                return self._load_into(call)
            case "print":
                return self._print(call)
            case _:
                if not is_refused(self.expression(node.value)):
                    self.report(UnusedValue(at=node.span))
                return ()

    def _store_vector(self, call: BuiltinCall) -> Made:
        """`store_vec[4](p, i, v)`."""
        if not self.takes(call, 3, 3):
            return ()
        pointer = self.pointer_argument(call, call.arguments[0])
        index = self.require_integer(call.arguments[1], "an index")
        type_ = self.access_type(call, pointer)
        value = self.expression(call.arguments[2], type_)
        if type_ is None or pointer is None:
            return ()
        value = self.require_type(value, type_)
        if not self.require_mutable(pointer, call.arguments[0]) or is_refused(index):
            return ()
        place = typed.MemoryPlace(
            id=self.id(), span=call.span, type=type_, pointer=pointer, index=index
        )
        return (typed.Assign(id=self.id(), span=call.span, place=place, operator="", value=value),)

    def _load_into(self, call: BuiltinCall) -> Made:
        """`load_into[4](a, i, p, j)`."""
        if not self.takes(call, 4, 4):
            return ()
        array = self.expression(call.arguments[0])
        first = self.require_integer(call.arguments[1], "an index")
        pointer = self.pointer_argument(call, call.arguments[2])
        index = self.require_integer(call.arguments[3], "an index")
        type_ = self.access_type(call, pointer)
        if type_ is None or pointer is None or is_refused(array):
            return ()
        if array.type == ArrayType(
            element=ScalarType(scalar=type_.element), length=_length(array.type)
        ):
            array = self.require_writable_array(array, ())
            return (
                typed.LoadInto(
                    id=self.id(),
                    span=call.span,
                    array=array,
                    first=first,
                    pointer=pointer,
                    index=index,
                    lanes=type_.lanes,
                ),
            )
        self.report(
            BadArgument(
                at=call.arguments[0].span,
                function=call.name,
                reason=f"it fills an array of {type_.element}, not {show(array.type)}",
                advice=f"pass a register array `{type_.element}[..]`",
            )
        )
        return ()

    def _print(self, call: BuiltinCall) -> Made:
        if not call.arguments or not isinstance(call.arguments[0], ast.String):
            self.report(
                BadArgument(
                    at=call.span,
                    function="print",
                    reason="it starts with its text",
                    advice='write `print("i = %d", i)`',
                )
            )
            return ()
        values = tuple(self.settled(self.expression(node)) for node in call.arguments[1:])
        if any(is_refused(value) for value in values) or not self.may_check("print", values):
            return ()
        text = printf_text(call.arguments[0].value, [value.type for value in values])
        if isinstance(text, FormatError):
            at = call.span if text.argument is None else values[text.argument].span
            self.report(
                BadArgument(at=at, function="print", reason=text.reason, advice=text.advice)
            )
            return ()
        return (typed.Print(id=self.id(), span=call.span, format=text, arguments=values),)

    # ------------------------------------------------------------------ return, assert, pass

    def _return(self, node: ast.Return) -> Made:
        results = self.instance.results if self.instance is not None else ()
        values = []
        for position, value_node in enumerate(node.values):
            expected = results[position].type if position < len(results) else None
            value = self.expression(value_node, expected)
            if expected is not None:
                note = self.note(results[position].span, f"the result is {show(expected)}")
                value = self.require_type(value, expected, note)
            values.append(value)
        if len(values) != len(results) and self.instance is not None:
            self.report(
                BadReturn(
                    at=node.span,
                    function=self.instance.name,
                    wanted=counted(len(results), "result"),
                    given=len(values),
                    advice=_return_advice(self.instance),
                    related=self.note(
                        self.instance.span, f"`{self.instance.name}` is declared here"
                    ),
                )
            )
            values = []
        return (typed.Return(id=self.id(), span=node.span, values=tuple(values)),)

    def _assert(self, node: ast.Assert) -> Made:
        if node.is_static:
            self._static_assert(node)
            return ()
        condition = self.require_bool(node.condition, "`assert`")
        if is_refused(condition) or not self.may_check("assert", (condition,)):
            return ()
        message = node.message.value if node.message is not None else ""
        return (typed.Assert(id=self.id(), span=node.span, condition=condition, message=message),)

    def _static_assert(self, node: ast.Assert) -> None:
        condition = self.expression(node.condition, BOOLEAN)
        if is_refused(condition):
            return
        if not is_boolean(condition.type):
            self.require_bool(node.condition, "`static assert`")
            return
        constant = self.require_constant(condition, "a static assertion")
        if constant is None or constant.value or self.is_undecided:
            return
        shown = {
            reference.name: self.shown_constant(reference)
            for reference in find(node.condition, ast.Reference)
        }
        values = [f"{name} = {value}" for name, value in shown.items() if value]
        self.report(
            StaticAssertFailed(
                at=node.condition.span,
                text=node.message.value if node.message is not None else "it does not hold",
                notes=(f"with {', '.join(values)}",) if values else (),
                related=self.constants_of(node.condition),
            )
        )
        self.is_misused = self.instance is not None and bool(self.instance.generics)

    def _exit(self, node: ast.Break | ast.Continue) -> Made:
        keyword = "break" if isinstance(node, ast.Break) else "continue"
        if not self.loops:
            self.report(ExitOutsideLoop(at=node.span, keyword=keyword))
            return ()
        made = typed.Break if isinstance(node, ast.Break) else typed.Continue
        return (made(id=self.id(), span=node.span),)

    def _pass(self, node: ast.Pass) -> Made:
        return ()


def _length(of: Type) -> int:
    return of.length if isinstance(of, ArrayType) else 1


_Build = Callable[[Statements, Any], Made]

_BUILD: dict[type[ast.Statement], _Build] = {
    ast.Declare: Statements.declare,
    ast.DeclareSeveral: Statements.declare_several,
    ast.ConstantDeclaration: Statements.local_constant,
    ast.Shared: Statements.shared,
    ast.Assign: Statements._assign,
    ast.AssignSeveral: Statements._assign_several,
    ast.ExpressionStatement: Statements._expression_statement,
    ast.Return: Statements._return,
    ast.Assert: Statements._assert,
    ast.Break: Statements._exit,
    ast.Continue: Statements._exit,
    ast.Pass: Statements._pass,
}


def _return_advice(instance: typed.Instance) -> str:
    if instance.is_kernel:
        return "store what the host should see; a kernel has no results"
    if not instance.results:
        return "declare the result, `-> T`, or write `return` alone"
    return "return one value for each result that is declared"

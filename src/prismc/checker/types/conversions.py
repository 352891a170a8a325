"""Types meet: literals adapt, everything else must agree; what must be a constant is one."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.constant_errors import (
    NotConstant,
)
from prismc.checker.types.context import Context, default_type, is_boolean, is_refused
from prismc.checker.types.errors import (
    AsyncAccess,
    AtomicAccess,
    ConditionNotBool,
    LiteralDoesNotFit,
    NotAnInteger,
    TypeMismatch,
)
from prismc.checker.types.model import (
    BOOLEAN,
    ERROR,
    INT,
    ArrayType,
    LiteralType,
    PointerType,
    ScalarType,
    Type,
)
from prismc.checker.types.numbers import convert, fits
from prismc.checker.types.show import show
from prismc.checker.types.variables import read_type
from prismc.checker.types.walk import expressions_in
from prismc.diagnostics.problem import Fix, Related
from prismc.frontend import ast
from prismc.source.record import replace
from prismc.source.span import Span


class Conversions(Context):
    """Judges whether an expression has the type that its place asks for."""

    def adapt(self, value: typed.Expression, target: Type) -> typed.Expression | None:
        """A literal as a value of `target`; None if it cannot be one. Others stay as they are."""
        if not isinstance(value.type, LiteralType):
            return value
        if isinstance(value, typed.Conditional):
            chosen = self.adapt(value.value, target)
            otherwise = self.adapt(value.otherwise, target)
            if chosen is None or otherwise is None:
                return None
            return replace(value, value=chosen, otherwise=otherwise, type=chosen.type)
        if not isinstance(value, typed.Constant) or not isinstance(target, ScalarType):
            return None
        scalar = target.scalar
        if not scalar.is_integer and not scalar.is_float:
            return None
        if value.type.is_float and not scalar.is_float:
            return None
        if not fits(value.value, scalar):
            self.report(
                LiteralDoesNotFit(at=value.span, value=f"{value.value:,}", type=show(target))
            )
            return self.refused(value.span)
        return replace(value, type=target, value=convert(value.value, scalar))

    def require_plain(self, pointer: typed.Expression, at: Span) -> bool:
        """Whether elements of a pointer or an array may be read or written; reports if not."""
        type_ = pointer.type
        is_atomic = isinstance(type_, PointerType) and type_.is_atomic
        is_async = isinstance(type_, PointerType | ArrayType) and type_.is_async
        if not is_atomic and not is_async:
            return True
        variable = root_variable(pointer)
        problem = AtomicAccess if is_atomic else AsyncAccess
        name = variable.name if variable else "this pointer"
        related = self.declared_here(variable) if variable else ()
        self.report(problem(at=at, name=name, related=related))
        return False

    def settled(self, value: typed.Expression) -> typed.Expression:
        """A literal that meets no type becomes an `int` or an `f32`."""
        adapted = self.adapt(value, default_type(value.type))
        assert adapted is not None, "a literal's default type takes it"
        return adapted

    def require_type(
        self,
        value: typed.Expression,
        expected: Type,
        why: tuple[Related, ...] = (),
    ) -> typed.Expression:
        """`value` as one of type `expected`, or a refused expression after reporting."""
        if value.type is ERROR or expected is ERROR:
            return value if value.type is ERROR else self.settled(value)
        adapted = self.adapt(value, expected)
        if adapted is not None and (adapted.type is ERROR or agrees(adapted.type, expected)):
            return adapted
        self.report(
            TypeMismatch(
                at=value.span,
                expected=show(expected),
                found=show(value.type),
                advice=_advice(value, expected),
                related=why or self.what_it_is(value),
            )
        )
        return self.refused(value.span)

    def require_bool(self, node: ast.Expression, construct: str) -> typed.Expression:
        """A condition: a bool, nothing else."""
        condition = self.expression(node, BOOLEAN)
        if is_refused(condition) or is_boolean(condition.type):
            return condition
        self.report(
            ConditionNotBool(
                at=node.span,
                construct=construct,
                found=show(condition.type),
                advice=_bool_advice(condition.type),
                related=self.what_it_is(condition),
                fixes=_compared(node, condition.type),
            )
        )
        return self.refused(node.span)

    def require_integer(self, node: ast.Expression, what: str) -> typed.Expression:
        """An index, an offset or a loop bound: an integer of any width, a literal as `int`."""
        value = self.settled(self.expression(node, INT))
        if is_refused(value) or is_integer(value.type):
            return value
        related = self.what_it_is(value)
        self.report(NotAnInteger(at=node.span, what=what, found=show(value.type), related=related))
        return self.refused(node.span)

    def as_integer(self, value: typed.Expression, target: Type) -> typed.Expression:
        """An integer as one of another integer type, for arithmetic that nobody wrote."""
        if is_refused(value) or value.type == target or not isinstance(target, ScalarType):
            return value
        if isinstance(value, typed.Constant):
            return replace(value, type=target, value=convert(value.value, target.scalar))
        return typed.Convert(id=self.id(), span=value.span, type=target, operand=value)

    # ------------------------------------------------------------------ constants

    def constant_value(
        self, node: ast.Expression, what: str, expected: Type
    ) -> typed.Constant | None:
        """The value of an expression that must be known now, or None after reporting."""
        value = self.require_type(self.expression(node, expected), expected)
        return self.require_constant(value, what)

    def require_constant(self, value: typed.Expression, what: str) -> typed.Constant | None:
        """`value` if it is known now, or None after reporting (`what` must be)."""
        if is_refused(value):
            return None
        if isinstance(value, typed.Constant):
            return value
        self.report(self._not_constant(value, what))
        return None

    def _not_constant(self, value: typed.Expression, what: str) -> NotConstant:
        """A call with constants would be known, had its evaluation come to an end."""
        variable = _variable_in(value)
        problem = NotConstant(
            at=value.span,
            what=what,
            name=f"`{variable.name}`" if variable else "this",
            reason="known only at run time",
            related=_declared_note(variable) if variable else (),
        )
        for call in expressions_in(value):
            if isinstance(call, typed.UnitCount):
                return replace(problem, advice=_OF_THE_GRID)
            if not isinstance(call, typed.Call) or call.callee.kind is not _EXPRESSION:
                continue
            known = [one.value for one in call.arguments if isinstance(one, typed.Constant)]
            if len(known) == len(call.arguments) and isinstance(call.type, ScalarType):
                name, why = call.callee.name, self.program.why_unknown(call.callee, tuple(known))
                advice = f"mend `{name}`, or write a constant or a literal instead of the call"
                return replace(problem, reason=f"`{name}` {why}", advice=advice)
        return problem

    def constant_integer(self, node: ast.Expression, what: str) -> int | None:
        """An integer that must be known now, or None after reporting."""
        value = self.require_integer(node, what)
        constant = self.require_constant(value, what)
        return None if constant is None else int(constant.value)

    # ------------------------------------------------------------------ notes

    def declared_here(self, variable: typed.Variable) -> tuple[Related, ...]:
        """A note at a declaration, with the type."""
        shown = show(read_type(variable))
        return (Related(at=variable.span, message=f"`{variable.name}` is {shown}, declared here"),)

    def what_it_is(self, value: typed.Expression) -> tuple[Related, ...]:
        """Where a variable that is used as a value got its type."""
        return self.declared_here(value.variable) if isinstance(value, typed.Read) else ()

    def note(self, at: Span, message: str) -> tuple[Related, ...]:
        """A second place, as problems take them."""
        return (Related(at=at, message=message),)


_OF_THE_GRID = (
    "the size of the grid is known when it is launched: count, and call collectives, in code of a "
    "block or less, inside `group block[1]:`"
)
_EXPRESSION = typed.InstanceKind.EXPRESSION


def root_variable(value: typed.Expression) -> typed.Variable | None:
    """The variable that an array, a pointer or a slot belongs to."""
    while isinstance(value, typed.Element):
        value = value.array
    return value.variable if isinstance(value, typed.Read | typed.Slot) else None


def agrees(found: Type, expected: Type) -> bool:
    """Whether a value of type `found` can stand where `expected` is asked for.

    A pointer may become one that only reads; a plain pointer may go to an atomic parameter.
    """
    if not isinstance(found, PointerType) or not isinstance(expected, PointerType):
        return found == expected
    if found.element != expected.element or found.is_async != expected.is_async:
        return False
    if found.layout != expected.layout or found.mirrors != expected.mirrors:
        return False
    if expected.is_atomic:
        return not found.is_const
    return not found.is_atomic and (expected.is_const or not found.is_const)


def is_integer(of: Type) -> bool:
    """Whether a type is an integer of any width."""
    return isinstance(of, ScalarType) and of.scalar.is_integer


def _variable_in(value: typed.Expression) -> typed.Variable | None:
    """The first run-time variable of an expression."""
    for part in expressions_in(value):
        if isinstance(part, typed.Read | typed.Slot):
            return part.variable
    return None


def _compared(node: ast.Expression, type_: Type) -> tuple[Fix, ...]:
    """`n` as `n != 0`, for one integer that stands by itself: C and Python mean that by it."""
    if not isinstance(node, ast.Reference | ast.Index | ast.Call | ast.Member):
        return ()
    if not is_integer(type_):
        return ()
    end = Span(node.span.file, node.span.end, node.span.end)
    return (Fix(at=end, text=" != 0", title="compare with 0"),)


def _declared_note(variable: typed.Variable) -> tuple[Related, ...]:
    kind = "parameter" if variable.kind is typed.VariableKind.PARAMETER else variable.kind.value
    message = f"`{variable.name}` is a run-time {kind}, declared here"
    return (Related(at=variable.span, message=message),)


def _bool_advice(of: Type) -> str:
    if isinstance(of, LiteralType):
        return "write a comparison, or `true` or `false`"
    element = _element(of)
    if element is not None:
        return "compare one of its elements: `..[i] != 0`"
    return "write the comparison: `.. != 0`"


def _element(of: Type) -> Type | None:
    return of.element if isinstance(of, PointerType | ArrayType) else None


def _advice(value: typed.Expression, expected: Type) -> str:
    if isinstance(value.type, ScalarType | LiteralType) and isinstance(expected, ScalarType):
        if is_boolean(expected):
            return "compare it: `.. != 0`"
        operand = value.variable.name if isinstance(value, typed.Read) else ".."
        return f"convert it: `{expected.scalar}({operand})`"
    if isinstance(value.type, PointerType) and isinstance(expected, PointerType):
        return _pointer_advice(value.type, expected)
    if isinstance(value, typed.Load) and isinstance(expected, PointerType):
        pointer = value.pointer
        name = pointer.variable.name if isinstance(pointer, typed.Read) else ".."
        return f"name memory from there on, `partition {name} as part @ .. at ..:`, and pass `part`"
    if isinstance(expected, ScalarType) and _element(value.type) == expected:
        operand = value.variable.name if isinstance(value, typed.Read) else ".."
        return f"read one of its elements: `{operand}[i]`"
    if isinstance(expected, ArrayType) and value.type == replace(
        expected, is_async=not expected.is_async
    ):
        return _SHOW_IT if expected.is_async else _END_IT
    return f"give it a value of type {show(expected)}"


_SHOW_IT = "pass the name that an asynchronous scope shows: `async x as y:`"
_END_IT = "end the asynchronous scope first, then pass the memory by its name outside"


def _pointer_advice(found: PointerType, expected: PointerType) -> str:
    if found.element != expected.element:
        return f"pass a pointer to {show(expected.element)}"
    if expected.is_async and not found.is_async:
        return _SHOW_IT
    if found.is_async:
        return _END_IT
    if found.is_const:
        return "declare the pointer without `const`, or only read through it here"
    if found.is_atomic:
        return "an atomic pointer goes only to the functions of `std.atomic`"
    return f"pass a {show(expected)}"


def writable_instead(variable: typed.Variable) -> str:
    """What to do where something that is only read would be stored to."""
    match variable.kind:
        case typed.VariableKind.RING:
            return "`consume` only reads its slots: store to another array"
        case typed.VariableKind.PARTITION | typed.VariableKind.CLAIM | typed.VariableKind.ASYNC:
            return (
                "what it is made of is only read, as a `const` pointer is, and a slot in "
                "`consume`: store elsewhere"
            )
        case _:
            return f"drop the `const` where `{variable.name}` is declared, or store elsewhere"

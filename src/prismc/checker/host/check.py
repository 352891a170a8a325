"""Tests checked before they run: names, types, shapes, launches.

Arrays are followed by their types and lengths, numbers by their values where these are known. A
loop's body is judged once, for all that its variables may be; both branches of an `if` are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from prismc.checker.host.errors import DuplicateTest, HostCondition, NotHostCode
from prismc.checker.host.expressions import Expressions
from prismc.checker.host.facts import HostTest
from prismc.checker.host.operators import combined
from prismc.checker.host.values import (
    UNKNOWN,
    Array,
    Complaint,
    HostValue,
    Number,
    forgotten,
    is_condition,
    number,
    show,
)
from prismc.checker.names.symbols import Names, Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.elaborate import Elaboration
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.modules import ModuleGraph
from prismc.source.span import Span

Constant = int | float | bool
ConstantOf = Callable[[Symbol], typed.Constant | None]


def check_tests(
    graph: ModuleGraph,
    names: Names,
    defines: Mapping[str, str],
    program: typed.Program,
    sink: Sink,
) -> tuple[HostTest, ...]:
    """Check the tests of the root files; what is needed to run them, in the order of the text."""
    found: list[HostTest] = []
    # Problems of constants were reported when the program was elaborated.
    constant_of = Elaboration(graph, names, defines, Sink()).constant
    for module in graph.roots:
        first: dict[str, ast.Test] = {}
        for node in module.declarations:
            if not isinstance(node, ast.Test):
                continue
            earlier = first.setdefault(node.name.value, node)
            if earlier is not node:
                note = Related(at=earlier.header, message="the first is here")
                sink.report(DuplicateTest(at=node.name.span, name=node.name.value, related=(note,)))
            checker = _TestChecker(module.name, names, constant_of, program, sink)
            checker.statements(node.body)
            found.append(HostTest(name=node.name.value, node=node, constants=checker.constants))
    return tuple(found)


class _TestChecker:
    """Walks one test; `constants` collects those of the file that it uses."""

    def __init__(
        self,
        module: str,
        names: Names,
        constant_of: ConstantOf,
        program: typed.Program,
        sink: Sink,
    ) -> None:
        self._sink = sink
        self._names = names.modules[module]
        self._constant_of = constant_of
        self._variables: dict[Symbol, HostValue] = {}
        self.constants: dict[str, Constant] = {}
        self._expressions = Expressions(self._names, program, module, self._value_of, sink)

    def _value_of(self, symbol: Symbol) -> HostValue:
        """What is known of a variable or a constant."""
        if symbol.kind is not SymbolKind.CONSTANT:
            return self._variables.get(symbol, UNKNOWN)
        constant = self._constant_of(symbol)
        if constant is None:
            return UNKNOWN
        self.constants[symbol.name] = constant.value
        return number(constant.value)

    # ------------------------------------------------------------------ statements

    def statements(self, body: Sequence[ast.Statement]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.Statement) -> None:
        match node:
            case ast.Declare(name=name, type=None, value=value) if value is not None:
                self._declare(name, self._expressions.value(value))
            case ast.Assign():
                self._assign(node)
            case ast.ExpressionStatement(value=value):
                self._expressions.launch(value)
            case ast.Assert(condition=condition, is_static=False):
                self._condition("assert", condition)
            case ast.If(is_static=False):
                self._if(node)
            case ast.For(mode=""):
                self._for(node)
            case ast.Pass():
                pass
            case _:
                self._sink.report(NotHostCode(at=_place(node), what=f"`{_word(node)}`"))
                self._forget(_assigned((node,), self._names.uses))

    def _declare(self, name: ast.Name, value: HostValue) -> None:
        symbol = self._names.declared.get(name.id)
        if symbol is not None:
            self._variables[symbol] = value

    def _assign(self, node: ast.Assign) -> None:
        value = self._expressions.value(node.value)
        target = node.target
        if isinstance(target, ast.Index):
            self._assign_element(target, node, value)
            return
        symbol = self._names.uses.get(target.id) if isinstance(target, ast.Reference) else None
        if not isinstance(target, ast.Reference):
            self._sink.report(NotHostCode(at=target.span, what="an assignment to this"))
        if symbol is None:
            return
        if symbol not in self._variables:
            what = f"an assignment to the {symbol.kind.value} `{symbol.name}`"
            self._sink.report(NotHostCode(at=target.span, what=what))
            return
        before = self._variables[symbol]
        after = _assigned_value(node.operator, before, value)
        self._expressions.judged(after, node.span)
        self._variables[symbol] = before if isinstance(after, Complaint) else after

    def _assign_element(self, target: ast.Index, node: ast.Assign, value: HostValue) -> None:
        """`x[i] = e`: one element of an array."""
        element = self._expressions.value(target)
        if isinstance(element, Array) and element.shape:
            what = f"an assignment to {show(element)}, a part of an array,"
            self._sink.report(NotHostCode(at=target.span, what=what))
            return
        self._expressions.judged(_assigned_value(node.operator, element, value), node.span)

    def _condition(self, statement: str, node: ast.Expression) -> HostValue:
        value = self._expressions.value(node)
        if value != UNKNOWN and not is_condition(value):
            self._sink.report(HostCondition(at=node.span, statement=statement, found=show(value)))
        return value

    def _if(self, node: ast.If) -> None:
        self._condition("if", node.condition)
        before = dict(self._variables)
        self.statements(node.body)
        self._variables = before
        self.statements(node.otherwise)
        changed = _assigned((*node.body, *node.otherwise), self._names.uses)
        self._forget(changed)

    def _for(self, node: ast.For) -> None:
        for bound in node.range:
            value = self._expressions.value(bound)
            if value != UNKNOWN and not (isinstance(value, Number) and value.kind == "int"):
                what = f"a range up to {show(value)}"
                self._sink.report(NotHostCode(at=bound.span, what=what))
        changed = _assigned(node.body, self._names.uses)
        self._forget(changed)
        self._declare(node.variable, Number(kind="int"))
        self.statements(node.body)
        self._forget(changed)

    def _forget(self, symbols: Sequence[Symbol]) -> None:
        """After code that may have run or not: values and lengths may have changed."""
        for symbol in symbols:
            if symbol in self._variables:
                self._variables[symbol] = forgotten(self._variables[symbol])


def _assigned_value(operator: str, before: HostValue, value: HostValue) -> HostValue | Complaint:
    """What a variable is after `x = e` or `x += e`; its type stays."""
    after = combined(operator, before, value) if operator else value
    if isinstance(after, Complaint):
        return after
    if UNKNOWN in (before, after):
        return UNKNOWN
    if isinstance(before, Array) and isinstance(after, Array):
        fits = before.scalar is after.scalar and len(before.shape) == len(after.shape)
    elif isinstance(before, Array):
        fits = not before.shape and not isinstance(combined("==", before, after), Complaint)
        after = before
    else:
        fits = _kind(before) == _kind(after)
    if fits:
        return after
    return Complaint(
        kind="types",
        what=f"a variable of {show(before)} gets {show(after)}",
        advice="declare another variable: `name := ..`",
    )


def _kind(value: HostValue) -> str:
    return value.kind if isinstance(value, Number) else "array"


def _assigned(
    body: Sequence[ast.Statement],
    uses: Mapping[int, Symbol],
) -> list[Symbol]:
    """The variables that statements assign, at any depth."""
    found: list[Symbol] = []
    for node in body:
        match node:
            case ast.Assign(target=ast.Reference(id=id)) if id in uses:
                found.append(uses[id])
            case ast.If(body=inner, otherwise=otherwise):
                found += _assigned((*inner, *otherwise), uses)
            case ast.For(body=inner):
                found += _assigned(inner, uses)
            case _:
                pass
    return found


def _word(node: ast.Statement) -> str:
    """How a statement is called that is no host code."""
    match node:
        case ast.Declare():
            return "name: type"
        case ast.DeclareSeveral() | ast.AssignSeveral():
            return "a, b = .."
        case ast.ConstantDeclaration():
            return "const"
        case ast.For(mode=mode) if mode:
            return f"{mode} for"
        case ast.If():
            return "static if"
        case ast.Assert():
            return "static assert"
        case _:
            return type(node).__name__.lower()


def _place(node: ast.Statement) -> Span:
    header: Span = getattr(node, "header", node.span)
    return header

"""Names inside one declaration: local scopes, and what each reference means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeGuard

from prismc.checker.names.errors import DuplicateName, HidesVariable, UnknownName
from prismc.checker.names.scopes import TopLevel, require_member
from prismc.checker.names.symbols import BUILTINS, HOST_BUILTINS, Symbol, SymbolKind
from prismc.checker.names.unknown import Scope, Unknown, UnknownNames
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.diagnostics.suggest import did_you_mean
from prismc.frontend import ast

# Attributes whose arguments are ordinary expressions; those of `effects` are words and names.
_ORDINARY_ATTRIBUTES = ("requires", "launch", "assume")
_NAMING_EFFECTS = ("reads", "writes", "scope", "syncs")


class BodyResolver:
    """Walks one top-level declaration and enters what its names refer to in `uses`."""

    def __init__(
        self,
        level: TopLevel,
        levels: dict[str, TopLevel],
        uses: dict[int, Symbol],
        sink: Sink,
        used: Callable[[Symbol], None],
    ) -> None:
        self._level = level
        self._levels = levels
        self._uses = uses
        self._sink = sink
        self._used = used
        self._builtins = BUILTINS
        self._scopes: list[Scope] = []
        self._ended: Scope = {}  # the names of blocks that have ended, the last of each name
        self._unknown: list[Unknown] = []
        self._assigned: set[int] = set()  # ids of nodes that stand left of `=`

    # ------------------------------------------------------------------ declarations

    def declaration(self, node: ast.Declaration) -> None:
        """Walk one declaration; its unknown names are reported at the end."""
        match node:
            case ast.Constant(type=type_, value=value):
                self._expressions((type_, value))
            case ast.Export(value=value):
                self._expression(value)
            case ast.Function() | ast.Kernel():
                self._function(node)
            case ast.Test(body=body):
                self._builtins = HOST_BUILTINS
                self._scope(body)
            case _:
                pass
        # After the walk, since a name may turn out to be declared further down.
        UnknownNames(self._level, self._sink, self._builtins, self._assigned).report(self._unknown)

    def _function(self, node: ast.Function | ast.Kernel) -> None:
        """Generics, parameters and the body's own names share one scope."""
        self._scopes.append({})
        for generic in node.generics:
            self._declare(generic.name, SymbolKind.GENERIC, generic)
        for parameter in node.parameters:
            self._declare(parameter.name, SymbolKind.PARAMETER, parameter)
        for generic in node.generics:
            self._kind(generic.kind)
        for attribute in node.attributes:
            self._attribute(attribute)
        for parameter in node.parameters:
            self._expressions((parameter.type, _stated(parameter.at)))
        for result in node.results if isinstance(node, ast.Function) else ():
            self._expressions((result.type, _stated(result.at)))
        self._statements(node.body)
        self._leave()

    def _kind(self, kind: ast.Expression) -> None:
        """`type`, `int`, `bool` and `perspective` are words here; a `fn(..)` names types."""
        if isinstance(kind, ast.FunctionTypeExpression):
            self._expression(kind)

    def _attribute(self, attribute: ast.Attribute) -> None:
        if attribute.name.text in _ORDINARY_ATTRIBUTES:
            self._expressions(attribute.arguments)
            self._expressions(argument.value for argument in attribute.named)
            return
        for effect in attribute.arguments:
            if isinstance(effect, ast.Call) and isinstance(effect.callee, ast.Reference):
                if effect.callee.name in _NAMING_EFFECTS:
                    self._expressions(effect.arguments)
                self._expressions(argument.value for argument in effect.named)

    # ------------------------------------------------------------------ scopes

    def _leave(self) -> None:
        """The innermost scope ends."""
        self._ended.update(self._scopes.pop())

    def _declare(self, name: ast.Name, kind: SymbolKind, node: ast.Node) -> None:
        symbol = Symbol(
            name=name.text, kind=kind, module=self._level.module.name, span=name.span, node=node
        )
        self._level.declared[name.id] = symbol
        first = self._scopes[-1].get(name.text)
        if first is None:
            self._scopes[-1][name.text] = symbol
            return
        note = Related(at=first.span, message=f"the {first.kind.value} `{name.text}` is here")
        self._sink.report(DuplicateName(at=name.span, name=name.text, related=(note,)))

    def _declare_local(
        self, name: ast.Name, node: ast.Node, kind: SymbolKind = SymbolKind.LOCAL
    ) -> None:
        """A declaration statement; one that hides an outer local is most often a slip."""
        for scope in self._scopes[-2::-1]:
            hidden = scope.get(name.text)
            if hidden is not None and name.text not in self._scopes[-1]:
                note = Related(at=hidden.span, message=f"the outer {hidden.kind.value} is here")
                self._sink.report(HidesVariable(at=name.span, name=name.text, related=(note,)))
                break
        self._declare(name, kind, node)

    def _scope(self, body: tuple[ast.Statement, ...]) -> None:
        self._scopes.append({})
        self._statements(body)
        self._leave()

    def _scope_with(
        self,
        names: Iterable[tuple[ast.Name, SymbolKind]],
        node: ast.Node,
        body: tuple[ast.Statement, ...],
    ) -> None:
        self._scopes.append({})
        for name, kind in names:
            self._declare(name, kind, node)
        self._statements(body)
        self._leave()

    # ------------------------------------------------------------------ statements

    def _statements(self, body: tuple[ast.Statement, ...]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.Statement) -> None:
        match node:
            case ast.Declare(name=name, type=type_, at=at, value=value):
                self._expressions((type_, _stated(at), value))
                self._declare_local(name, node)
            case ast.DeclareSeveral(names=names, value=value):
                self._expression(value)
                for name in names:
                    self._declare_local(name, node)
            case ast.ConstantDeclaration(name=name, type=type_, value=value):
                self._expressions((type_, value))
                self._declare_local(name, node, SymbolKind.CONSTANT)
            case ast.Shared(name=name, type=type_, at=at, align=align, layout=layout):
                self._expressions((type_, _stated(at), align, layout))
                self._declare_local(name, node)
            case ast.Assign(target=target, value=value):
                self._assigned.add(target.id)
                self._expressions((target, value))
            case ast.AssignSeveral(targets=targets, values=values):
                self._assigned.update(target.id for target in targets)
                self._expressions((*targets, *values))
            case ast.ExpressionStatement(value=value):
                self._expression(value)
            case ast.Return(values=values):
                self._expressions(values)
            case ast.Assert(condition=condition):
                self._expression(condition)
            case _:
                self._compound(node)

    def _compound(self, node: ast.Statement) -> None:
        match node:
            case ast.If(condition=condition, body=body, otherwise=otherwise):
                self._expression(condition)
                self._scope(body)
                self._scope(otherwise)
            case ast.While(condition=condition, body=body):
                self._expression(condition)
                self._scope(body)
            case ast.For(variable=variable, range=range_, body=body):
                self._expressions(range_)
                self._scope_with([(variable, SymbolKind.LOOP)], node, body)
            case ast.Group(perspective=perspective, body=body):
                self._expression(perspective)
                self._scope(body)
            case ast.First(perspective=perspective, body=body):
                self._expression(perspective)
                self._scope(body)
            case ast.Split(cases=cases):
                for case in cases:
                    self._expression(case.size)
                    self._scope(case.body)
            case ast.Partition() | ast.Claim() | ast.Async():
                self._narrow(node)
            case ast.Pipeline():
                self._pipeline(node)
            case ast.Finish(counter=counter, body=body):
                self._expression(counter)
                self._scope(body)
            case ast.Unsafe(body=body):
                self._scope(body)
            case _:
                pass

    def _narrow(self, node: ast.Partition | ast.Claim | ast.Async) -> None:
        """All pairs are evaluated before the new names begin."""
        for pair in node.pairs:
            self._expressions((pair.pointer, _stated(pair.at), *pair.offset))
            if pair.function is not None:
                self._scopes.append({})
                self._declare(pair.function.parameter, SymbolKind.LOCAL, pair.function)
                self._expression(pair.function.body)
                self._leave()
        names = [(pair.name, SymbolKind.LOCAL) for pair in node.pairs]
        self._scope_with(names, node, node.body)

    def _pipeline(self, node: ast.Pipeline) -> None:
        self._expressions(node.range)
        for ring in node.rings:
            reference = ast.Reference(
                id=ring.pointer.id, span=ring.pointer.span, name=ring.pointer.text
            )
            self._expression(reference)
        names = [(node.variable, SymbolKind.LOOP)]
        names += [(ring.name, SymbolKind.LOCAL) for ring in node.rings]
        self._scopes.append({})
        for name, kind in names:
            self._declare(name, kind, node)
        self._scope(node.produce)
        self._scope(node.consume)
        self._leave()

    # ------------------------------------------------------------------ expressions

    def _expressions(self, nodes: Iterable[ast.Expression | None]) -> None:
        for node in nodes:
            if node is not None:
                self._expression(node)

    def _expression(self, node: ast.Expression) -> None:
        if isinstance(node, ast.Reference):
            self._reference(node)
        elif isinstance(node, ast.Member):
            self._member(node)
        elif isinstance(node, ast.Call) and self._is_host_call(node.callee):
            self._uses[node.callee.id] = HOST_BUILTINS[node.callee.name]
            self._expressions(_parts(node)[1:])
        else:
            self._expressions(_parts(node))

    def _reference(self, node: ast.Reference) -> None:
        symbol = self._find(node.name)
        if symbol is None:
            ended = self._ended.get(node.name)
            self._unknown.append(Unknown(node, tuple(self._scopes), ended))
            return
        self._uses[node.id] = symbol
        self._used(symbol)

    def _is_host_call(self, callee: ast.Expression) -> TypeGuard[ast.Reference]:
        """Whether a call in a test is that of a host function: the file's own functions run on the
        device, and its kernels are launched, so that none of them is meant."""
        return (
            self._builtins is HOST_BUILTINS
            and isinstance(callee, ast.Reference)
            and callee.name in HOST_BUILTINS
            and all(callee.name not in scope for scope in self._scopes)
        )

    def _find(self, name: str) -> Symbol | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return self._level.names.get(name) or self._builtins.get(name)

    def _member(self, node: ast.Member) -> None:
        """A component of a value, or a name of an imported module."""
        chain = list(_chain(node))
        base = chain[0]
        self._expression(base)
        if not isinstance(base, ast.Reference) or base.id not in self._uses:
            return
        if self._uses[base.id].kind is SymbolKind.MODULE:
            self._module_member([m for m in chain[1:] if isinstance(m, ast.Member)], base)

    def _module_member(self, members: list[ast.Member], base: ast.Reference) -> None:
        """Give the member after the longest path of a module the symbol it names there."""
        words = (base.name, *(member.name.text for member in members))
        for length in range(len(words), 0, -1):
            if words[:length] in self._level.paths:
                break
        else:
            self._report_no_module(members[0], base)
            return
        for member in members[: length - 1]:
            self._uses[member.id] = self._uses[base.id]
        if length == len(words):
            return
        member, target = members[length - 1], self._level.paths[words[:length]]
        if target is not None:
            name = member.name
            symbol = require_member(self._levels[target], name.text, name.span, self._sink)
            if symbol is not None:
                self._uses[member.id] = symbol
                self._used(symbol)

    def _report_no_module(self, member: ast.Member, base: ast.Reference) -> None:
        known = [".".join(path) for path in self._level.paths if path[0] == base.name]
        path = f"{base.name}.{member.name.text}"
        advice = did_you_mean(path, known, f"import it: `import {path}`")
        self._sink.report(UnknownName(at=member.name.span, name=member.name.text, advice=advice))


def _stated(at: ast.At | None) -> ast.Expression | None:
    return None if at is None else at.perspective


def _chain(node: ast.Expression) -> Iterator[ast.Expression]:
    """`a.b.c` from its base outwards."""
    if isinstance(node, ast.Member):
        yield from _chain(node.value)
    yield node


def _parts(node: ast.Expression) -> tuple[ast.Expression | None, ...]:
    """The expressions directly inside one that declares no names."""
    match node:
        case ast.Binary(left=left, right=right):
            return (left, right)
        case ast.Unary(operand=operand):
            return (operand,)
        case ast.Call(callee=callee, arguments=arguments, named=named):
            return (callee, *arguments, *(argument.value for argument in named))
        case ast.Index(value=value, arguments=arguments, named=named):
            return (value, *arguments, *(argument.value for argument in named))
        case ast.Conditional(value=value, condition=condition, otherwise=otherwise):
            return (value, condition, otherwise)
        case ast.PerspectiveLiteral(size=size):
            return (size,)
        case ast.PointerTypeExpression(element=element):
            return (element,)
        case ast.VectorTypeExpression(element=element, lanes=lanes):
            return (element, lanes)
        case ast.FunctionTypeExpression(parameters=parameters, result=result):
            return (*parameters, result)
        case ast.TensorMapTypeExpression(box=box, layout=layout):
            return (box, layout)
        case ast.QualifiedType(type=type_):
            return (type_,)
        case _:
            return ()

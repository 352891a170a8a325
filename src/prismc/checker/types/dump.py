"""The typed tree as text, close to the source: `prismc dump --after types`.

Each line starts with the source line it comes from. Variables show their type and perspective where
they are declared; literals, generics, slots, shapes and static constructs are gone.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.types import typed
from prismc.checker.types.model import ScalarType
from prismc.checker.types.numbers import Number
from prismc.checker.types.show import show
from prismc.hardware.groups import Perspective
from prismc.source.files import Files

Lines = Iterator[str]

_INDENT = "    "


def dump_program(program: typed.Program, files: Files) -> str:
    """All instances, callees first, those that were refused marked so."""
    parts = [
        "\n".join(_Dump(files).body(body, symbol in program.refused))
        for symbol, body in program.bodies.items()
    ]
    return "\n\n".join(parts) + "\n" if parts else ""


class _Dump:
    """Prints one body."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def body(self, body: typed.Body, is_refused: bool) -> Lines:
        """One instance with its signature."""
        instance = body.instance
        bound = instance.bound
        entries = [f"grid[{bound.grid}]"] if bound.grid else []
        entries += [f"block[{bound.block}]"] if bound.block else []
        entries += [f"thread[{bound.thread}]"]
        threads = f", {instance.threads} threads a block" if instance.threads else ""
        refused = ", refused" if is_refused else ""
        yield f"{instance.kind.value} {instance.symbol}: {' '.join(entries)}{threads}{refused}"
        for name, value in instance.generics:
            yield f"{_INDENT}generic {name} = {value}"
        for parameter in instance.parameters:
            yield f"{_INDENT}parameter {declaration(parameter)}"
        for result in instance.results:
            yield f"{_INDENT}result {show(result.type)} @ {result.perspective}"
        yield from self.statements(body.statements, 1)

    def statements(self, statements: tuple[typed.Statement, ...], depth: int) -> Lines:
        for statement in statements:
            yield from self.statement(statement, depth)

    def line(self, node: typed.Typed, depth: int, text: str) -> str:
        return f"{_INDENT * depth}{self._files.position(node.span).line}: {text}"

    def statement(self, node: typed.Statement, depth: int) -> Lines:
        match node:
            case typed.Block(body=body):
                yield from self.statements(body, depth)
            case typed.If(condition=condition, body=body, otherwise=otherwise):
                yield self.line(node, depth, f"if {text(condition)}:")
                yield from self.statements(body, depth + 1)
                if otherwise:
                    yield self.line(node, depth, "else:")
                    yield from self.statements(otherwise, depth + 1)
            case typed.Split(arms=arms, keyword=keyword):
                yield self.line(node, depth, f"{keyword}, {node.available} available:")
                for arm in arms:
                    yield self.line(arm, depth + 1, f"{arm.to} from {arm.offset}:")
                    yield from self.statements(arm.body, depth + 2)
            case (
                typed.While(body=body)
                | typed.For(body=body)
                | typed.Group(body=body)
                | typed.Finish(body=body)
            ):
                yield self.line(node, depth, header(node))
                yield from self.statements(body, depth + 1)
            case typed.Narrow(kind=kind, views=views, body=body):
                shown = ", ".join(view(v) for v in views)
                yield self.line(node, depth, f"{kind.value} {shown}:")
                yield from self.statements(body, depth + 1)
            case _:
                yield self.line(node, depth, simple(node))


def header(node: typed.Statement) -> str:
    """The first line of a loop or a group."""
    match node:
        case typed.While(condition=condition):
            return f"while {text(condition)}:"
        case typed.For(start=start, stop=stop, step=step):
            unroll = "unroll " if node.unroll else ""
            bounds = ", ".join(map(text, (start, stop, step)))
            return f"{unroll}for {declaration(node.variable)} in range({bounds}):"
        case typed.Group(to=to):
            return f"group {to}:"
        case typed.Finish(counter=counter):
            return f"finish {text(counter)}:"
        case _:
            raise TypeError(f"no header for {node!r}")


def simple(node: typed.Statement) -> str:
    """A statement that holds no others."""
    match node:
        case typed.Declare(variable=variable, value=value):
            return declaration(variable) + (f" = {text(value)}" if value is not None else "")
        case typed.DeclareSeveral(variables=variables, call=call):
            return f"{', '.join(map(declaration, variables))} = {text(call)}"
        case typed.DeclareShared(variable=variable):
            return f"shared {declaration(variable)}"
        case typed.Assign(place=target, operator=operator, value=value):
            return f"{place(target)} {operator}= {text(value)}"
        case typed.AssignSeveral(places=places, values=values):
            return f"{', '.join(map(place, places))} = {', '.join(map(text, values))}"
        case typed.LoadInto(array=array, first=first, pointer=pointer, index=index):
            operands = ", ".join(map(text, (array, first, pointer, index)))
            return f"load_into[{node.lanes}]({operands})"
        case typed.Evaluate(call=call):
            return text(call)
        case typed.Return(values=values):
            return f"return {', '.join(map(text, values))}".rstrip()
        case typed.Break():
            return "break"
        case typed.Continue():
            return "continue"
        case typed.Assert(condition=condition):
            return f"assert {text(condition)}"
        case typed.Assume(condition=condition):
            return f"assume({text(condition)})"
        case typed.Print(arguments=arguments):
            return f"print({', '.join(map(text, arguments))})"
        case typed.AssumeDisjoint(variable=variable):
            return f"assume(disjoint({variable.name}))"
        case typed.CudaText():
            return f"cuda({node.text!r})"
        case typed.Asm():
            return assembly(node)
        case _:
            raise TypeError(f"no text for {node!r}")


def assembly(node: typed.Asm) -> str:
    """An `asm` with its operands in flat order."""
    written = "".join(f"${p}" if isinstance(p, int) else p for p in node.pieces)
    lists = (
        ("outs", [place(p) for p in node.outputs]),
        ("inouts", [place(p) for p in node.updates]),
        ("ins", [text(value) for value in node.inputs]),
    )
    shown = [f"{name}({', '.join(operands)})" for name, operands in lists if operands]
    return f"asm({', '.join([repr(written), *shown])})"


def declaration(variable: typed.Variable) -> str:
    """`name: type @ perspective`, with what is particular about the variable."""
    slots = f", {variable.slots} slots" if variable.slots else ""
    align = f" align {variable.alignment}" if variable.alignment else ""
    const = "const " if variable.is_const else ""
    type_ = show(variable.type)
    return f"{variable.name}: {const}{type_} @ {variable.perspective}{align}{slots}"


def view(node: typed.View) -> str:
    """One pair of a narrowing."""
    made = f"{text(node.source)} as {declaration(node.variable)}"
    if node.offset is not None:
        return f"{made} at {text(node.offset)}"
    if node.function is not None:
        return f"{made} by {node.function.parameter.name} => {text(node.function.body)}"
    return made


def place(node: typed.Place) -> str:
    """What is written."""
    match node:
        case typed.VariablePlace(variable=variable):
            return variable.name
        case typed.ElementPlace(array=base, index=index):
            return f"{text(base)}[{text(index)}]"
        case typed.MemoryPlace(pointer=pointer, index=index):
            return f"{text(pointer)}[{text(index)}]"
        case typed.ComponentPlace(vector=vector, lane=lane):
            return f"{place(vector)}.{'xyzw'[lane]}"
        case _:
            raise TypeError(f"no text for {node!r}")


def text(node: typed.Expression) -> str:
    """An expression with all its parentheses."""
    match node:
        case typed.Constant(value=value):
            return constant(node, value)
        case typed.Read(variable=variable):
            return variable.name
        case typed.Slot(variable=variable, index=index):
            return f"{variable.name}[{index}]"
        case typed.Unary(operator=operator, operand=operand):
            space = " " if operator == "not" else ""
            return f"({operator}{space}{text(operand)})"
        case typed.Binary(left=left, right=right) | typed.Logical(left=left, right=right):
            return f"({text(left)} {node.operator} {text(right)})"
        case typed.Conditional(value=value, condition=condition, otherwise=otherwise):
            return f"({text(value)} if {text(condition)} else {text(otherwise)})"
        case typed.Element(array=base, index=index) | typed.Load(pointer=base, index=index):
            return f"{text(base)}[{text(index)}]"
        case typed.Component(vector=vector, lane=lane):
            return f"{text(vector)}.{'xyzw'[lane]}"
        case typed.Refused():
            return "?"
        case _:
            return called(node)


_PRECEDENCE = {
    sign: level
    for level, signs in enumerate(
        (("or",), ("and",), ("not",), ("<", "<=", ">", ">=", "==", "!="), ("|",), ("^",), ("&",),
         ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
    )
    for sign in signs
}  # fmt: skip


def readable(node: typed.Expression, around: int = 0) -> str:
    """An expression with the parentheses that it needs, for messages."""
    match node:
        case typed.Binary(left=left, right=right) | typed.Logical(left=left, right=right):
            level = _PRECEDENCE[node.operator]
            shown = f"{readable(left, level)} {node.operator} {readable(right, level + 1)}"
        case typed.Unary(operator="not", operand=operand):
            level = _PRECEDENCE["not"]
            shown = f"not {readable(operand, level)}"
        case typed.Builtin(name=name, arguments=arguments):
            return f"{name}({', '.join(map(readable, arguments))})"
        case _:
            return text(node)
    return f"({shown})" if level < around else shown


def called(node: typed.Expression) -> str:
    """Expressions that read as calls."""
    match node:
        case typed.Convert(operand=operand):
            return f"{show(node.type)}({text(operand)})"
        case typed.Bits(operand=operand):
            return f"bits[{show(node.type)}]({text(operand)})"
        case typed.MakeVector(elements=elements):
            return f"{show(node.type)}({', '.join(map(text, elements))})"
        case typed.Builtin(name=name, arguments=arguments):
            return f"{name}({', '.join(map(text, arguments))})"
        case typed.Broadcast(operand=operand, to=to):
            return f"broadcast({text(operand)} to {to})"
        case typed.UnitIndex(of=of, within=within):
            return f"id({units(of)} in {within})"
        case typed.UnitCount(of=of, within=within):
            return f"count({of} in {within})"
        case typed.Address(kind=kind, pointer=pointer, index=index):
            given = [pointer] if index is None else [pointer, index]
            return f"{kind}({', '.join(map(text, given))})"
        case typed.Descriptor(pointer=pointer, index=index, swizzle=swizzle):
            return f"descriptor({text(pointer)}, {text(index)}, {swizzle.name})"
        case typed.Call(callee=callee, arguments=arguments):
            return f"{callee.symbol}({', '.join(map(text, arguments))})"
        case _:
            raise TypeError(f"no text for {node!r}")


def units(of: Perspective | None) -> str:
    """What an `id` counts, `?` where nothing says it."""
    return "?" if of is None else str(of)


def constant(node: typed.Constant, value: Number) -> str:
    """A number with its type where that is not the usual one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    usual = ("f32" if isinstance(value, float) else "i32", "bool")
    scalar = node.type.scalar.name if isinstance(node.type, ScalarType) else "?"
    return repr(value) if scalar in usual else f"{scalar}({value!r})"

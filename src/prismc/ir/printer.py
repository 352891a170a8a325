"""The IR as text. `parser.py` reads exactly this form back.

One operation stands on a line: its results with their types, its name, operands (lists in
brackets, `none` for one that is left out), attributes as `name=value`, then its regions, each under
the name of its field. Value names are unique in a function: the source name where there is one,
with a number behind it where there are several, and plain numbers otherwise.
"""

from __future__ import annotations

from prismc.ir.core import Function, Module, Op, Region, Role, Value
from prismc.source.span import Span

_INDENT = "  "


def print_module(module: Module, *, spans: bool = False) -> str:
    """The text of a module; with `spans`, each operation says where it comes from."""
    return "\n".join(print_function(function, spans=spans) for function in module.functions)


def print_function(function: Function, *, spans: bool = False) -> str:
    """The text of one function, ending with a line end."""
    return _FunctionPrinter(spans).function(function)


class ValueNames:
    """Unique printed names for the values of one function, in the order they are met."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()
        self._copies: dict[str, int] = {}
        self._unnamed = 0

    def define(self, value: Value) -> str:
        """Give `value` its name, once."""
        name = self._hinted(value.hint) if value.hint else self._numbered()
        self._taken.add(name)
        self._names[value] = name
        return name

    def __getitem__(self, value: Value) -> str:
        return self._names.get(value, "undefined")

    def _numbered(self) -> str:
        self._unnamed += 1
        return str(self._unnamed - 1)

    def _hinted(self, hint: str) -> str:
        name = hint
        while name in self._taken:
            self._copies[hint] = self._copies.get(hint, 0) + 1
            name = f"{hint}_{self._copies[hint]}"
        return name


class _FunctionPrinter:
    def __init__(self, spans: bool) -> None:
        self._spans = spans
        self._names = ValueNames()
        self._lines: list[str] = []

    def function(self, function: Function) -> str:
        word = "kernel" if function.is_kernel else "function"
        head = f"{word} @{function.symbol}{self._span(function.span)}"
        head += f"({self._definitions(function.parameters)})"
        if function.results:
            head += f" -> ({', '.join(map(str, function.results))})"
        self._lines.append(f"{head}{_launch_text(function)} {{")
        self._ops(function.body, 1)
        self._lines.append("}")
        return "\n".join(self._lines) + "\n"

    def _definitions(self, values: tuple[Value, ...]) -> str:
        return ", ".join(f"%{self._names.define(value)}: {value.type}" for value in values)

    def _span(self, span: Span) -> str:
        return f" !{quoted(span.file)} {span.start} {span.end} " if self._spans else ""

    def _ops(self, region: Region, depth: int) -> None:
        for op in region.ops:
            self._op(op, depth)

    def _op(self, op: Op, depth: int) -> None:
        operands = self._operands(op)
        defined = self._definitions(op.results)
        text = f"{defined} = {op.name}" if defined else op.name
        parts = [text + self._span(op.span).rstrip()]
        if operands:
            parts.append(", ".join(operands))
        parts += [f"{name}={literal(value)}" for name, value in op.attributes.items()]
        self._lines.append(_INDENT * depth + " ".join(parts))
        self._regions(op, depth)

    def _operands(self, op: Op) -> list[str]:
        texts: list[str] = []
        for name, role in op.roles.items():
            held = getattr(op, name)
            if role is Role.OPERANDS:
                texts.append(f"[{', '.join(self._use(value) for value in held)}]")
            elif role is Role.OPERAND or role is Role.OPTIONAL:
                texts.append("none" if held is None else self._use(held))
        return texts

    def _use(self, value: Value) -> str:
        return f"%{self._names[value]}"

    def _regions(self, op: Op, depth: int) -> None:
        names = [name for name, role in op.roles.items() if role is Role.REGION]
        for name, region in zip(names, op.regions, strict=True):
            head = f" {name}"
            if region.arguments:
                head += f" ({self._definitions(region.arguments)})"
            self._lines[-1] += head + " {"
            self._ops(region, depth + 1)
            self._lines.append(_INDENT * depth + "}")


def _launch_text(function: Function) -> str:
    launch = function.launch
    if launch is None:
        return ""
    facts: dict[str, object] = {
        "threads": launch.threads,
        "min_blocks": launch.min_blocks,
        "cluster": launch.cluster,
        "cooperative": launch.cooperative,
        "shared": function.shared,
        "alignment": function.alignment,
    }
    return "".join(f" {name}={literal(value)}" for name, value in facts.items())


def literal(value: object) -> str:
    """An attribute's text."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case tuple():
            return f"({', '.join(map(literal, value))})"
        case _:
            return repr(value)


def quoted(text: str) -> str:
    """A string literal in ASCII."""
    escaped = text.encode("unicode_escape").decode("ascii")
    return '"' + escaped.replace('"', '\\"') + '"'

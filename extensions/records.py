"""Rewrites modules for mypyc: each record class gets the `__init__` that its metaclass would make.

mypyc turns a class into a C structure only if it has no metaclass. `rewritten` therefore derives
records from `native.py` and writes out what `prismc.source.record` makes at run time: the names of
the fields, an `__init__` with keywords, comparison by fields for values, properties that fill in
what was deferred. Class variables that a class sets without saying so are annotated as their base
does. The result is ordinary Python: it runs uncompiled too, and is what tracebacks show.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import NamedTuple

from modules import BASES, Origin, Source, Sources, Written, lineage

NATIVE = "prismc.source.native"
PROBLEMS = "prismc.diagnostics"  # told once in a run, and their words are class variables

# Nothing refers weakly to a C structure: a class that asks for it has compiled methods only.
_WEAK = "__weakref__"
_NEW = "super().__new__"  # which mypyc knows of structures only

# mypyc fills slots from methods only: what a class takes from `object` is written out.
_TAKEN = {
    "__eq__ = object.__eq__": (
        "def __eq__(self, other: object) -> bool:",
        "    return self is other",
    ),
    "__hash__ = object.__hash__": (
        "def __hash__(self) -> int:",
        "    return object.__hash__(self)",
    ),
}
# The core of the IR; what an operation's readers give, and how they read a field of which type. The
# results of all operations are none of the operands.
CORE = "prismc.ir.core"
_READERS = {
    "operands": (
        "Value",
        {
            "Value": "self.{0},",
            "Value | None": "*(() if self.{0} is None else (self.{0},)),",
            "tuple[Value, ...]": "*self.{0},",
        },
    ),
    "regions": ("Region", {"Region": "self.{0},"}),
}

# Types that `boxed.py` hides from mypyc, which then finds them among a module's own names only.
BOXED = ("float", "int")
_DEFERRED = "__slots__ = ('deferred',)"  # what a class says whose fields are filled in when read


class Edit(NamedTuple):
    """A change of text, from line and column (bytes, both from 0) up to another place."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def tells_problems(source: Source, sources: Sources) -> bool:
    """Whether a module has diagnostics, whose words are set in every way that Python has."""
    return any(
        ancestor.name.startswith(PROBLEMS)
        for cls in source.classes.values()
        for ancestor, _ in lineage(source, cls, sources)
    )


def rewritten(source: Source, sources: Sources) -> str:
    """The text of a module as mypyc gets it."""
    edits = [*_membership_edits(source), *_weak_edits(source)]
    for cls in source.classes.values():
        if line := lineage(source, cls, sources):
            edits += _kind(cls, line)(source, line).edits()
    text = _edited(source.text, edits).replace(f"from {BASES} import", f"from {NATIVE} import")
    future = "from __future__ import annotations\n"
    imports = "".join(
        f"from {origin.module} import {origin.name} as {name}\n"
        if origin.name
        else f"import {origin.module} as {name}\n"
        for origin, name in source.imports.items()
    )
    imports += f"from builtins import {', '.join(BOXED)}\n"
    return text.replace(future, future + imports, 1)


def _membership_edits(source: Source) -> Iterator[Edit]:
    """Tuples with a star where mypyc 2.4 knows none: `x in (*a, b)` and `x, y = (*a, b)`. Ends the
    program at a name with a star in a pattern, which would be bound to a tuple."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.MatchStar) and node.name:
            sys.exit(f"{source.name}:{node.lineno}: `*{node.name}` in a pattern gives a tuple")
        if isinstance(node, ast.Compare):
            found = [
                right
                for sign, right in zip(node.ops, node.comparators, strict=True)
                if isinstance(sign, ast.In | ast.NotIn)
            ]
        else:
            found = [node.value] if isinstance(node, ast.Assign) else []
        for one in found:
            if isinstance(one, ast.Tuple) and any(isinstance(e, ast.Starred) for e in one.elts):
                yield _replaced(one, f"tuple({ast.unparse(one)})")


def _weak_edits(source: Source) -> Iterator[Edit]:
    """Classes whose slots include the list of weak references stay Python's, and make instances by
    a function that mypyc does not look into."""
    for cls in source.classes.values():
        if any(isinstance(one, ast.Constant) and one.value == _WEAK for one in ast.walk(cls)):
            start = cls.lineno - 1, 0
            yield Edit(start, start, f"@{source.name_of(Origin(NATIVE, 'kept'))}\n")
            made = source.name_of(Origin(NATIVE, "made"))
            for node in ast.walk(cls):
                if isinstance(node, ast.Attribute) and ast.unparse(node) == _NEW:
                    yield _replaced(node, made)


def _replaced(node: ast.expr | ast.stmt, text: str) -> Edit:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Edit(
        (node.lineno - 1, node.col_offset), (node.end_lineno - 1, node.end_col_offset), text
    )


def _edited(text: str, edits: list[Edit]) -> str:
    lines = text.encode().split(b"\n")
    for (first, start), (last, end), new in sorted(edits, reverse=True):
        lines[first : last + 1] = [lines[first][:start] + new.encode() + lines[last][end:]]
    return b"\n".join(lines).decode()


def _kind(cls: ast.ClassDef, line: list[tuple[Source, ast.ClassDef]]) -> type[_Fields]:
    if any(ast.unparse(statement) == _DEFERRED for statement in cls.body):
        return _DeferredFields
    if any(ancestor.name == "Op" and owner.name == CORE for owner, ancestor in line):
        return _OperationFields
    return _Fields


class _Fields:
    """What a record class has in all, its bases' part included, and the text that says so."""

    def __init__(self, source: Source, line: list[tuple[Source, ast.ClassDef]]) -> None:
        self.source = source
        self.cls = line[0][1]
        self.is_value = line[-1][1].name == "Value"
        self.fields: dict[str, Written] = {}
        self.defaults: dict[str, Written] = {}
        self.class_variables: dict[str, Written] = {}
        for owner, cls in reversed(line[:-1]):
            for statement in cls.body:
                if isinstance(statement, ast.AnnAssign):
                    self._declare(owner, statement)
                elif isinstance(statement, ast.Assign):
                    for name, value in _pairs(statement):
                        if name in self.fields:
                            self.defaults[name] = Written(owner, value)

    def _declare(self, owner: Source, statement: ast.AnnAssign) -> None:
        name = ast.unparse(statement.target)
        if "ClassVar" in ast.unparse(statement.annotation):
            self.class_variables[name] = Written(owner, statement.annotation)
            return
        self.fields[name] = Written(owner, statement.annotation)
        if statement.value is not None:
            self.defaults[name] = Written(owner, statement.value)

    def edits(self) -> Iterator[Edit]:
        """Defaults leave the class body, class variables say that they are, methods are added."""
        for statement in self.cls.body:
            if isinstance(statement, ast.AnnAssign):
                name = ast.unparse(statement.target)
                if name not in self.class_variables:
                    own = self._field(name, ast.unparse(statement.annotation))
                    yield _replaced(statement, own)
            elif isinstance(statement, ast.Assign | ast.If):
                yield _replaced(statement, "\n    ".join(self._stated(statement)) or "pass")
        last = self.cls.body[-1]
        end = (last.end_lineno or 0) - 1, last.end_col_offset or 0
        yield Edit(end, end, "\n" + "\n".join(f"    {line}" for line in self._added()))

    def _field(self, name: str, annotation: str) -> str:
        return f"{name}: {annotation}"

    def _stated(self, statement: ast.Assign | ast.If) -> Iterator[str]:
        assert isinstance(statement, ast.Assign)
        if methods := _TAKEN.get(ast.unparse(statement)):
            yield from methods
            return
        for name, value in _pairs(statement):
            kind = self.class_variables.get(name)
            if name not in self.fields:
                annotation = f": {kind.seen_from(self.source)}" if kind else ""
                yield f"{name}{annotation} = {ast.unparse(value)}"

    def _added(self) -> Iterator[str]:
        """The lines of what the metaclass would make."""
        own = {name: ast.unparse(self.fields[name].expression) for name in self._own()}
        class_variable = self.source.name_of(Origin("typing", "ClassVar"))
        yield f"__fields__: {class_variable}[tuple[str, ...]] = {tuple(self.fields)!r}"
        yield f"__annotated__: {class_variable}[dict[str, str]] = {own!r}"
        yield f"def __init__({', '.join(self._parameters())}) -> None:"
        yield from self._filled() or ["    pass"]
        if self.is_value:
            yield from self._compared()

    def _own(self) -> list[str]:
        """The fields that the class adds to those of its base."""
        stated = [
            ast.unparse(one.target) for one in self.cls.body if isinstance(one, ast.AnnAssign)
        ]
        return [name for name in stated if name in self.fields]

    def _parameters(self) -> Iterator[str]:
        yield "self"
        if self.fields:
            yield "*"
        for name, annotation in self.fields.items():
            default = self.defaults.get(name)
            value = f" = {default.seen_from(self.source)}" if default else ""
            yield f"{name}: {annotation.seen_from(self.source)}{value}"

    def _filled(self) -> list[str]:
        return [f"    self.{name} = {name}" for name in self.fields]

    def _compared(self) -> Iterator[str]:
        methods = {one.name for one in self.cls.body if isinstance(one, ast.FunctionDef)}
        stated = {ast.unparse(one) for one in self.cls.body if isinstance(one, ast.Assign)}
        methods |= {one.partition(" ")[0] for one in stated if one in _TAKEN}
        if "__eq__" not in methods:
            compared = " and ".join(f"self.{one} == other.{one}" for one in self.fields)
            yield "def __eq__(self, other: object) -> bool:"
            yield "    if self is other:"
            yield "        return True"
            yield f"    if type(other) is not {self.cls.name}:"
            yield "        return False"
            yield f"    assert isinstance(other, {self.cls.name})"
            yield f"    return {compared or True}"
        if "__hash__" not in methods:
            content = ", ".join((repr(self.cls.name), *(f"self.{one}" for one in self.fields)))
            yield "def __hash__(self) -> int:"
            yield f"    return hash(({content},))"


class _OperationFields(_Fields):
    """An operation of the IR: `Op` makes at run time what reads its operands and its regions."""

    def _stated(self, statement: ast.Assign | ast.If) -> Iterator[str]:
        if isinstance(statement, ast.Assign):  # the other declares the readers
            yield from super()._stated(statement)

    def _added(self) -> Iterator[str]:
        yield from super()._added()
        for reader, (kind, reads) in _READERS.items():
            fields = {name: ast.unparse(one.expression) for name, one in self.fields.items()}
            fields.pop("results")
            parts = [reads[text].format(name) for name, text in fields.items() if text in reads]
            is_list = len(parts) == 1 and parts[0].startswith("*self")
            yield "@property"
            yield f"def {reader}(self) -> tuple[{self.source.name_of(Origin(CORE, kind))}, ...]:"
            yield f"    return {parts[0][1:-1] if is_list else '(' + ' '.join(parts) + ')'}"


class _DeferredFields(_Fields):
    """A record some of whose fields are filled in when one of them is read: they are properties."""

    def _field(self, name: str, annotation: str) -> str:
        return f"read_{name}: object"

    def _stated(self, statement: ast.Assign | ast.If) -> Iterator[str]:
        yield from ()

    def _parameters(self) -> Iterator[str]:
        own = self._own()
        yield from ("self", "*")
        for name, annotation in self.fields.items():
            if name not in own:
                yield f"{name}: {annotation.seen_from(self.source)}"
        yield from (f"{name}: object = None" for name in own)
        yield f"deferred: {self.source.name_of(Origin('typing', 'Any'))} = None"

    def _filled(self) -> list[str]:
        own = self._own()
        kept = [f"    self.{'read_' * (name in own)}{name} = {name}" for name in self.fields]
        return [*kept, "    self.deferred = deferred"]

    def _added(self) -> Iterator[str]:
        yield from super()._added()
        cast = self.source.name_of(Origin("typing", "cast"))
        for name in self._own():
            annotation = ast.unparse(self.fields[name].expression)
            yield "@property"
            yield f"def {name}(self) -> {annotation}:"
            yield f"    if self.read_{name} is None:"
            yield "        self.deferred(self)"
            yield f"    return {cast}({annotation!r}, self.read_{name})"


def _pairs(statement: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """Names and values of an assignment in a class body: `a = 1` or `a, b = 1, 2`."""
    for target in statement.targets:
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            for one, value in zip(target.elts, statement.value.elts, strict=True):
                yield ast.unparse(one), value
        else:
            yield ast.unparse(target), statement.value

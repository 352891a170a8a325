"""Names inside a function: registers, local variables and labels, block by block (PTX ISA 5.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prismc.emulator.ptx.tree import PtxError, Variable

_NUMBERED = re.compile(r"(.*?)(\d+)")


class _Scope:
    """One `{ }`."""

    def __init__(self, parent: _Scope | None) -> None:
        self.parent = parent
        self.registers: dict[str, int] = {}
        self.families: dict[str, tuple[str, int]] = {}
        self.variables: dict[str, str] = {}
        self.labels: dict[str, int] = {}

    def outward(self) -> Iterator[_Scope]:
        scope: _Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


class FunctionNames:
    """The names of one function. Registers and labels become numbers, in the order met.

    A name of an inner block hides the outer one. Labels may be used before they stand.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.scope = _Scope(None)
        self.register_types: list[str] = []
        self.register_names: list[str] = []
        self.variables: list[Variable] = []
        self._uses: list[tuple[_Scope, str, int]] = []
        self._use_numbers: dict[tuple[int, str], int] = {}
        self._line = 0

    def at_line(self, line: int) -> None:
        """Tells which line the names that follow stand on."""
        self._line = line

    def open(self) -> None:
        self.scope = _Scope(self.scope)

    def close(self) -> None:
        if self.scope.parent is None:
            raise PtxError("unmatched `}`", self._line, self.file)
        self.scope = self.scope.parent

    def declare_register(self, name: str, type_name: str) -> None:
        self.scope.registers[name] = self._new_register(name, type_name)

    def declare_family(self, prefix: str, type_name: str, count: int) -> None:
        """`.reg .b32 %r<9>`: the registers %r0 to %r8, made when they are met."""
        self.scope.families[prefix] = (type_name, count)

    def _new_register(self, name: str, type_name: str) -> int:
        self.register_types.append(type_name)
        self.register_names.append(name)
        return len(self.register_types) - 1

    def register(self, name: str) -> int | None:
        """The number of a register, None if no register has this name."""
        for scope in self.scope.outward():
            known = scope.registers.get(name)
            if known is not None:
                return known
            made = self._from_family(scope, name)
            if made is not None:
                return made
        return None

    def _from_family(self, scope: _Scope, name: str) -> int | None:
        match = _NUMBERED.fullmatch(name)
        if match is None or match[1] not in scope.families:
            return None
        type_name, count = scope.families[match[1]]
        if int(match[2]) >= count:
            return None
        scope.registers[name] = self._new_register(name, type_name)
        return scope.registers[name]

    def declare_variable(self, variable: Variable) -> None:
        """A variable of the current block; hidden outer ones keep their own storage."""
        unique = variable.name
        taken = {known.name for known in self.variables}
        while unique in taken:
            unique += "'"
        self.scope.variables[variable.name] = unique
        values = {field: getattr(variable, field) for field in variable.__fields__}
        self.variables.append(Variable(**(values | {"name": unique})))

    def variable(self, name: str) -> str:
        """The unique name of a variable of this function; other names stay as they are."""
        for scope in self.scope.outward():
            if name in scope.variables:
                return scope.variables[name]
        return name

    def label(self, name: str) -> int:
        """A number for the use of a label in the current block."""
        key = (id(self.scope), name)
        if key not in self._use_numbers:
            self._use_numbers[key] = len(self._uses)
            self._uses.append((self.scope, name, self._line))
        return self._use_numbers[key]

    def define_label(self, name: str, index: int) -> None:
        if name in self.scope.labels:
            raise PtxError(f"label `{name}` stands twice", self._line, self.file)
        self.scope.labels[name] = index

    def label_targets(self) -> tuple[int, ...]:
        """For each label number the index of the instruction it stands before."""
        return tuple(self._target(*use) for use in self._uses)

    def _target(self, scope: _Scope, name: str, line: int) -> int:
        for candidate in scope.outward():
            if name in candidate.labels:
                return candidate.labels[name]
        raise PtxError(f"no label `{name}`", line, self.file)

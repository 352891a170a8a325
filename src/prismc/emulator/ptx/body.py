"""The body of a function: declarations, labels, instructions (PTX ISA 4.3, 8, 11)."""

from __future__ import annotations

from prismc.emulator.ptx.cursor import Cursor
from prismc.emulator.ptx.operands import OperandParser
from prismc.emulator.ptx.scopes import FunctionNames
from prismc.emulator.ptx.tree import Guard, Instruction, LabelName, Location, Operand, Register
from prismc.emulator.ptx.variables import SPACES, is_scalar_type, parse_variables
from prismc.emulator.semantics.registry import parse_form

_BRANCHES = frozenset({"bra", "brx"})


class BodyParser:
    """Parses one `{ ... }`; without a call of `parse` it stands for a mere declaration."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.names = FunctionNames(cursor.name)
        self.tables: list[tuple[int, ...]] = []
        self._table_names: dict[str, int] = {}
        self._found: list[Instruction] | None = None
        self._location: Location | None = None
        self._seen: dict[tuple[int, int, int], Location] = {}

    def instructions(self) -> tuple[Instruction, ...] | None:
        return None if self._found is None else tuple(self._found)

    def parse(self) -> None:
        cursor = self.cursor
        self._found = []
        cursor.expect("{")
        depth = 1
        while depth:
            self.names.at_line(cursor.line)
            if cursor.accept("{"):
                self.names.open()
                depth += 1
            elif cursor.accept("}"):
                depth -= 1
                if depth:
                    self.names.close()
            else:
                self._statement(self._found)

    def _statement(self, found: list[Instruction]) -> None:
        cursor = self.cursor
        if cursor.text == "@":
            self._instruction(found)
        elif cursor.token.kind != "word":
            cursor.fail(f"expected an instruction, found `{cursor.text or 'the end'}`")
        elif cursor.after() == ":":
            self._label(len(found))
        elif cursor.text.startswith("."):
            self._directive()
        else:
            self._instruction(found)

    def _label(self, index: int) -> None:
        cursor = self.cursor
        name = cursor.take()
        cursor.expect(":")
        if cursor.accept(".branchtargets"):
            targets = [self.names.label(cursor.take())]
            while cursor.accept(","):
                targets.append(self.names.label(cursor.take()))
            cursor.expect(";")
            self._table_names[name] = len(self.tables)
            self.tables.append(tuple(targets))
        elif cursor.text in (".callprototype", ".calltargets"):
            self._skip_statement()
        else:
            self.names.define_label(name, index)

    def _directive(self) -> None:
        cursor = self.cursor
        word = cursor.take()
        if word == ".reg":
            self._registers()
        elif word in SPACES:
            for variable in parse_variables(cursor, SPACES[word]):
                self.names.declare_variable(variable)
        elif word == ".loc":
            self._loc()
        elif word == ".pragma":
            self._skip_statement()
        else:
            cursor.at -= 1
            cursor.fail(f"unknown directive `{word}`")

    def _skip_statement(self) -> None:
        while not self.cursor.accept(";"):
            self.cursor.take()

    def _registers(self) -> None:
        cursor = self.cursor
        type_name = cursor.word("a register type").lstrip(".")
        if not is_scalar_type(type_name):
            cursor.at -= 1
            cursor.fail(f"registers of type `.{type_name}` are not supported")
        while True:
            name = cursor.word("a register's name")
            if cursor.accept("<"):
                self.names.declare_family(name, type_name, cursor.integer())
                cursor.expect(">")
            else:
                self.names.declare_register(name, type_name)
            if not cursor.accept(","):
                break
        cursor.expect(";")

    def _loc(self) -> None:
        cursor = self.cursor
        place = (cursor.integer(), cursor.integer(), cursor.integer())
        inlined_at = None
        while cursor.accept(","):
            word = cursor.word("`function_name` or `inlined_at`")
            if word == "function_name":
                cursor.take()
                if cursor.accept("+"):
                    cursor.integer()
            elif word == "inlined_at":
                call = (cursor.integer(), cursor.integer(), cursor.integer())
                inlined_at = self._seen.get(call, Location(*call))
            else:
                cursor.fail(f"unknown part `{word}` of `.loc`")
        # Line 0 marks code that no source line owns: it keeps the line before it.
        if place[1] != 0 or self._location is None:
            self._location = Location(*place, inlined_at)
            self._seen[place] = self._location

    def _instruction(self, found: list[Instruction]) -> None:
        cursor = self.cursor
        line = cursor.line
        guard = self._guard()
        opcode = cursor.word("an instruction")
        form = parse_form(opcode)
        operands = self._operands(form.name)
        found.append(
            Instruction(
                form=form,
                opcode=opcode,
                operands=operands,
                guard=guard,
                line=line,
                location=self._location,
            )
        )

    def _guard(self) -> Guard | None:
        cursor = self.cursor
        if not cursor.accept("@"):
            return None
        negated = cursor.accept("!")
        name = cursor.word("a predicate")
        register = self.names.register(name)
        if register is None or self.names.register_types[register] != "pred":
            cursor.fail(f"`{name}` is no predicate register")
        return Guard(register, negated)

    def _operands(self, opcode: str) -> tuple[Operand | None, ...]:
        cursor = self.cursor
        if cursor.accept(";"):
            return ()
        if opcode == "brx":
            return self._indexed_branch()
        parser = OperandParser(cursor, self.names, wants_labels=opcode in _BRANCHES)
        found = [parser.parse()]
        while cursor.accept(","):
            found.append(parser.parse())
        cursor.expect(";")
        return tuple(found)

    def _indexed_branch(self) -> tuple[Operand, ...]:
        """`brx.idx index, table`: the table must stand before its use, as compilers write it."""
        cursor = self.cursor
        name = cursor.word("an index register")
        index = self.names.register(name)
        if index is None:
            cursor.fail(f"unknown register `{name}`")
        cursor.expect(",")
        table = cursor.word("a branch table")
        if table not in self._table_names:
            cursor.fail(f"no branch table `{table}` above")
        cursor.expect(";")
        return Register(index), LabelName(self._table_names[table])

"""Operands of instructions (PTX ISA 6), with names resolved to registers and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prismc.emulator.ptx.cursor import Cursor
from prismc.emulator.ptx.tree import (
    Address,
    Arguments,
    Immediate,
    LabelName,
    Negated,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)

_SPECIAL_WORDS = """
    tid ntid laneid warpid nwarpid ctaid nctaid smid nsmid gridid is_explicit_cluster clusterid
    nclusterid cluster_ctaid cluster_nctaid cluster_ctarank cluster_nctarank lanemask_eq
    lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock_hi clock64 globaltimer
    globaltimer_lo globaltimer_hi total_smem_size aggr_smem_size dynamic_smem_size
    reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap current_graph_exec
    envreg1 envreg2
    """
_SPECIALS = frozenset(_SPECIAL_WORDS.split())


class Names(Protocol):
    """What the operand parser asks of the function it stands in."""

    def register(self, name: str) -> int | None: ...
    def label(self, name: str) -> int: ...
    def variable(self, name: str) -> str: ...


class OperandParser:
    """Reads operands at a cursor. Bare names are labels where `wants_labels` (branches) says so."""

    def __init__(self, cursor: Cursor, names: Names, *, wants_labels: bool) -> None:
        self.cursor = cursor
        self.names = names
        self.wants_labels = wants_labels

    def parse(self) -> Operand | None:
        """One operand; None for `_`."""
        first = self._primary()
        if self.cursor.accept("|"):
            return Pair(first, self._primary())
        return first

    def _primary(self) -> Operand | None:
        openers: dict[str, Callable[[], Operand]] = {
            "{": self._vector, "[": self._address, "(": self._arguments, "!": self._negated,
            "-": self._number,
        }  # fmt: skip
        opener = openers.get(self.cursor.text)
        if opener is not None:
            return opener()
        if self.cursor.token.kind == "number":
            return self._number()
        if self.cursor.text == "_":
            self.cursor.take()
            return None
        return self._name()

    def _number(self) -> Immediate:
        negative = self.cursor.accept("-")
        if self.cursor.token.kind != "number":
            self.cursor.fail(f"expected an operand, found `{self.cursor.text}`")
        literal = self.cursor.literal()
        if not negative:
            return literal
        if literal.kind == "int":
            return Immediate(-literal.value, "int")
        return Immediate(literal.value ^ (1 << (31 if literal.kind == "f32" else 63)), literal.kind)

    def _negated(self) -> Negated:
        self.cursor.expect("!")
        operand = self._name()
        if not isinstance(operand, Register):
            self.cursor.fail("`!` needs a predicate register")
        return Negated(operand)

    def _name(self) -> Operand:
        line_token = self.cursor.token
        name = self.cursor.word("an operand")
        if name == "WARP_SZ":
            return Immediate(32, "int")
        register = self.names.register(name)
        if register is not None:
            return Register(register)
        if name.startswith("%"):
            special = name[1:]
            if special.split(".")[0] not in _SPECIALS:
                self.cursor.at -= 1
                self.cursor.fail(f"unknown register `{line_token.text}`")
            return Special(special)
        if self.wants_labels:
            return LabelName(self.names.label(name))
        return Symbol(self.names.variable(name), self._offset())

    def _offset(self) -> int:
        if self.cursor.text not in ("+", "-"):
            return 0
        sign = 1 if self.cursor.take() == "+" else -1
        return sign * self.cursor.integer()

    def _vector(self) -> Vector:
        self.cursor.expect("{")
        items = [self.parse()]
        while self.cursor.accept(","):
            items.append(self.parse())
        self.cursor.expect("}")
        return Vector(tuple(items))

    def _arguments(self) -> Arguments:
        self.cursor.expect("(")
        items: list[Operand] = []
        while not self.cursor.accept(")"):
            item = self.parse()
            if item is None:
                self.cursor.fail("a call's argument cannot be left out")
            items.append(item)
            if not self.cursor.accept(","):
                self.cursor.expect(")")
                break
        return Arguments(tuple(items))

    def _address(self) -> Address:
        self.cursor.expect("[")
        base, offset = self._base()
        coordinates: list[Vector] = []
        while self.cursor.accept(","):
            coordinates.append(self._vector())
        self.cursor.expect("]")
        return Address(base, offset, tuple(coordinates))

    def _base(self) -> tuple[Register | Symbol | None, int]:
        if self.cursor.token.kind == "number":
            return None, self.cursor.integer()
        operand = self._name()
        if isinstance(operand, Symbol):
            return Symbol(operand.name), operand.offset
        if isinstance(operand, Register):
            return operand, self._offset()
        self.cursor.fail("an address starts with a register, a variable or a number")

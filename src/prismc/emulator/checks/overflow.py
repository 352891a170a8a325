"""Index overflow: whether an address went wrong because a sum or product of 32 bits wrapped.

Looked for after the fact. When an access fails, the registers that its address was computed from
still hold their values: an instruction among them whose exact result does not fit into 32 bits is
the cause. Only steps by which an index becomes an address are followed (PTX ISA 9.7.1: add, sub,
mul, mad; mov, shl, cvt, cvta); a value that was masked or divided wrapped on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from prismc.emulator.faults.every import Findings
from prismc.emulator.findings import Finding, Kind
from prismc.emulator.ptx.tree import Address, Immediate, Instruction, Operand, Register
from prismc.emulator.semantics.registry import bits_of
from prismc.emulator.state.run import Run

_WORD = 1 << 32
_EXACT: Mapping[str, Callable[..., int]] = MappingProxyType(
    {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "mad": lambda a, b, c: a * b + c,
        "shl": lambda a, b: a << min(b % _WORD, 64),
    }
)
_SHOWN = MappingProxyType(
    {
        "add": "{} + {}",
        "sub": "{} - {}",
        "mul": "{} * {}",
        "mad": "{} * {} + {}",
        "shl": "{} << {}",
    }
)
_PASSED_ON = frozenset(("mov", "cvt", "cvta", *_EXACT))


class Wrapped(NamedTuple):
    """An instruction whose result did not fit, and how: `65536 * 32768 = 2147483648 becomes ..`."""

    instruction: Instruction
    words: str


def report_wrapped_index(
    findings: Findings, run: Run, site: Instruction, position: int, space: str
) -> bool:
    """Whether an index wrapped that the executing lane at a packed position accesses memory by;
    if so, it is reported. `space` is the memory that was meant."""
    start = next((item.base for item in site.operands if isinstance(item, Address)), None)
    if Kind.OVERFLOW in findings.off or not isinstance(start, Register):
        return False
    wrapped = _Slice(run, int(run.lane_numbers()[position])).first_wrapped(start)
    if wrapped is None:
        return False
    if findings.is_new(Kind.OVERFLOW, site, wrapped.instruction, space):
        findings.add(
            Finding(
                kind=Kind.OVERFLOW,
                message=f"the index leads out of every array: {wrapped.words}",
                help="compute the index in 64 bits: widen an operand before the operation",
                site=site,
                threads=findings.threads(run, np.array([position])),
                array=space,
                other=wrapped.instruction,
                other_role="the value wraps here",
            )
        )
    return True


class _Slice:
    """The instructions that a register of one lane was computed by."""

    def __init__(self, run: Run, lane: int) -> None:
        self.run = run
        self.lane = lane
        self.types = run.frame.outline.function.registers
        self.definitions: dict[int, list[Instruction]] = {}
        for instruction in run.frame.outline.function.body or ():
            operands = instruction.operands
            if operands and isinstance(operands[0], Register):
                self.definitions.setdefault(operands[0].number, []).append(instruction)

    def first_wrapped(self, start: Register) -> Wrapped | None:
        """Breadth first: the instruction nearest to the access. A register of 32 bits comes with
        the signedness by which it was widened."""
        todo: list[tuple[Register, bool | None]] = [(start, None)]
        seen = {start}
        for register, is_signed in todo:
            for instruction in self.definitions.get(register.number, ()):
                if is_signed is not None:
                    found = self._judge(instruction, is_signed)
                    if found is not None:
                        return found
                for source, signed in self._sources(instruction, is_signed):
                    if source not in seen:
                        seen.add(source)
                        todo.append((source, signed))
        return None

    def _sources(
        self, instruction: Instruction, is_signed: bool | None
    ) -> Iterator[tuple[Register, bool | None]]:
        """The registers that the result depends on in a straight way."""
        form = instruction.form
        if form.name not in _PASSED_ON:
            return
        for source in instruction.operands[1:]:
            if not isinstance(source, Register):
                continue
            narrow = bits_of(self.types[source.number]) == 32
            if narrow and is_signed is None:
                yield source, form.types[-1].startswith("s")
            elif narrow == (is_signed is not None):
                yield source, is_signed

    def _judge(self, instruction: Instruction, is_signed: bool) -> Wrapped | None:
        """Whether the instruction made the value that its register holds, and it wrapped."""
        name, values = instruction.form.name, self._values(instruction, is_signed)
        result = self._value(instruction.operands[0], is_signed)
        if name not in _EXACT or values is None or result is None:
            return None
        exact = _EXACT[name](*values)
        if exact == result or (exact - result) % _WORD:
            return None
        words = f"{_SHOWN[name].format(*values)} = {exact} becomes {result} in 32 bits"
        return Wrapped(instruction, words)

    def _values(self, instruction: Instruction, is_signed: bool) -> list[int] | None:
        """The sources as they were when the instruction ran; None where that cannot be known."""
        target, *sources = instruction.operands
        known = [self._value(source, is_signed) for source in sources]
        values = [value for value in known if value is not None]
        if len(values) < len(sources) or instruction.form.has("hi"):
            return None
        counter = next((s for s in sources if self._is_counter(s, target)), None)
        if counter is None:
            return values
        result = self._value(target, is_signed)
        if instruction.form.name != "add" or result is None:
            return None
        if self._may_be_first(counter, target, result, is_signed):
            return None
        own = sources.index(counter)
        values[own] = _narrowed(result - values[1 - own], is_signed)
        return values

    def _is_counter(self, source: Operand | None, target: Operand | None) -> bool:
        """Whether `target = source + step` replaces the source, as in `i = i + step`: what it was
        before follows from the result. Compilers write `j = i + step; i = j` as well."""
        if source == target or not isinstance(source, Register):
            return source == target
        definitions = self.definitions.get(source.number, ())
        return any(d.form.name == "mov" and d.operands[1] == target for d in definitions)

    def _may_be_first(
        self, counter: Operand | None, target: Operand | None, result: int, is_signed: bool
    ) -> bool:
        """Whether a counter may still hold what it was given before the loop changed it."""
        assert isinstance(counter, Register)
        for instruction in self.definitions[counter.number]:
            name, sources = instruction.form.name, instruction.operands[1:]
            if counter in sources or target in sources:
                continue
            values = [self._value(source, is_signed) for source in sources]
            if None in values or (name not in _EXACT and name != "mov"):
                return True
            made = values[0] if name == "mov" else _EXACT[name](*values)
            if made is not None and (made - result) % _WORD == 0:
                return True
        return False

    def _value(self, operand: Operand | None, is_signed: bool) -> int | None:
        if isinstance(operand, Immediate):
            return _narrowed(operand.value, is_signed)
        if not isinstance(operand, Register):
            return None
        values = self.run.regs[operand.number]
        return _narrowed(int(values[0 if len(values) == 1 else self.lane]), is_signed)


def _narrowed(value: int, is_signed: bool) -> int:
    """A value modulo 2**32, in the range of its type."""
    value %= _WORD
    return value - _WORD if is_signed and value >= _WORD // 2 else value

"""From parsed functions to steps: operands become register slots, instructions closures.

Everything that can be known before running is worked out here, once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from prismc.emulator.flow import Block, copied_only, flow_of, results_of, sources_of, unread
from prismc.emulator.linkage import Linkage
from prismc.emulator.ptx.tree import (
    Address,
    Function,
    Guard,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    PtxError,
    Register,
    Special,
    Symbol,
    Vector,
)
from prismc.emulator.semantics.registry import Lanes, dtype_of
from prismc.emulator.state.code import Code, CodeBlock, End, Step
from prismc.emulator.state.outline import (
    ConstantSlot,
    LocalSlot,
    Outline,
    Slot,
    SpecialSlot,
    constant,
)
from prismc.emulator.state.run import Run
from prismc.emulator.units.warpgroups import WarpgroupProducts
from prismc.source.record import Record

Adapter = Callable[[Lanes], Lanes]


class Source(NamedTuple):
    """A source operand: the register slot to read and what to do with it first, if anything."""

    slot: int
    adapt: Adapter | None = None


class AddressOf(NamedTuple):
    """An address operand: a slot with the base, and the offset to add."""

    slot: int
    offset: int

    def packed(self, run: Run) -> Lanes:
        """The addresses of the executing lanes: int64, packed. A base of 32 bits may be a negative
        one that only the offset brings into its window: sums of 32 bits wrap, and NVRTC folds
        `(thread - 64) * 4 + array + 256` so."""
        base = run.packed(run.regs[self.slot])
        base = base.view(np.int64) if base.dtype.itemsize == 8 else _signed(base)
        return base + self.offset if self.offset else base


def _signed(base: Lanes) -> Lanes:
    return base.view(np.int32).astype(np.int64)


class Decoded(Record):
    """One instruction, decoded: a step, or the end of its block, or both in turn.

    `members` marks a meeting (see `code.CodeBlock`).
    """

    step: Step | None = None
    end: End | None = None
    members: Any = None


class Decoder:
    """Decodes one function: operands and blocks; `open_instruction` knows the instructions.

    `code_of` gives the functions that this one calls, `leave` is how it ends behind its last
    instruction.
    """

    def __init__(
        self,
        linkage: Linkage,
        function: Function,
        open_instruction: Callable[[Decoder, Instruction], Decoded],
        code_of: Callable[[Function], Code],
        leave: End,
    ) -> None:
        self.linkage = linkage
        self.launch = linkage.launch
        self.function = function
        self.code_of = code_of
        self._open_instruction = open_instruction
        self._leave = leave
        self.flow = flow_of(function)
        self.slots: list[Slot] = [
            ConstantSlot(constant(0, dtype_of(name))) for name in function.registers
        ]
        self.local_offsets: dict[str, int] = {}
        self.local_size = 0
        self._known: dict[object, int] = {}
        self._carry: int | None = None
        self.copied_only = copied_only(function.body or ())
        self.unread = unread(function.body or ())
        self.accumulators = frozenset(
            register
            for instruction in function.body or ()
            if instruction.form.name == "wgmma" and instruction.form.has("mma_async")
            for register in _fragments(instruction)
        )
        self._place_locals()

    def _place_locals(self) -> None:
        """Local variables, and the parameters of calls and of device functions."""
        own = () if self.function.is_kernel else self.function.parameters + self.function.results
        scoped = (v for v in self.function.variables if v.space in ("local", "param"))
        for variable in (*own, *scoped):
            align = max(variable.align, 8)
            start = -(-self.local_size // align) * align
            self.local_offsets[variable.name] = start
            self.local_size = start + variable.size

    def decode(self) -> Code:
        """The whole function. Raises PtxError at what the machine does not run."""
        blocks = tuple(self._block(number, block) for number, block in enumerate(self.flow.blocks))
        outline = Outline(
            function=self.function,
            flow=self.flow,
            issued=tuple(block.last - block.first for block in self.flow.blocks),
            slots=tuple(self.slots),
            local_offsets=self.local_offsets,
            local_size=self.local_size,
        )
        return Code(outline=outline, blocks=blocks)

    def _block(self, number: int, block: Block) -> CodeBlock:
        body, uses = self.function.body or (), self.launch.uses
        steps: list[Step] = []
        end: End | None = None
        members = None
        for index in range(block.first, block.last):
            self.following = number + 1
            decoded = self._instruction(body[index])
            members = members or decoded.members
            if uses is not None and (note := uses.before(self.function, body[index])) is not None:
                steps.append(note)
            if decoded.step is not None:
                steps.append(decoded.step)
            end = decoded.end or end
        if end is None:
            end = self._leave if block.first == len(body) else _go_to(number + 1)
        return CodeBlock(
            steps=tuple(steps),
            end=end,
            members=members,
            guard=body[block.first].guard if members else None,
            site=body[block.first] if block.first < len(body) else None,
        )

    def _instruction(self, instruction: Instruction) -> Decoded:
        decoded = self._watched(instruction, self._open_instruction(self, instruction))
        if instruction.guard is None:
            return decoded
        step = decoded.step and _guarded_step(decoded.step, instruction.guard)
        if decoded.end is not None and instruction.form.name not in ("bra", "brx"):
            end = _guarded_end(decoded.end, instruction.guard, self.following)
            return Decoded(step=step, end=end, members=decoded.members)
        return Decoded(step=step, end=decoded.end, members=decoded.members)

    def _watched(self, instruction: Instruction, decoded: Decoded) -> Decoded:
        """Around uses of registers that asynchronous products change: see `warpgroups`."""
        if not self.accumulators or instruction.form.name == "wgmma" or decoded.step is None:
            return decoded
        used = self.accumulators.intersection(results_of(instruction) + sources_of(instruction))
        if not used:
            return decoded
        step, findings = decoded.step, self.launch.findings
        # Compilers copy accumulators to their next names wherever they like.
        is_copy = instruction.form.name == "mov"
        changed = frozenset() if is_copy else used.intersection(results_of(instruction))

        def watched(run: Run) -> None:
            products = run.batch.unit(WarpgroupProducts)
            if changed:
                products.change(run)
            if products.pending:
                product = products.touch(run, used)
                if product is not None and not is_copy:
                    findings.accumulators_in_flight(run, instruction, product)
                elif changed and (product := products.reads(run, changed)) is not None:
                    findings.operands_in_flight(run, instruction, product)
            step(run)

        return Decoded(step=watched, end=decoded.end, members=decoded.members)

    # Operands

    def refuse(self, instruction: Instruction, reason: str) -> NoReturn:
        """Ends decoding: the machine does not run this instruction."""
        # What computes the form does not know the instruction, and names the form itself.
        reason = reason.removeprefix(f"`{instruction.form}`: ")
        message = f"`{instruction.opcode}`: {reason}"
        raise PtxError(message, instruction.line, self.launch.module.name)

    def register_dtype(self, number: int) -> np.dtype[Any]:
        """The dtype of a register of the function."""
        return dtype_of(self.function.registers[number])

    def new_slot(self, slot: Slot) -> int:
        """A slot for a constant or a special register; equal ones share it."""
        key: object = slot
        if isinstance(slot, ConstantSlot):
            key = (slot.array.tobytes(), slot.array.dtype)
        if key not in self._known:
            self._known[key] = len(self.slots)
            self.slots.append(slot)
        return self._known[key]

    def carry_slot(self) -> int:
        """The slot of the carry flag CC.CF."""
        if self._carry is None:
            self._carry = len(self.slots)
            self.slots.append(ConstantSlot(np.zeros(1, np.bool_)))
        return self._carry

    def source(self, operand: Operand | None, type_name: str, site: Instruction) -> Source:
        """A scalar source operand read as a PTX type."""
        dtype = dtype_of(type_name)
        match operand:
            case Register(number):
                return Source(number, _resize(self.register_dtype(number), dtype))
            case Negated(Register(number)):
                return Source(number, np.logical_not)
            case Immediate():
                bits = self._literal(operand, type_name, site)
                return Source(self.new_slot(ConstantSlot(constant(bits, dtype))))
            case Special(name):
                return self._special(name, dtype, site)
            case Symbol():
                return Source(self._address_slot(operand, dtype, site))
            case _:
                self.refuse(site, "an operand of this kind cannot stand here")

    def _special(self, name: str, dtype: np.dtype[Any], site: Instruction) -> Source:
        if not self.launch.knows_special(name):
            self.refuse(site, f"unknown special register `%{name}`")
        return Source(self.new_slot(SpecialSlot(name, dtype)))

    def _literal(self, literal: Immediate, type_name: str, site: Instruction) -> int:
        """The bits of a literal as a value of a type (PTX ISA 4.5)."""
        if literal.kind == "int" or literal.kind == type_name:
            if type_name in ("f32", "f64") and literal.kind == "int" and literal.value:
                self.refuse(site, "an integer literal cannot stand for a float")
            return literal.value
        if literal.kind == "f64" and type_name == "f32":
            (value,) = struct.unpack("<d", literal.value.to_bytes(8, "little"))
            return int(np.float32(value).view(np.uint32))
        if dtype_of(type_name).itemsize * 8 == int(literal.kind[1:]):
            return literal.value
        self.refuse(site, f"a {literal.kind} literal cannot stand for {type_name}")

    def _address_slot(self, symbol: Symbol, dtype: np.dtype[Any], site: Instruction) -> int:
        if symbol.name in self.local_offsets:
            offset = self.local_offsets[symbol.name] + symbol.offset
            return self.new_slot(LocalSlot(offset, dtype))
        address = self.linkage.address(symbol.name)
        if address is None:
            self.refuse(site, f"unknown name `{symbol.name}`")
        return self.new_slot(ConstantSlot(constant(address + symbol.offset, dtype)))

    def address(self, operand: Operand | None, site: Instruction) -> AddressOf:
        """A memory operand `[base + offset]`."""
        if not isinstance(operand, Address):
            self.refuse(site, "expected an address in brackets")
        match operand.base:
            case Register(number):
                if self.register_dtype(number).itemsize < 4:
                    self.refuse(site, "an address needs a 32-bit or 64-bit register")
                return AddressOf(number, operand.offset)
            case Symbol():
                slot = self._address_slot(operand.base, np.dtype(np.uint64), site)
                return AddressOf(slot, operand.offset)
            case None:
                slot = self.new_slot(ConstantSlot(constant(0, np.dtype(np.uint64))))
                return AddressOf(slot, operand.offset)

    def destinations(self, operand: Operand | None, site: Instruction) -> tuple[int | None, ...]:
        """The registers of a destination operand in order; None where the text has `_`."""
        match operand:
            case None:
                return (None,)
            case Register(number):
                return (number,)
            case Vector(items):
                return tuple(d for item in items for d in self.destinations(item, site))
            case Pair(first, second):
                return (*self.destinations(first, site), *self.destinations(second, site))
            case _:
                self.refuse(site, "the result needs a register")

    def destination(self, operand: Operand | None, site: Instruction) -> int | None:
        """The one register of a destination operand; None for `_`."""
        found = self.destinations(operand, site)
        if len(found) != 1:
            self.refuse(site, "expected one register for the result")
        return found[0]

    def elements(self, operand: Operand | None) -> tuple[Operand | None, ...]:
        """The elements of a vector operand, or the operand itself."""
        return operand.items if isinstance(operand, Vector) else (operand,)

    def extend(self, register: int, type_name: str) -> Adapter | None:
        """How a result of a type becomes the register's width: by sign for signed types."""
        return _resize(dtype_of(type_name), self.register_dtype(register), type_name[0] == "s")


def _resize(have: np.dtype[Any], want: np.dtype[Any], signed: bool = False) -> Adapter | None:
    """A conversion between unsigned dtypes: truncation, or extension by zeros or the sign."""
    if have == want:
        return None
    if signed and want.itemsize > have.itemsize:
        narrow, wide = np.dtype(f"i{have.itemsize}"), np.dtype(f"i{want.itemsize}")
        return lambda values: values.view(narrow).astype(wide).view(want)
    return lambda values: values.astype(want)


def _fragments(product: Instruction) -> tuple[int, ...]:
    """The registers of a product's accumulators, and of its first matrix if it is in registers."""
    first = product.operands[1] if len(product.operands) > 1 else None
    items = first.items if isinstance(first, Vector) else ()
    return results_of(product) + tuple(r.number for r in items if isinstance(r, Register))


def _go_to(block: int) -> End:
    return lambda run: block


def _guarded_step(step: Step, guard: Guard) -> Step:
    """A step that only the lanes take whose predicate holds (PTX ISA 9.3)."""
    register, negated = guard

    def guarded(run: Run) -> None:
        predicate = run.regs[register]
        some = run.only(~predicate if negated else predicate)
        if some is not None:
            step(some)

    return guarded


def _guarded_end(end: End, guard: Guard, following: int) -> End:
    """An end that some lanes take; the others go on in the next block."""
    register, negated = guard

    def guarded(run: Run) -> int | None:
        predicate = run.regs[register]
        some = run.only(~predicate if negated else predicate)
        if some is None:
            return following
        if some is run:
            return end(run)
        rest = run.only(predicate if negated else ~predicate)
        if rest is not None:
            run.batch.push(run.frame, following, rest.mask, rest.count, run.crew)
        target = end(some)
        if target is not None:
            run.batch.push(run.frame, target, some.mask, some.count, run.crew)
        return None

    return guarded

"""What PTX text says, as frozen records: modules, functions, variables, instructions, operands."""

from __future__ import annotations

from typing import NamedTuple

from prismc.emulator.semantics.registry import Form
from prismc.source.record import Record


class PtxError(Exception):
    """PTX text that is malformed or that this machine does not run; `line` counts from 1."""

    def __init__(self, message: str, line: int, file: str = "<ptx>") -> None:
        super().__init__(f"{file}:{line}: {message}")
        self.message, self.line, self.file = message, line, file


class Location(NamedTuple):
    """A source place from `.loc`: PTX ISA 11.5.3. `inlined_at` is the call it was inlined into."""

    file: int
    line: int
    column: int
    inlined_at: Location | None = None


class Register(NamedTuple):
    """A register of the function, by its number in `Function.registers`."""

    number: int


class Immediate(NamedTuple):
    """A literal. `kind` is `int`, `f32` or `f64`; float literals are bit patterns."""

    value: int
    kind: str


class Symbol(NamedTuple):
    """The address of a variable or function, plus an offset in bytes."""

    name: str
    offset: int = 0


class Special(NamedTuple):
    """A special register: `%tid.x`, `%laneid`, `%clock64` (without the percent sign)."""

    name: str


class LabelName(NamedTuple):
    """A branch target, or a branch table: its number in `Function.labels` or `.tables`."""

    number: int


class Vector(NamedTuple):
    """`{a, b}`; an element of a destination may be None, written `_`."""

    items: tuple[Operand | None, ...]


class Pair(NamedTuple):
    """`d|p`: two destinations; either may be None, written `_`."""

    first: Operand | None
    second: Operand | None


class Negated(NamedTuple):
    """`!p` as a source."""

    register: Register


class Address(NamedTuple):
    """`[base + offset]`; `base` is None for an absolute one. `coordinates` belong to tensors."""

    base: Register | Symbol | None
    offset: int
    coordinates: tuple[Vector, ...] = ()


class Arguments(NamedTuple):
    """A parenthesised list of a call."""

    items: tuple[Operand, ...]


Operand = (
    Register | Immediate | Symbol | Special | LabelName | Vector | Pair | Negated | Address
    | Arguments
)  # fmt: skip


class Guard(NamedTuple):
    """`@p` or `@!p` before an instruction."""

    register: int
    negated: bool


class Instruction(Record):
    """One instruction. `line` is its line in the PTX text."""

    form: Form
    opcode: str
    operands: tuple[Operand | None, ...]
    guard: Guard | None
    line: int
    location: Location | None


class Variable(Record):
    """A variable: `space` is global, const, shared, local or param; `size` and `align` in bytes.

    `size` is 0 for `.extern .shared` arrays without bounds. `image` holds the initial bytes, if
    any; `pointers` lists (offset, symbol, added bytes) that the image needs filled in.
    """

    name: str
    space: str
    type_name: str
    size: int
    align: int
    image: bytes | None = None
    pointers: tuple[tuple[int, Symbol], ...] = ()
    is_extern: bool = False
    line: int = 0


class Function(Record):
    """A kernel (`is_kernel`) or device function; `body` is None for a mere declaration.

    `labels` gives the index in `body` of each label number, `tables` the label numbers of each
    `.branchtargets`. `registers` are the types by number, `limits` the performance directives
    (`maxntid`, `reqntid`, `reqnctapercluster`, ...) with their numbers.
    """

    name: str
    is_kernel: bool
    parameters: tuple[Variable, ...]
    results: tuple[Variable, ...]
    registers: tuple[str, ...]
    register_names: tuple[str, ...]
    variables: tuple[Variable, ...]
    body: tuple[Instruction, ...] | None
    labels: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...]
    limits: dict[str, tuple[int, ...]]
    line: int


class Module(Record):
    """A PTX module. `files` are the paths of `.file`; `variables` those at module scope."""

    version: tuple[int, int]
    target: str
    variables: tuple[Variable, ...]
    functions: dict[str, Function]
    files: dict[int, str]
    name: str

    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, in text order."""
        return tuple(name for name, function in self.functions.items() if function.is_kernel)

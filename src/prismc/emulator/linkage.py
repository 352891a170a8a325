"""A module made ready to run: variables have addresses, functions are decoded when first met."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prismc.emulator.code import Code
from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.execute import control
from prismc.emulator.execute.runtime import BUILTINS
from prismc.emulator.instructions import open_instruction
from prismc.emulator.memory import SHARED_START, Region
from prismc.emulator.ptx.tree import (
    Arguments,
    Function,
    Instruction,
    Module,
    Operand,
    PtxError,
    Symbol,
    Variable,
)
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.waits import kind_of_wait
from prismc.source.record import replace

if TYPE_CHECKING:
    from prismc.emulator.faults.every import Findings
    from prismc.emulator.lanes import Run
    from prismc.emulator.machine import Machine

_MANGLED_LENGTH = re.compile(r"(?<=\D)(\d+)(?=[A-Za-z_])")

# Where function addresses lie: below every window, so that no access reaches them.
_FUNCTIONS_START = 0x1000
_FUNCTION_STEP = 16


class SharedVariable:
    """A shared variable's place in each block's shared memory."""

    def __init__(self, variable: Variable, start: int, size: int) -> None:
        self.variable = variable
        self.start = start
        self.size = size


class Linkage:
    """Names of one module as one launch of one kernel sees them."""

    leave = staticmethod(control.return_to_caller)

    def __init__(self, machine: Machine, module: Module, kernel: Function) -> None:
        self.machine = machine
        self.module = module
        self.kernel = kernel
        self.findings: Findings = machine.findings
        self.shared: list[SharedVariable] = []
        self._addresses: dict[str, int] = {}
        self._parameters: dict[str, bytes] = {}
        self._codes: dict[str, Code] = {}
        self._functions_at: dict[int, Function] = {}
        self._place_functions()
        self._place_globals()

    def _place_functions(self) -> None:
        for index, function in enumerate(self.module.functions.values()):
            address = _FUNCTIONS_START + _FUNCTION_STEP * index
            self._addresses[function.name] = address
            self._functions_at[address] = function

    def _place_globals(self) -> None:
        regions: list[tuple[Variable, Region]] = []
        for variable in self.module.variables:
            if variable.space in ("global", "const"):
                region = self.machine.memory.add(
                    variable.name, variable.space, variable.size, variable.align
                )
                self._addresses[variable.name] = region.base
                regions.append((variable, region))
        for variable, region in regions:
            if variable.image is not None:
                region.fill(self._linked_image(variable, variable.image))

    def _linked_image(self, variable: Variable, image: bytes) -> bytes:
        """The initial bytes, with the addresses of symbols filled in."""
        content = bytearray(image)
        width = max(1, min(8, variable.size))
        for at, symbol in variable.pointers:
            if symbol.name not in self._addresses:
                self._fail(f"`{variable.name}` refers to unknown `{symbol.name}`", variable.line)
            address = self._addresses[symbol.name] + symbol.offset
            content[at : at + width] = address.to_bytes(8, "little")[:width]
        return bytes(content)

    def _fail(self, message: str, line: int) -> None:
        raise PtxError(message, line, self.module.name)

    def place_shared(self, dynamic: int) -> int:
        """Lays out the shared memory that the kernel can reach; returns where it ends."""
        end = SHARED_START
        reachable = list(self._reachable())
        own = [v for f in reachable for v in f.variables if v.space == "shared"]
        named = {name for f in reachable for name in _symbols(f)}
        own += [v for v in self.module.variables if v.space == "shared" and v.name in named]
        for variable in sorted(own, key=lambda v: (v.is_extern, -v.align)):
            start = -(-end // variable.align) * variable.align
            size = dynamic if variable.is_extern else variable.size
            self.shared.append(SharedVariable(variable, start, size))
            self._addresses[variable.name] = start
            end = end if variable.is_extern else start + size
        dynamic_ends = [s.start + s.size for s in self.shared if s.variable.is_extern]
        return max([end + dynamic, *dynamic_ends])

    def _reachable(self) -> Iterable[Function]:
        """The kernel and all functions that it names, directly or through others."""
        names, todo = {self.kernel.name}, [self.kernel]
        while todo:
            function = todo.pop()
            yield function
            for name in sorted(_symbols(function)):
                if name in self.module.functions and name not in names:
                    names.add(name)
                    todo.append(self.module.functions[name])

    def place_parameters(self, contents: tuple[bytes, ...]) -> None:
        """Gives the kernel's parameters their bytes, and addresses for those who ask for them."""
        for variable, content in zip(self.kernel.parameters, contents, strict=True):
            region = self.machine.memory.add(
                variable.name, "param", variable.size, max(variable.align, 64)
            )
            region.fill(content)
            self._parameters[variable.name] = content
            self._addresses[variable.name] = region.base

    def shared_at(self, address: int) -> SharedVariable | None:
        """The shared variable that holds an address of a block's shared memory."""
        for variable in self.shared:
            if variable.start <= address < variable.start + variable.size:
                return variable
        return None

    # What decoding asks

    def open_instruction(self, decoder: Decoder, site: Instruction) -> Decoded:
        """One instruction, decoded; its waits are counted where a profile is wanted."""
        decoded = open_instruction(decoder, site)
        kind = kind_of_wait(site)
        if kind is None or decoded.step is None or self.machine.waits is None:
            return decoded
        return replace(decoded, step=self.machine.waits.counted(site, kind, decoded.step))

    def address(self, name: str) -> int | None:
        """The address of a variable (in its own space) or function."""
        return self._addresses.get(name)

    def parameter(self, name: str) -> bytes | None:
        """The bytes of a parameter of the kernel."""
        return self._parameters.get(name)

    def function(self, name: str) -> Function | None:
        return self.module.functions.get(name)

    def function_at(self, address: int) -> Function | None:
        """The function whose address this is."""
        return self._functions_at.get(address)

    def builtin(self, name: str) -> Callable[[Run, Instruction, list[Lanes]], bool] | None:
        """A function of the CUDA run-time that the machine provides."""
        return BUILTINS.get(name)

    def code(self, function: Function) -> Code:
        """A function, decoded at its first use."""
        if function.name not in self._codes:
            self._codes[function.name] = Decoder(self, function).decode()
        return self._codes[function.name]

    def knows_special(self, name: str) -> bool:
        """Whether a special register has a value here."""
        return self.machine.knows_special(name)


def _symbols(function: Function) -> set[str]:
    """All names that a function's instructions mention."""
    found: set[str] = set()
    for instruction in function.body or ():
        for operand in instruction.operands:
            found |= _names_of(operand)
    return found


def _names_of(operand: Operand | None) -> set[str]:
    if isinstance(operand, Symbol):
        return {operand.name}
    if isinstance(operand, Arguments):
        return {name for item in operand.items for name in _names_of(item)}
    base = getattr(operand, "base", None)
    return {base.name} if isinstance(base, Symbol) else set()


def source_name(symbol: str) -> str:
    """The name a programmer gave: `tile` for `_ZZ5saxpyE4tile` (Itanium mangling of locals).

    A name follows its length; the last one is the innermost. Behind it stands what the compiler
    added.
    """
    name, at = symbol, 0
    while symbol.startswith("_Z") and (found := _MANGLED_LENGTH.search(symbol, at)):
        at = found.end()
        if at + int(found[1]) <= len(symbol):
            name = symbol[at : at + int(found[1])]
            at += len(name)
    return name

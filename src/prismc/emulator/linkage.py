"""A module's names as one launch sees them: variables and functions have addresses."""

from __future__ import annotations

from collections.abc import Iterable

from prismc.emulator.launch import Launch
from prismc.emulator.layout import SharedVariable
from prismc.emulator.memory import SHARED_START, Region
from prismc.emulator.ptx.tree import Arguments, Function, Operand, PtxError, Symbol, Variable

# Where function addresses lie: below every window, so that no access reaches them.
_FUNCTIONS_START = 0x1000
_FUNCTION_STEP = 16


class Linkage:
    """Where the variables, parameters and functions of a launch lie."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.module = launch.module
        self.kernel = launch.kernel
        self._addresses: dict[str, int] = {}
        self._parameters: dict[str, bytes] = {}
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
                region = self.launch.layout.memory.add(
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

    def place_shared(self, dynamic: int) -> None:
        """Lays out the shared memory that the kernel can reach; `dynamic` bytes have no name."""
        layout, end = self.launch.layout, SHARED_START
        reachable = list(self._reachable())
        own = [v for f in reachable for v in f.variables if v.space == "shared"]
        named = {name for f in reachable for name in _symbols(f)}
        own += [v for v in self.module.variables if v.space == "shared" and v.name in named]
        for variable in sorted(own, key=lambda v: (v.is_extern, -v.align)):
            start = -(-end // variable.align) * variable.align
            size = dynamic if variable.is_extern else variable.size
            layout.shared.append(SharedVariable(variable=variable, start=start, size=size))
            self._addresses[variable.name] = start
            end = end if variable.is_extern else start + size
        dynamic_ends = [s.start + s.size for s in layout.shared if s.variable.is_extern]
        layout.shared_end = max([end + dynamic, *dynamic_ends])

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
            region = self.launch.layout.memory.add(
                variable.name, "param", variable.size, max(variable.align, 64)
            )
            region.fill(content)
            self._parameters[variable.name] = content
            self._addresses[variable.name] = region.base

    # What decoding asks

    def address(self, name: str) -> int | None:
        """The address of a variable (in its own space) or function."""
        return self._addresses.get(name)

    def parameter(self, name: str) -> bytes | None:
        """The bytes of a parameter of the kernel."""
        return self._parameters.get(name)

    def function(self, name: str) -> Function | None:
        """The function of a name."""
        return self.module.functions.get(name)

    def function_at(self, address: int) -> Function | None:
        """The function whose address this is."""
        return self._functions_at.get(address)


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

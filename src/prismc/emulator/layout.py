"""Where a launch keeps things in memory, and what people call the places there."""

from __future__ import annotations

from prismc.emulator.memory import GlobalMemory, Region
from prismc.emulator.names import SharedArray, indexed, source_name
from prismc.emulator.ptx.tree import Variable
from prismc.source.record import Record


class SharedVariable(Record):
    """A shared variable's place in each block's shared memory."""

    variable: Variable
    start: int
    size: int


class Layout:
    """The memory of a launch: global memory's regions, and the plan of every block's shared memory.

    `shared_end` is the shared address behind the last variable. `shared_arrays` are the parts of
    the kernel's one shared variable, where the compiler tells them.
    """

    def __init__(self) -> None:
        self.memory = GlobalMemory()
        self.shared: list[SharedVariable] = []
        self.shared_end = 0
        self.shared_arrays: tuple[SharedArray, ...] = ()

    def array_name(self, region: Region, offset: int) -> str:
        """The name of the array at an offset of a region."""
        if region.space != "shared":
            return region.name
        variable = self._shared_at(offset % region.stride)
        if variable is None:
            return "shared memory"
        named = self._shared_array(offset % region.stride - variable.start)
        return named.name if named is not None else source_name(variable.variable.name)

    def element(self, region: Region, offset: int) -> str:
        """How people name a place in an array: indexes where its shape is known, else the byte."""
        if region.space == "shared":
            at = offset % region.stride
            variable = self._shared_at(at)
            if variable is None:
                return f"address {at}"
            named = self._shared_array(at - variable.start)
            if named is None:
                return f"byte {at - variable.start}"
            return indexed(at - variable.start - named.start, named.element, named.shape)
        if not region.shape:
            return f"byte {offset}"
        return indexed(offset, region.element, region.shape)

    def _shared_at(self, address: int) -> SharedVariable | None:
        """The shared variable that holds an address of a block's shared memory."""
        for variable in self.shared:
            if variable.start <= address < variable.start + variable.size:
                return variable
        return None

    def _shared_array(self, offset: int) -> SharedArray | None:
        """The array that the compiler put at an offset of the kernel's one shared variable."""
        if len(self.shared) != 1:
            return None
        for array in self.shared_arrays:
            if array.start <= offset < array.start + array.size:
                return array
        return None

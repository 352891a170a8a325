"""The functions of a module, decoded when they are first met."""

from __future__ import annotations

from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.execute.control import return_to_caller
from prismc.emulator.instructions import open_instruction
from prismc.emulator.launch import Launch
from prismc.emulator.linkage import Linkage
from prismc.emulator.ptx.tree import Function, Instruction
from prismc.emulator.state.code import Code
from prismc.emulator.waits import kind_of_wait
from prismc.source.record import replace


class Program:
    """The code that one launch executes. `codes` are the functions met so far, by name."""

    def __init__(self, launch: Launch, linkage: Linkage) -> None:
        self.launch = launch
        self.linkage = linkage
        self.codes: dict[str, Code] = {}
        self._leave = return_to_caller(launch)

    def code(self, function: Function) -> Code:
        """A function, decoded at its first use. Raises PtxError for what cannot run."""
        known = self.codes.get(function.name)
        if known is None:
            decoder = Decoder(self.linkage, function, self._open, self.code, self._leave)
            known = self.codes[function.name] = decoder.decode()
        return known

    def _open(self, decoder: Decoder, site: Instruction) -> Decoded:
        """One instruction, decoded; its waits are counted where a profile is wanted."""
        decoded = open_instruction(decoder, site)
        kind = kind_of_wait(site)
        if kind is None or decoded.step is None or self.launch.waits is None:
            return decoded
        return replace(decoded, step=self.launch.waits.counted(site, kind, decoded.step))

"""All faults that the machine itself reports; those of memory order are in `checks.reports`."""

from __future__ import annotations

from prismc.emulator.faults.barriers import BarrierFaults
from prismc.emulator.faults.memory import MemoryFaults
from prismc.emulator.faults.warps import WarpFaults
from prismc.emulator.findings import Kind
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.run import Run


class Findings(MemoryFaults, WarpFaults, BarrierFaults):
    """The findings of one launch. Each method reports one kind of fault."""

    def trapped(self, run: Run, site: Instruction) -> None:
        """A `trap`."""
        self.plain(Kind.TRAP, run, site, "the kernel executes `trap`",
                    "see which condition of the program led here")  # fmt: skip

    def assertion(self, run: Run, site: Instruction, text: str) -> None:
        """A device `assert` that failed."""
        self.plain(Kind.TRAP, run, site, text, "the asserted condition does not hold")

    def branch_beyond_table(self, run: Run, site: Instruction, lanes: Lanes) -> None:
        """A `brx.idx` with an index past its table."""
        self.plain(Kind.CALL, run, site, "the index of a branch table is past its end",
                    "keep the index below the number of targets")  # fmt: skip

    def too_deep(self, run: Run, callee: str) -> None:
        """Calls that nest until a thread's local memory is used up."""
        body = run.frame.outline.function.body or ()
        site = next((i for i in body if i.form.name == "call"), body[0])
        self.plain(Kind.TRAP, run, site, f"calls of `{callee}` nest too deep: local memory is full",
                   "end the recursion, or use a loop")  # fmt: skip

    def call_of_nothing(self, run: Run, site: Instruction) -> None:
        """A call through an address that is no function's."""
        self.plain(Kind.CALL, run, site, "calls an address where no function is",
                    "store a device function's address before the call")  # fmt: skip

"""Lifetimes: memory that an asynchronous operation reads or writes until somebody has waited."""

from __future__ import annotations

import numpy as np

from prismc.emulator.checks.readers import Access
from prismc.emulator.checks.reports import RaceReports
from prismc.emulator.checks.shadow import Shadow
from prismc.emulator.events import Async
from prismc.emulator.state.run import Run


class InFlight:
    """The asynchronous operations of a launch that are not complete."""

    def __init__(self, reports: RaceReports) -> None:
        self.reports = reports
        self._operations: dict[int, Async] = {}

    def check(self, run: Run, shadow: Shadow, access: Access, doing: str, *, writes: bool) -> None:
        """Reports accesses to memory that an operation still writes, or, for writes, reads."""
        readers = (shadow.reading, "reads"), (shadow.copying, "reads")
        for marks, role in ((shadow.writing, "writes"), *(readers if writes else ())):
            if marks is None:
                continue
            numbers = marks[access.granules]
            hit = np.flatnonzero(numbers)
            if len(hit):
                self._report(run, shadow, access, int(hit[0]), int(numbers[hit[0]]), doing, role,
                             len(hit))  # fmt: skip

    def _report(
        self,
        run: Run,
        shadow: Shadow,
        access: Access,
        position: int,
        number: int,
        doing: str,
        role: str,
        times: int,
    ) -> None:
        operation = self._operations[number]
        offset = int(access.granules[position]) << shadow.shift
        lane = int(access.lanes[position])
        self.reports.in_flight(
            run, shadow.region, offset, access.site, operation.site, lane, doing, role, times
        )

    def check_end(self, run: Run, shadow: Shadow, place: int, lane: int) -> None:
        """Reports operations that still have shared memory of the block at `place` of a batch,
        whose last thread, that of `lane`, has exited. A thread's own copies are no operations of an
        engine: `cp.async` is looked at where its memory is."""
        per_block = run.batch.shared.stride >> shadow.shift
        start = place * per_block
        for marks, role in ((shadow.writing, "writes"), (shadow.reading, "reads")):
            numbers = np.zeros(0, np.int32) if marks is None else marks[start : start + per_block]
            for number in np.unique(numbers[numbers > 0]).tolist():
                operation = self._operations[number]
                if _is_of_thread(operation):
                    continue
                own = np.flatnonzero(numbers == number)
                offset = (start + int(own[0])) << shadow.shift
                self.reports.outlives(run, shadow.region, offset, operation.site, lane, role,
                                      len(own))  # fmt: skip

    def begin(self, operation: Async, shadow: Shadow, access: Access, *, writes: bool) -> None:
        """Marks memory as an operation's."""
        self._operations[operation.number] = operation
        shadow.marks(writes=writes)[access.granules] = operation.number

    def begin_copy(self, operation: Async, shadow: Shadow, access: Access) -> None:
        """Marks memory as what copies of threads read, of which any number may be in flight."""
        self._operations[operation.number] = operation
        latest, copies = shadow.copy_marks()
        latest[access.granules] = operation.number
        np.add.at(copies, access.granules, 1)

    def end_copy(self, shadow: Shadow, access: Access) -> None:
        """Threads have waited for copies; the mark goes with the last of a granule's."""
        latest, copies = shadow.copy_marks()
        np.subtract.at(copies, access.granules, 1)
        latest[access.granules[copies[access.granules] == 0]] = 0

    def end(self, operation: Async, shadow: Shadow, access: Access, *, writes: bool) -> None:
        """The operation is complete for those who waited; marks of later operations stay."""
        marks = shadow.marks(writes=writes)
        own = access.granules[marks[access.granules] == operation.number]
        marks[own] = 0


def _is_of_thread(operation: Async) -> bool:
    """Whether a thread copies itself (PTX ISA, "cp.async")."""
    name = operation.site.opcode
    return name.startswith("cp.async") and not operation.in_async_proxy

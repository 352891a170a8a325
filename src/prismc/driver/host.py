"""Outputs that serve all targets of a build: what a host program links, includes or loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from prismc.backend.cuda_module import CudaModule
from prismc.backend.host.header import emit_header
from prismc.backend.host.images import Image, emit_images, images_of
from prismc.backend.host.interface import HostModule, host_module
from prismc.backend.host.python_module import KernelNotes, emit_python, emit_stubs
from prismc.backend.toolchain.build import Binary
from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.packing import compile_object, pack_fatbin
from prismc.driver.build_record import record_text
from prismc.driver.declared import comment_of
from prismc.driver.errors import ToolUnusable
from prismc.driver.pipeline import CHECKS
from prismc.driver.session import Session
from prismc.driver.symbols import shared_arrays
from prismc.hardware.targets import Target
from prismc.source.files import SourceFile
from prismc.source.span import NOWHERE


class HostOutputs:
    """The contents of such outputs, each None after a problem was reported."""

    def __init__(
        self,
        session: Session,
        file: SourceFile,
        work: Sequence[tuple[CudaModule, Target]],
        binaries: tuple[Binary, ...],
    ) -> None:
        self._session = session
        self._file = file
        self._work = [(module, target.name) for module, target in work]
        self._binaries = binaries

    @cached_property
    def _module(self) -> HostModule:
        return host_module(self._file.name, self._work)

    @cached_property
    def _images(self) -> tuple[Image, ...]:
        return images_of(self._binaries)

    def header(self) -> bytes:
        """The C and C++ header; it needs no machine code."""
        return emit_header(self._module, self._session.sink).encode()

    def object(self) -> bytes | None:
        text = emit_images(self._module, self._images)
        return self._packed(lambda: compile_object(f"{self._module.name}.c", text))

    @cached_property
    def _notes(self) -> dict[str, KernelNotes]:
        """What is told of each kernel, by its name."""
        checked = self._session.made[CHECKS].fact
        return {
            kernel.entry.name: KernelNotes(
                comment=comment_of(self._session, kernel.entry.at),
                shared_arrays=tuple(
                    (each.name, each.start, each.size, each.element, each.shape)
                    for each in shared_arrays(checked, kernel.entry.name)
                ),
            )
            for kernel in self._module.kernels
        }

    def python(self) -> bytes:
        """A module of Python that launches the kernels."""
        sink = self._session.sink
        return emit_python(self._module, self._images, self._notes, sink).encode()

    def stubs(self) -> bytes:
        """What type checkers read in the module's place; it needs no machine code."""
        return emit_stubs(self._module, self._notes).encode()

    def fatbin(self) -> bytes | None:
        return self._packed(lambda: pack_fatbin(self._images))

    def record(self) -> bytes:
        return record_text(self._session, self._module, self._binaries).encode()

    def _packed(self, make: Callable[[], bytes]) -> bytes | None:
        try:
            return make()
        except ToolchainFailure as failure:
            problem = ToolUnusable(at=NOWHERE, reason=failure.reason, remedy=failure.remedy)
            self._session.sink.report(problem)
            return None

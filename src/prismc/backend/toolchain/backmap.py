"""Messages of the CUDA compilers, told as problems at Prism lines.

The front end honours `#line`; ptxas counts lines of the PTX, where the last `.loc` above tells
the Prism line and the chain of calls that were inlined.
"""

from __future__ import annotations

from functools import cached_property

from prismc.backend.cuda_module import CudaModule, spell_file
from prismc.backend.errors import CompilerRemark, GeneratedCodeRefused, InstructionIgnored
from prismc.backend.toolchain.compilation import Compilation
from prismc.backend.toolchain.log import Message, Weight, read_log
from prismc.backend.toolchain.ptx_lines import Place, PtxLines
from prismc.diagnostics.problem import Problem, Related
from prismc.source.files import Files, SourceFile
from prismc.source.span import NOWHERE, Span

# Which instruction a note without a place speaks of, and what mends it.
_CULPRITS = (
    (
        "setmaxnreg",
        "write `min_blocks = 1` in `@launch`, and keep the register counts of all arms within "
        "what the block starts with",
    ),
    (
        "wgmma",
        "between issuing `wgmma` and waiting for it, call no function, use no `assert` or "
        "`print`, and leave its accumulators alone",
    ),
)
_NO_REMEDY = "rewrite the kernel so that the note does not apply"


def told_problems(
    compilation: Compilation, module: CudaModule, files: Files
) -> tuple[Problem, ...]:
    """The problems that a compilation's log tells, in its order.

    A failed compilation always tells at least one error.
    """
    teller = _Teller(compilation, module, files)
    messages = read_log(compilation.log)
    if any(message.weight is Weight.GAVE_UP for message in messages):
        # The lesser notes are consequences of the one that gave up.
        messages = tuple(m for m in messages if not m.note or m.weight is Weight.GAVE_UP)
    problems = [teller.problem(message) for message in messages]
    refused = any(isinstance(problem, GeneratedCodeRefused) for problem in problems)
    if compilation.cubin is None and not refused:
        problems.append(teller.unexplained())
    return tuple(problems)


def origin_of(
    compilation: Compilation, module: CudaModule, files: Files, ptx_line: int
) -> tuple[Span, tuple[Related, ...]]:
    """Where a line of the PTX comes from, and the calls that it was inlined into."""
    return _Teller(compilation, module, files).origin(ptx_line)


class _Teller:
    def __init__(self, compilation: Compilation, module: CudaModule, files: Files) -> None:
        self._compilation = compilation
        self._files = files
        self._names = {spell_file(name): name for name in module.files}
        self._kernels = {kernel.name: kernel.at for kernel in module.kernels}
        self._start = next(iter(self._kernels.values()), NOWHERE)

    @cached_property
    def _ptx(self) -> PtxLines:
        return PtxLines(self._compilation.ptx or "")  # most logs tell of no line

    def problem(self, message: Message) -> Problem:
        ptx_line = message.ptx_line or self._culprit(message)
        at, related = self._origin(message, ptx_line)
        shown = message.shown or self._ptx.line(ptx_line)
        notes = (f"generated code: {shown}",) if shown else ()
        target = self._compilation.target
        if message.weight is Weight.GAVE_UP:
            return InstructionIgnored(
                at=at,
                related=related,
                notes=notes,
                target=target,
                note=message.note,
                text=message.text,
                remedy=_remedy(message.text),
            )
        kind = GeneratedCodeRefused if message.weight is Weight.ERROR else CompilerRemark
        text = f"{message.text} ({message.note})" if message.note else message.text
        return kind(
            at=at, related=related, notes=notes, tool=message.tool, target=target, text=text
        )

    def unexplained(self) -> Problem:
        return GeneratedCodeRefused(
            at=self._start,
            tool=self._compilation.compiler,
            target=self._compilation.target,
            text="no reason given",
            notes=tuple(self._compilation.log.splitlines()[-3:]),
        )

    def _culprit(self, message: Message) -> int:
        """The PTX line of the instruction that an unplaced note names, 0 if it names none."""
        if not message.note:
            return 0
        for instruction, _ in _CULPRITS:
            if instruction in message.text:
                return self._ptx.find(instruction, message.function)
        return 0

    def _origin(self, message: Message, ptx_line: int) -> tuple[Span, tuple[Related, ...]]:
        if message.file:
            known = self._span(Place(message.file, message.line))
            return known or self._start, ()
        return self.origin(ptx_line, message.function)

    def origin(self, ptx_line: int, function: str = "") -> tuple[Span, tuple[Related, ...]]:
        """Where a line of the PTX comes from; the kernel, where its function alone is known."""
        spans = [span for place in self._ptx.places(ptx_line) if (span := self._span(place))]
        if not spans:
            function = function or self._ptx.function(ptx_line)
            return self._kernels.get(function, self._start), ()
        related = (Related(at=span, message="it is part of this call") for span in spans[1:])
        return spans[0], tuple(related)

    def _span(self, place: Place) -> Span | None:
        """The text of a Prism line without its indentation; None for other files' lines."""
        name = self._names.get(place.file)
        return None if name is None else line_span(self._files.known(name), place.line)


def line_span(file: SourceFile, number: int) -> Span:
    """The span of line `number` of `file` (from 1) without indentation and line end."""
    starts = file.line_starts
    if not 0 < number <= len(starts):
        return Span(file.name, 0, 0)
    line = file.line(number)
    start = starts[number - 1] + len(line) - len(line.lstrip())
    return Span(file.name, start, start + len(line.strip()))


def _remedy(text: str) -> str:
    return next((remedy for name, remedy in _CULPRITS if name in text), _NO_REMEDY)

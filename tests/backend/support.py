"""Hand-written CUDA with made-up Prism files behind its lines."""

from __future__ import annotations

from prismc.backend.cuda_module import CudaModule, KernelEntry, spell_file
from prismc.source.files import Files
from prismc.source.span import Span

PRISM = "\n".join(f"    line {number}" for number in range(1, 51))


def sources(*names: str) -> Files:
    """Files of fifty lines, `    line N` each."""
    files = Files()
    for name in names or ("dir/vec.prism",):
        files.overlay(name, PRISM)
    return files


def cuda(
    *chunks: tuple[int, str], name: str = "dir/vec.prism", kernels: tuple[str, ...] = ("k",)
) -> CudaModule:
    """A module whose chunks of text start at the given Prism lines."""
    text = "".join(f'#line {line} "{spell_file(name)}"\n{code}\n' for line, code in chunks)
    entries = (KernelEntry(name=kernel, at=line_of(1, name), threads=32) for kernel in kernels)
    return CudaModule(name="vec.cu", text=text, kernels=tuple(entries), files=(name,))


def line_of(number: int, name: str = "dir/vec.prism") -> Span:
    """The span of line `number` without its indentation."""
    text = f"line {number}"
    start = PRISM.index(f"{text}\n")
    return Span(name, start, start + len(text))

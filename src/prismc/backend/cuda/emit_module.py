"""From the functions of a module to CUDA C++ text that needs no header.

The text has what its functions use of types and helpers, then the functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prismc.backend.cuda.emit_functions import Written
from prismc.backend.cuda.helper import Helper
from prismc.backend.cuda.helpers import helpers_for
from prismc.backend.cuda.types import CARRIERS, vector_struct
from prismc.backend.cuda_module import CudaModule, spell_file
from prismc.hardware.targets import Target
from prismc.ir.core import walk
from prismc.ir.ops.intrinsic import CudaText


def emit_module(written: Written, target: Target, name: str) -> CudaModule:
    """The whole text for `target`; `name` is what the text is called (`saxpy.cu`)."""
    return CudaModule(
        name=spell_file(name),
        text=_prelude(written, target) + written.text,
        kernels=written.kernels,
        files=written.files,
    )


def _prelude(written: Written, target: Target) -> str:
    has_clusters = any(kernel.cluster > 1 for kernel in written.kernels)
    known = helpers_for(target, has_clusters=has_clusters)
    needed = frozenset(_with_called(written.helpers, known))
    helpers = [helper.text for name, helper in known.items() if name in needed]
    words = frozenset(
        word for text in (*helpers, *_pasted(written)) for word in re.findall(r"\w+", text)
    )
    parts = [f"// CUDA C++ that prismc generated for {target}; it needs no header.\n"]
    typedefs = [
        f"typedef {carrier} {scalar.name};\n"
        for scalar, carrier in CARRIERS.items()
        if scalar in written.scalars or scalar.name in words
    ]
    structs = [f"{vector_struct(vector)}\n" for vector in written.vectors]
    parts += ["".join(typedefs), "".join(structs), *helpers]
    return "\n".join(part for part in parts if part) + "\n"


def _with_called(names: Iterable[str], known: dict[str, Helper]) -> Iterator[str]:
    """The helpers, and those that they call."""
    for name in names:
        yield name
        yield from _with_called(known[name].calls, known)


def _pasted(written: Written) -> Iterator[str]:
    """The CUDA C++ that the program itself gives."""
    for function in written.module.functions:
        for op in walk(function.body):
            if isinstance(op, CudaText):
                yield op.text

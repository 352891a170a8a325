"""A module of Python for the kernels of a Prism file, and the stubs that type checkers read.

The module holds images and facts; `prismc.built` launches. Names of its own begin with `_`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence

from prismc.backend.cuda_module import KernelEntry, KernelParameter, spell_file
from prismc.backend.host.errors import report_unverified
from prismc.backend.host.images import Image
from prismc.backend.host.interface import HostKernel, HostModule
from prismc.backend.host.python_formulas import ARITHMETIC, python_condition
from prismc.backend.host.types import NUMPY_SCALARS, launch_facts, prism_type
from prismc.diagnostics.sink import Sink
from prismc.hardware.scalars import SCALARS, Kind
from prismc.source.identifiers import python_names
from prismc.source.record import Record
from prismc.source.version import MADE_BY, VERSION

FORMAT = 1  # of what a module says to `prismc.built`
OPTIONS = ("grid", "stream", "device", "schedules", "seed", "time_limit")
_OWN = (ARITHMETIC, "_built", "_np", "_program")
_LINE = 96


class KernelNotes(Record):
    """What is told of a kernel beside its entry: its author's comment, and where shared arrays lie:
    name, start, bytes, bytes of an element, shape."""

    comment: str = ""
    shared_arrays: tuple[tuple[str, int, int, int, tuple[int, ...]], ...] = ()


Notes = Mapping[str, KernelNotes]


def emit_python(module: HostModule, images: Sequence[Image], notes: Notes, sink: Sink) -> str:
    """The text of the module; assumptions that it cannot verify are reported."""
    entries = [kernel.entry for kernel in module.kernels]
    report_unverified(entries, sink)
    names = _names(module)
    has_conditions = any(each.formula for entry in entries for each in entry.conditions)
    lines = [
        f'"""Kernels of {spell_file(module.source)}, {MADE_BY} {VERSION}.',
        "",
        "To change them, build them again. The package prismc launches them, without its compiler:",
        "with NumPy arrays on the CPU, watched; with arrays of a GPU there.",
        '"""',
        "",
        "from prismc import built as _built",
        *([f"from prismc.built import arithmetic as {ARITHMETIC}"] if has_conditions else []),
        "",
        f"__all__ = {_shown(names)}",
        "",
        "_program = _built.Program(",
        f"    format={FORMAT},",
        f'    made_by="prismc {VERSION}",',
        f"    name={_shown(module.name)},",
        "    images=(",
        *(line for image in images for line in _image(image)),
        "    ),",
        ")",
    ]
    for name, kernel in zip(names, module.kernels, strict=True):
        lines += ["", *_kernel(name, kernel, notes[kernel.entry.name])]
    return "\n".join(lines) + "\n"


def emit_stubs(module: HostModule, notes: Notes) -> str:
    """What type checkers and editors read in the place of the module."""
    names = _names(module)
    lines = [
        f'"""Kernels of {spell_file(module.source)}, {MADE_BY} {VERSION}."""',
        "",
        "import numpy as _np",
        "",
        "from prismc import built as _built",
        "",
        f"__all__ = {_shown(names)}",
        "",
    ]
    for name, kernel in zip(names, module.kernels, strict=True):
        lines += [*_stub(name, kernel.entry, notes[kernel.entry.name].comment), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _names(module: HostModule) -> tuple[str, ...]:
    return python_names([kernel.entry.name for kernel in module.kernels], _OWN)


def _plain(text: str) -> str:
    """`text` as a docstring has it."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


# ------------------------------------------------------------------ the module


def _kernel(name: str, kernel: HostKernel, notes: KernelNotes) -> Iterator[str]:
    entry = kernel.entry
    names = [parameter.name for parameter in entry.parameters]
    yield f"{name} = _program.kernel("
    yield f"    name={_shown(entry.name)},"
    yield "    parameters=("
    for parameter in entry.parameters:
        yield f"        _built.Parameter({_arguments(launch_facts(parameter))}),"
    yield "    ),"
    yield f"    threads={entry.threads},"
    yield f"    shared_bytes={entry.shared},"
    yield f"    dynamic_shared={_shown(kernel.dynamic_shared)},"
    yield f"    cluster={entry.cluster},"
    yield f"    cooperative={entry.cooperative},"
    yield "    assumptions=("
    for condition in entry.conditions:
        if condition.formula is not None:
            holds = python_condition(condition, names)
            yield f"        ({_shown(condition.text)}, {holds}),"
    yield "    ),"
    yield "    shared_arrays=("
    yield from (f"        {_shown(each)}," for each in notes.shared_arrays)
    yield "    ),"
    yield f"    comment={_shown(notes.comment)},"
    yield ")"


def _shown(value: object) -> str:
    """A value as Python code."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        listed = ", ".join(map(_shown, value))
        return f"({listed},)" if len(value) == 1 else f"({listed})"
    return repr(value)


def _arguments(facts: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={_shown(value)}" for name, value in facts.items())


def _image(image: Image) -> Iterator[str]:
    """PTX to be read, machine code in base64."""
    if image.ptx_version:
        text = image.content.decode()
        shown = _shown(text) if "'''" in text or "\r" in text else f"r'''{text}'''"
        yield f'        _built.ptx("{image.target}", {shown}),'
        return
    text = b64encode(image.content).decode()
    yield f'        _built.machine_code("{image.target}", """'
    yield from (text[at : at + _LINE] for at in range(0, len(text), _LINE))
    yield '"""),'


# ------------------------------------------------------------------ the stubs


def _stub(name: str, entry: KernelEntry, comment: str) -> Iterator[str]:
    """A class of its own for each kernel: its call has the kernel's parameters."""
    own = python_names([each.name for each in entry.parameters], ("self", *OPTIONS))
    yield f"class _{name}_kernel(_built.Kernel):"
    yield "    def __call__("
    yield "        self,"
    for each, parameter in zip(own, entry.parameters, strict=True):
        yield f"        {each}: {_annotation(parameter)},  # {prism_type(parameter)}"
    yield "        *,"
    yield "        grid: _built.Grid,"
    yield "        stream: object = None,"
    yield "        device: _built.Device | None = None,"
    yield "        schedules: int = 1,"
    yield "        seed: int = 0,"
    yield "        time_limit: float | None = None,"
    yield "    ) -> None:"
    said = [*_plain(comment).split("\n"), ""] if comment else []
    assumed = [f"It assumes `{_plain(each.text)}`." for each in entry.conditions]
    lines = [*said, f"Blocks of {entry.threads} threads.", *assumed]
    yield f'        """{lines[0]}'
    yield from (f"        {line}".rstrip() for line in lines[1:])
    yield '        """'
    yield ""
    yield f"{name}: _{name}_kernel"


def _annotation(parameter: KernelParameter) -> str:
    """The type of an argument."""
    if parameter.is_pointer or parameter.is_map:
        return f"_built.Array[_np.{NUMPY_SCALARS[parameter.scalar]}]"
    kind = SCALARS[parameter.scalar].kind
    name = {Kind.BOOL: "Bool", Kind.FLOAT: "Float"}.get(kind, "Int")
    return f"_built.Lanes[_built.{name}]" if parameter.lanes > 1 else f"_built.{name}"

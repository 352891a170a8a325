"""Machine code as C text, from which any C compiler makes an object to link.

The bytes stand in 64-bit words: these are aligned as ELF images want it, and compile ten times
faster than bytes do. All hosts of CUDA are little-endian.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prismc.source.record import Record
from prismc.source.version import VERSION

if TYPE_CHECKING:
    from prismc.backend.host.interface import HostModule
    from prismc.backend.toolchain.build import Binary

_PTX_VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)
_WORDS_A_LINE = 4


class Image(Record):
    """One image: `target` as `sm_90a`; `ptx_version` (95 for 9.5) is 0 for machine code."""

    target: str
    content: bytes
    ptx_version: int = 0


def images_of(binaries: Sequence[Binary]) -> tuple[Image, ...]:
    """What is shipped: machine code for each target, and its PTX, which later devices run."""
    machine_code = (Image(target=each.target, content=each.cubin) for each in binaries)
    texts = (
        Image(target=each.target, content=each.ptx.encode(), ptx_version=ptx_version(each.ptx))
        for each in binaries
    )
    return (*machine_code, *texts)


def ptx_version(ptx: str) -> int:
    """The `.version` of a PTX text, 95 for 9.5."""
    match = _PTX_VERSION.search(ptx)
    if match is None:
        raise ValueError("PTX without a .version")
    return 10 * int(match[1]) + int(match[2])


def emit_images(module: HostModule, images: Sequence[Image]) -> str:
    """C text that defines `NAME_images`, which the header of `module` declares."""
    rows = [
        f"    {{{module.targets.index(each.target)}, {each.ptx_version}, image_{number}}},"
        for number, each in enumerate(images)
    ]
    source = module.source.replace("*/", "*_/")
    parts = [
        f"/* Images of the kernels of {source}, made by prismc {VERSION}. */",
        *(f"static const unsigned long long image_{n}[] = {{\n{words}\n}};"
          for n, words in enumerate("\n".join(_lines(each.content)) for each in images)),
        "/* The types are those of the header. */",
        "struct prism_image { int target; int ptx_version; const void *data; };",
        "struct prism_images {",
        "    const char *signature; int count; const struct prism_image *images;",
        "};",
        "static const struct prism_image images[] = {",
        *rows,
        "};",
        f"extern const struct prism_images {module.name}_images;",
        f"const struct prism_images {module.name}_images = "
        f'{{"{module.signature}", {len(images)}, images}};',
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _lines(content: bytes) -> Iterator[str]:
    content += b"\0" * (8 - len(content) % 8)  # one zero at least: PTX is a string of C
    size = 8 * _WORDS_A_LINE
    for at in range(0, len(content), size):
        words = (content[i : i + 8] for i in range(at, min(at + size, len(content)), 8))
        yield "".join(f" {int.from_bytes(word, 'little'):#x}ull," for word in words)

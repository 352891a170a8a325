"""`cp`: which asynchronous copy an instruction is."""

from __future__ import annotations

from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.execute.bulk import open_bulk
from prismc.emulator.execute.copies import open_thread_copy
from prismc.emulator.ptx.tree import Instruction


def open_copy(decoder: Decoder, site: Instruction) -> Decoded:
    """`cp.async` in all its forms; `cp.reduce.async` is a bulk form."""
    form = site.form
    if not form.has("async"):
        decoder.refuse(site, "expected `cp.async` or `cp.reduce.async`")
    if form.has("bulk"):
        return open_bulk(decoder, site)
    return open_thread_copy(decoder, site)

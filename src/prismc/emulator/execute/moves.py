"""`mov`: copies, packing and unpacking (PTX ISA 9.7.9.6 and 9.7.9.7)."""

from __future__ import annotations

from functools import reduce

import numpy as np

from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.execute.access import packed_source
from prismc.emulator.ptx.tree import Instruction, Operand
from prismc.emulator.semantics.registry import UNSIGNED, Lanes, bits_of
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run


def open_move(decoder: Decoder, site: Instruction) -> Decoded:
    """A move of a scalar, or between a scalar and the vector of its parts."""
    if len(site.operands) != 2 or len(site.form.types) != 1 or site.form.modifiers:
        decoder.refuse(site, "expected `mov.type d, a`")
    destinations = decoder.destinations(site.operands[0], site)
    elements = decoder.elements(site.operands[1])
    type_name = site.form.types[0]
    if bits_of(type_name) == 128:
        decoder.refuse(site, "128-bit registers are not supported")
    if len(destinations) == 1 and len(elements) == 1:
        return Decoded(step=_copy(decoder, site, destinations[0], elements[0]))
    if len(destinations) == 1:
        return Decoded(step=_pack(decoder, site, destinations[0], elements))
    if len(elements) == 1:
        return Decoded(step=_unpack(decoder, site, destinations, elements[0]))
    decoder.refuse(site, "a vector cannot be moved to a vector")


def _copy(
    decoder: Decoder, site: Instruction, destination: int | None, element: Operand | None
) -> Step | None:
    """Registers share the array."""
    if destination is None:
        return None
    slot, adapt = decoder.source(element, site.form.types[0], site)
    extend = decoder.extend(destination, site.form.types[0])

    def step(run: Run) -> None:
        value = run.regs[slot]
        value = value if adapt is None else adapt(value)
        run.write(destination, value if extend is None else extend(value))

    return step


def _part_bits(decoder: Decoder, site: Instruction, count: int) -> int:
    bits = bits_of(site.form.types[0])
    if bits % count or bits // count not in UNSIGNED:
        decoder.refuse(site, f"{bits} bits cannot be cut into {count} parts")
    return bits // count


def _pack(
    decoder: Decoder,
    site: Instruction,
    destination: int | None,
    elements: tuple[Operand | None, ...],
) -> Step | None:
    """The first element goes into the lowest bits."""
    if destination is None:
        return None
    part = _part_bits(decoder, site, len(elements))
    sources = [decoder.source(element, f"b{part}", site) for element in elements]
    whole = UNSIGNED[bits_of(site.form.types[0])]

    def step(run: Run) -> None:
        parts = [
            packed_source(run, source).astype(whole) << whole(part * k)
            for k, source in enumerate(sources)
        ]
        run.write_packed(destination, reduce(np.bitwise_or, parts))

    return step


def _unpack(
    decoder: Decoder,
    site: Instruction,
    destinations: tuple[int | None, ...],
    element: Operand | None,
) -> Step:
    part = _part_bits(decoder, site, len(destinations))
    source = decoder.source(element, site.form.types[0], site)
    whole = UNSIGNED[bits_of(site.form.types[0])]
    extends = [None if d is None else decoder.extend(d, f"b{part}") for d in destinations]

    def step(run: Run) -> None:
        value = packed_source(run, source)
        for k, (destination, extend) in enumerate(zip(destinations, extends, strict=True)):
            if destination is not None:
                taken: Lanes = (value >> whole(part * k)).astype(UNSIGNED[part])
                run.write_packed(destination, taken if extend is None else extend(taken))

    return step

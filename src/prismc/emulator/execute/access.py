"""Loads and stores in every space, with vectors (PTX ISA 9.7.9, ld, ldu, st)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prismc.emulator.decode import AddressOf, Decoded, Decoder, Source
from prismc.emulator.events import Watch
from prismc.emulator.execute.qualifiers import qualifiers_of
from prismc.emulator.execute.reach import Reach
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Address, Instruction, Symbol
from prismc.emulator.scopes import Qualifiers, Strength
from prismc.emulator.semantics.registry import UNSIGNED, Lanes, bits_of
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.source.record import replace

Results = tuple[tuple[int | None, Callable[[Lanes], Lanes] | None], ...]
# The bytes of an access that count, as aligned pieces: offset and size.
Pieces = tuple[tuple[int, int], ...]


def _width(decoder: Decoder, site: Instruction) -> int:
    """Bytes of one element."""
    if len(site.form.types) != 1 or bits_of(site.form.types[0]) not in (8, 16, 32, 64):
        decoder.refuse(site, "expected one type of 8, 16, 32 or 64 bits")
    return bits_of(site.form.types[0]) // 8


def space_of(decoder: Decoder, operand: object, qualifiers: Qualifiers) -> str:
    """The space to look in; a function's own parameters lie in local memory."""
    named = operand.base if isinstance(operand, Address) else None
    if isinstance(named, Symbol) and named.name in decoder.local_offsets:
        return "local"
    return qualifiers.space


def open_load(decoder: Decoder, site: Instruction) -> Decoded:
    """`ld`: a load (PTX ISA 9.7.9.8); of a kernel's parameter it is a constant."""
    qualifiers = qualifiers_of(decoder, site)
    width = _width(decoder, site)
    type_name = site.form.types[0]
    destinations = decoder.destinations(site.operands[0], site)
    if len(destinations) != qualifiers.count:
        decoder.refuse(site, f"{len(destinations)} registers for {qualifiers.count} elements")
    if qualifiers.strength is Strength.WEAK:
        destinations = _wanted(destinations, decoder.unread)
    results = tuple(
        (register, None if register is None else decoder.extend(register, type_name))
        for register in destinations
    )
    if all(register in decoder.copied_only for register in destinations):
        qualifiers = replace(qualifiers, is_copy=True)
    parameter = _parameter_bytes(decoder, site, width * len(results))
    if parameter is not None:
        return Decoded(step=_constant_step(decoder, results, parameter, width))
    where = decoder.address(site.operands[1], site)
    space = space_of(decoder, site.operands[1], qualifiers)
    pieces = _pieces(destinations, width)
    align, size = width * len(results), sum(pieces[-1])
    reach = Reach(decoder.launch, site, space, size, align, writes=False)
    return Decoded(step=_load_step(decoder, site, where, reach, width, results, qualifiers, pieces))


def _wanted(destinations: tuple[int | None, ...], unread: frozenset[int]) -> tuple[int | None, ...]:
    """The destinations of a vector without registers that nobody reads.

    Compilers widen loads to whole vectors where the alignment lets them: 3 words become 4.
    """
    wanted = tuple(None if register in unread else register for register in destinations)
    return wanted if any(register is not None for register in wanted) else destinations


def _pieces(destinations: tuple[int | None, ...], width: int) -> Pieces:
    """The bytes that reach a register, in pieces that are aligned to their size."""
    count = len(destinations)
    if all(d is None for d in destinations) or None not in destinations:
        return ((0, width * count),)
    found: list[tuple[int, int]] = []
    for k, register in enumerate(destinations):
        if register is None:
            continue
        start, size = k * width, width
        while found and sum(found[-1]) == start and found[-1][1] == size:
            if found[-1][0] % (2 * size):
                break
            start, size = found.pop()[0], 2 * size
        found.append((start, size))
    return tuple(found)


def _parameter_bytes(decoder: Decoder, site: Instruction, size: int) -> bytes | None:
    """The bytes of a kernel parameter that an operand names, if it does."""
    operand = site.operands[1]
    if not isinstance(operand, Address) or not isinstance(operand.base, Symbol):
        return None
    content = decoder.linkage.parameter(operand.base.name)
    if content is None or operand.base.name in decoder.local_offsets:
        return None
    start = operand.base.offset + operand.offset
    if start < 0 or start + size > len(content):
        decoder.refuse(site, f"reads outside of the parameter `{operand.base.name}`")
    return content[start : start + size]


def _constant_step(decoder: Decoder, results: Results, content: bytes, width: int) -> Step:
    values = np.frombuffer(content, UNSIGNED[8 * width])
    moves = tuple(
        (register, values[k : k + 1] if extend is None else extend(values[k : k + 1].copy()))
        for k, (register, extend) in enumerate(results)
        if register is not None
    )

    def step(run: Run) -> None:
        for register, value in moves:
            run.write(register, value)

    return step


def _load_step(
    decoder: Decoder,
    site: Instruction,
    where: AddressOf,
    reach: Reach,
    width: int,
    results: Results,
    qualifiers: Qualifiers,
    pieces: Pieces,
) -> Step:
    shift = width.bit_length() - 1
    watch = decoder.launch.watch_of(site)

    def step(run: Run) -> None:
        addresses = where.packed(run)
        places = reach.places(run, addresses)
        if len(places) == 1 and places[0].chosen is None:
            if watch is not None:
                _tell(watch, run, site, places[0], qualifiers, pieces)
            region, offsets, _ = places[0]
            view, index = region.view(width), offsets >> shift
            for k, (register, extend) in enumerate(results):
                if register is not None:
                    value = view.take(index + k if k else index)
                    run.write_packed(register, value if extend is None else extend(value))
            return
        if watch is not None:
            for place in places:
                _tell(watch, run, site, place, qualifiers, pieces)
        for k, (register, extend) in enumerate(results):
            if register is not None:
                value = _gathered(places, width, k, len(addresses))
                run.write_packed(register, value if extend is None else extend(value))

    return step


def _tell(
    watch: Watch,
    run: Run,
    site: Instruction,
    place: Place,
    qualifiers: Qualifiers,
    pieces: Pieces,
) -> None:
    """Lets the watch know of a load."""
    for start, size in pieces:
        part = place._replace(offsets=place.offsets + start) if start else place
        watch.read(run, site, part, size, qualifiers)


def _gathered(places: list[Place], width: int, element: int, count: int) -> Lanes:
    """Element `element` of loads that lead to several places; 0 where a load leads nowhere."""
    values = np.zeros(_spread_count(places, count), UNSIGNED[8 * width])
    shift = width.bit_length() - 1
    for region, offsets, chosen in places:
        taken = region.view(width).take((offsets >> shift) + element)
        if chosen is None:
            values[:] = taken
        else:
            values[chosen] = taken
    return values


def _spread_count(places: list[Place], count: int) -> int:
    """How many packed elements there are: uniform shared addresses lead to one per lane."""
    sizes = [int(place.chosen[-1]) + 1 for place in places if place.chosen is not None]
    return max([count, *sizes])


def open_store(decoder: Decoder, site: Instruction) -> Decoded:
    """`st`: a store (PTX ISA 9.7.9.11). Of lanes that store to one address, the last one wins."""
    qualifiers = qualifiers_of(decoder, site)
    width = _width(decoder, site)
    elements = decoder.elements(site.operands[1])
    if len(elements) != qualifiers.count:
        decoder.refuse(site, f"{len(elements)} values for {qualifiers.count} elements")
    sources = tuple(decoder.source(item, site.form.types[0], site) for item in elements)
    where = decoder.address(site.operands[0], site)
    space = space_of(decoder, site.operands[0], qualifiers)
    size = width * len(sources)
    reach = Reach(decoder.launch, site, space, size, size, writes=True)
    return Decoded(step=_store_step(decoder, site, where, reach, width, sources, qualifiers))


def _store_step(
    decoder: Decoder,
    site: Instruction,
    where: AddressOf,
    reach: Reach,
    width: int,
    sources: tuple[Source, ...],
    qualifiers: Qualifiers,
) -> Step:
    launch = decoder.launch
    shift = width.bit_length() - 1
    watch = launch.watch
    size = reach.size

    def step(run: Run) -> None:
        launch.progress += 1
        values = [packed_source(run, source) for source in sources]
        for place in reach.places(run, where.packed(run)):
            if watch is not None:
                watch.write(run, site, place, size, qualifiers, values, width)
            view, index = place.region.view(width), place.offsets >> shift
            for k, value in enumerate(values):
                if len(value) > 1:
                    value = value if place.chosen is None else value[place.chosen]
                    # One address for all lanes: the last lane's value stays.
                    value = value if len(index) > 1 else value[-1:]
                view[index + k if k else index] = value

    return step


def packed_source(run: Run, source: Source) -> Lanes:
    """A source operand's packed values in the width of its type."""
    values = run.packed(run.regs[source.slot])
    return values if source.adapt is None else source.adapt(values)

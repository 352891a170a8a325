"""Register-to-register instructions: the registered semantics applied to lanes and warps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from prismc.emulator.decode import Decoded, Decoder, Source
from prismc.emulator.execute.members import judged_active_mask, members_of
from prismc.emulator.ptx.tree import Instruction, Operand, Vector
from prismc.emulator.semantics import everything
from prismc.emulator.semantics.registry import Instruction as Family
from prismc.emulator.semantics.registry import (
    Kind,
    Lanes,
    Operation,
    Refused,
    find,
    operand_types,
)
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run

# Importing them registers them.
SEMANTICS = everything.MODULES

# A source: one register, or the elements of a vector.
Sources = tuple[int | tuple[int, ...], ...]


def open_registered(decoder: Decoder, site: Instruction) -> Decoded:
    """An instruction that `semantics` computes; refused if nothing there does."""
    try:
        family = find(site.form)
        operation = family.bind(site.form)
    except Refused as refusal:
        decoder.refuse(site, str(refusal))
    sources = _sources(decoder, site, family)
    destinations = decoder.destinations(site.operands[0] if site.operands else None, site)
    if site.form.name in ("addc", "subc", "madc"):
        sources = (*sources, Source(decoder.carry_slot()))
    if site.form.has("cc"):
        destinations = (*destinations, decoder.carry_slot())
    flat = _flatten(sources)
    operation = _adapted(operation, sources, warp=family.kind is Kind.WARP)
    finish = _finish(decoder, site, family, destinations)
    if family.kind is Kind.WARP:
        step = _warp_step(operation, flat, finish)
        if site.form.name == "activemask":
            step = judged_active_mask(step, decoder, site)
        return Decoded(step=step, members=members_of(decoder, site))
    if family.kind is not Kind.LANES:
        decoder.refuse(site, "this form accesses memory")
    if len(destinations) == 1 and destinations[0] is not None and finish[0][1] is None:
        if len(family.results) > 1:
            operation = _first_result(operation)
        return Decoded(step=_plain_step(operation, flat, destinations[0]))
    return Decoded(step=_lanes_step(operation, flat, finish))


Spec = Source | tuple[Source, ...]


def _sources(decoder: Decoder, site: Instruction, family: Family) -> tuple[Spec, ...]:
    types = operand_types(site.form, family.sources)
    given = site.operands[1:]
    if not len(types) - family.optional <= len(given) <= len(types):
        decoder.refuse(site, f"{len(given)} source operands instead of {len(types)}")
    return tuple(
        _source(decoder, operand, name, site)
        for operand, name in zip(given, types[: len(given)], strict=True)
    )


def _source(decoder: Decoder, operand: Operand | None, name: str, site: Instruction) -> Spec:
    if isinstance(operand, Vector):
        return tuple(decoder.source(item, name, site) for item in operand.items)
    return decoder.source(operand, name, site)


def _flatten(sources: tuple[Spec, ...]) -> Sources:
    return tuple(
        source.slot if isinstance(source, Source) else tuple(item.slot for item in source)
        for source in sources
    )


def _adapted(operation: Operation, sources: tuple[Spec, ...], *, warp: bool) -> Operation:
    """The operation behind the conversions that its operands need."""
    adapters = [
        source.adapt if isinstance(source, Source) else tuple(item.adapt for item in source)
        for source in sources
    ]
    if not any(any(a) if isinstance(a, tuple) else a for a in adapters):
        return operation
    if warp:
        adapters.insert(0, None)

    def adapted(*values: Any) -> Any:
        return operation(*map(_convert, adapters, values))

    return adapted


def _convert(adapter: Any, value: Any) -> Any:
    if isinstance(adapter, tuple):
        return tuple(map(_convert, adapter, value))
    return value if adapter is None else adapter(value)


Finish = tuple[tuple[int | None, Callable[[Lanes], Lanes] | None], ...]


def _finish(
    decoder: Decoder, site: Instruction, family: Family, destinations: tuple[int | None, ...]
) -> Finish:
    """For each destination: its register and how its value is widened."""
    types = operand_types(site.form, family.results)
    if len(types) < len(destinations):
        types = types + (types[-1],) * (len(destinations) - len(types))
    return tuple(
        (register, None if register is None else _extension(decoder, register, name))
        for register, name in zip(destinations, types, strict=False)
    )


def _extension(decoder: Decoder, register: int, type_name: str) -> Callable[[Lanes], Lanes] | None:
    if register >= len(decoder.function.registers):
        return None
    return decoder.extend(register, type_name)


def _first_result(operation: Operation) -> Operation:
    return lambda *values: operation(*values)[0]


def _plain_step(operation: Operation, sources: Sources, destination: int) -> Step:
    """One result, as wide as its register: by far the most frequent case."""
    slots = [source for source in sources if isinstance(source, int)]
    if len(slots) < len(sources):
        return _lanes_step(operation, sources, ((destination, None),))

    def step(run: Run) -> None:
        regs = run.regs
        if run.whole:
            regs[destination] = operation(*[regs[s] for s in slots])
        elif run.sparse:
            run.write_packed(destination, operation(*[run.packed(regs[s]) for s in slots]))
        else:
            result = operation(*[regs[s] for s in slots])
            regs[destination] = np.where(run.mask_array(), result, regs[destination])

    return step


def _lanes_step(operation: Operation, sources: Sources, finish: Finish) -> Step:
    def step(run: Run) -> None:
        regs = run.regs
        pick = run.packed if run.sparse else _as_is
        values = [
            tuple(pick(regs[item]) for item in source)
            if isinstance(source, tuple)
            else pick(regs[source])
            for source in sources
        ]
        write = run.write_packed if run.sparse else run.write
        for (register, extend), result in zip(finish, _results(operation(*values)), strict=False):
            if register is not None:
                write(register, result if extend is None else extend(result))

    return step


def _as_is(values: Lanes) -> Lanes:
    return values


def _results(result: Any) -> tuple[Lanes, ...]:
    return result if isinstance(result, tuple) else (result,)


def _warp_step(operation: Operation, sources: Sources, finish: Finish) -> Step:
    def step(run: Run) -> None:
        regs = run.regs
        warps = run.warps()
        values = [
            tuple(run.by_warp(regs[item], warps) for item in source)
            if isinstance(source, tuple)
            else run.by_warp(regs[source], warps)
            for source in sources
        ]
        active = run.by_warp(run.mask_array(), warps)
        results = _results(operation(active, *values))
        for (register, extend), result in zip(finish, results, strict=False):
            if register is not None:
                value = result if extend is None else extend(result)
                run.write_by_warp(register, value, warps)

    return step

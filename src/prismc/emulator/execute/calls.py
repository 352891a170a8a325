"""Calls of device functions and of the run-time's `vprintf` and `__assertfail` (9.7.12.4, call).

Parameters are bytes in the local memory of the caller's and the callee's frame; a call copies them.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.execute.runtime import BUILTINS, Builtin
from prismc.emulator.launch import Launch
from prismc.emulator.ptx.tree import Arguments, Function, Instruction, Operand, Register, Symbol
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch, LocalMemoryExhausted
from prismc.emulator.state.code import Code, End
from prismc.emulator.state.frames import Frame
from prismc.emulator.state.run import Run
from prismc.emulator.units.exits import leave


def open_call(decoder: Decoder, site: Instruction) -> Decoded:
    """`call (results), function, (arguments), prototype` in all its shorter forms."""
    operands = list(site.operands)
    results = operands.pop(0) if isinstance(operands[0], Arguments) else Arguments(())
    target = operands.pop(0) if operands else None
    arguments = operands[0] if operands and isinstance(operands[0], Arguments) else Arguments(())
    inputs = _names(decoder, site, arguments)
    outputs = _names(decoder, site, results)
    if isinstance(target, Symbol):
        return Decoded(end=_direct(decoder, site, target.name, inputs, outputs))
    if isinstance(target, Register):
        return Decoded(end=_indirect(decoder, site, target.number, inputs, outputs))
    decoder.refuse(site, "needs a function or a register with its address")


def _names(decoder: Decoder, site: Instruction, operand: Operand | None) -> tuple[str, ...]:
    items = operand.items if isinstance(operand, Arguments) else ()
    names = tuple(item.name for item in items if isinstance(item, Symbol))
    if len(names) != len(items) or any(name not in decoder.local_offsets for name in names):
        decoder.refuse(site, "arguments and results must be `.param` variables")
    return names


def _direct(
    decoder: Decoder,
    site: Instruction,
    name: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> End:
    launch, code_of = decoder.launch, decoder.code_of
    function = decoder.linkage.function(name)
    following = decoder.following
    if function is None:
        decoder.refuse(site, f"unknown function `{name}`")
    if function.body is None:
        builtin = BUILTINS.get(name)
        if builtin is None:
            decoder.refuse(site, f"`{name}` has no body here")
        sizes = [_size(decoder, item) for item in inputs]
        return _builtin_call(decoder, site, builtin, inputs, outputs, sizes)
    _match(decoder, site, function, inputs, outputs)

    def call(run: Run) -> int | None:
        enter(launch, run, code_of(function), inputs, outputs, following)
        return None

    return call


def _match(
    decoder: Decoder,
    site: Instruction,
    function: Function,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> None:
    wanted = (len(function.parameters), len(function.results))
    if (len(inputs), len(outputs)) != wanted:
        decoder.refuse(site, f"`{function.name}` takes {wanted[0]} and returns {wanted[1]} values")


def _size(decoder: Decoder, name: str) -> int:
    return next(v.size for v in decoder.function.variables if v.name == name)


def enter(
    launch: Launch,
    run: Run,
    code: Code,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    following: int,
) -> None:
    """Copies the arguments and sends the run's lanes into the callee."""
    batch, function = run.batch, code.outline.function
    callee = run.frame.callee(batch.special, code.outline, following)
    try:
        batch.local_memory(callee.end)
    except LocalMemoryExhausted:
        launch.findings.too_deep(run, function.name)
        leave(launch, run)
        return
    callee.outputs = outputs
    for variable, name in zip(function.parameters, inputs, strict=True):
        source = run.frame.variable(name)
        copy_local(batch, run.lanes, source, callee.variable(variable.name), variable.size)
    batch.push(callee, 0, run.mask_array(), run.count, run.crew)


def copy_results(run: Run, frame: Frame, parent: Frame) -> None:
    """Copies a returning function's results to the caller's variables."""
    for variable, name in zip(frame.outline.function.results, frame.outputs, strict=True):
        source, target = frame.variable(variable.name), parent.variable(name)
        copy_local(run.batch, run.lanes, source, target, variable.size)


def copy_local(batch: Batch, lanes: Lanes | None, source: int, target: int, size: int) -> None:
    """Moves bytes inside each thread's local memory."""
    region = batch.local
    if region is None:
        return
    chosen = slice(None) if lanes is None else lanes
    for content in (region.data, region.written):
        if content is not None:
            rows = content.reshape(batch.geometry.count, region.stride)
            rows[chosen, target : target + size] = rows[chosen, source : source + size]


def read_local(run: Run, frame: Frame, name: str, size: int) -> Lanes:
    """Bytes of a local variable for the executing lanes, `[lanes, size]`."""
    region = run.batch.local
    if region is None:
        return np.zeros((run.count, size), np.uint8)
    start = frame.variable(name)
    rows = region.data.reshape(run.batch.geometry.count, region.stride)
    found: Lanes = rows[run.lane_numbers(), start : start + size]
    return found


def write_local(run: Run, frame: Frame, name: str, size: int) -> None:
    """Zeros in a local variable of the executing lanes."""
    region = run.batch.local
    if region is None:
        return
    start, lanes = frame.variable(name), run.lane_numbers()
    region.data.reshape(-1, region.stride)[lanes, start : start + size] = 0
    if region.written is not None:
        region.written.reshape(-1, region.stride)[lanes, start : start + size] = True


def _builtin_call(
    decoder: Decoder,
    site: Instruction,
    builtin: Builtin,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    sizes: list[int],
) -> End:
    """Results are 0, as nobody asks for what `printf` returns."""
    launch, following = decoder.launch, decoder.following
    results = [(name, _size(decoder, name)) for name in outputs]

    def call(run: Run) -> int | None:
        arguments = [
            read_local(run, run.frame, name, size) for name, size in zip(inputs, sizes, strict=True)
        ]
        if not builtin(launch, run, site, arguments):
            leave(launch, run)
            return None
        for name, size in results:
            write_local(run, run.frame, name, size)
        return following

    return call


def _indirect(
    decoder: Decoder,
    site: Instruction,
    register: int,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> End:
    """A call through a register: each lane to the function at its address."""
    launch, linkage, code_of = decoder.launch, decoder.linkage, decoder.code_of
    following = decoder.following

    def call(run: Run) -> int | None:
        addresses = run.regs[register]
        for address in np.unique(run.packed(addresses)):
            function = linkage.function_at(int(address))
            some = run.only(addresses == address)
            if some is None:
                continue
            if function is None or function.body is None:
                launch.findings.call_of_nothing(some, site)
                run.batch.push(run.frame, following, some.mask_array(), some.count, run.crew)
                continue
            enter(launch, some, code_of(function), inputs, outputs, following)
        return None

    return call

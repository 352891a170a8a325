"""Branches, calls and exits (PTX ISA 9.7.12), and what does nothing on this machine."""

from __future__ import annotations

import numpy as np

from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.execute.calls import copy_results
from prismc.emulator.flow import branch_targets
from prismc.emulator.launch import Launch
from prismc.emulator.ptx.tree import Instruction, LabelName, Register
from prismc.emulator.state.code import End
from prismc.emulator.state.run import Run
from prismc.emulator.units.exits import leave


def open_branch(decoder: Decoder, site: Instruction) -> Decoded:
    """`bra`: to a label, for the lanes whose predicate holds (PTX ISA 9.7.12.1)."""
    (index,) = branch_targets(decoder.function, site)
    target, following = decoder.flow.block_of[index], decoder.following
    if site.guard is None:
        return Decoded(end=lambda run: target)
    register, negated = site.guard

    def branch(run: Run) -> int | None:
        predicate = run.regs[register]
        if len(predicate) == 1:
            return target if bool(predicate[0]) != negated else following
        taken = ~predicate if negated else predicate
        taken = taken if run.mask is None else taken & run.mask
        count = int(np.count_nonzero(taken))
        if count == 0:
            return following
        if count == run.count:
            return target
        stay = ~taken if run.mask is None else run.mask & ~taken
        batch, frame = run.batch, run.frame
        batch.push(frame, target, taken, count, run.crew)
        batch.push(frame, following, stay, run.count - count, run.crew)
        return None

    return Decoded(end=branch)


def open_indexed_branch(decoder: Decoder, site: Instruction) -> Decoded:
    """`brx.idx`: to an entry of a branch table (PTX ISA 9.7.12.2)."""
    register, label = site.operands
    if not isinstance(register, Register) or not isinstance(label, LabelName):
        decoder.refuse(site, "needs an index register and a branch table")
    blocks = [decoder.flow.block_of[index] for index in branch_targets(decoder.function, site)]
    findings = decoder.launch.findings
    number = register.number

    def branch(run: Run) -> int | None:
        index = run.regs[number]
        if len(index) == 1 and int(index[0]) < len(blocks):
            return blocks[int(index[0])]
        batch = run.batch
        mask = run.mask_array()
        beyond = mask & (index >= len(blocks))
        if beyond.any():
            findings.branch_beyond_table(run, site, beyond)
        for entry in np.unique(index[mask]):
            lanes = mask & (index == entry)
            block = blocks[min(int(entry), len(blocks) - 1)]
            batch.push(run.frame, block, lanes, int(np.count_nonzero(lanes)), run.crew)
        return None

    if site.guard is None:
        return Decoded(end=branch)
    return Decoded(end=_guarded_branch(branch, decoder, site))


def _guarded_branch(branch: End, decoder: Decoder, site: Instruction) -> End:
    register, negated = site.guard or (0, False)
    following = decoder.following

    def guarded(run: Run) -> int | None:
        predicate = ~run.regs[register] if negated else run.regs[register]
        some, rest = run.only(predicate), run.only(~predicate)
        if rest is not None:
            run.batch.push(run.frame, following, rest.mask, rest.count, run.crew)
        if some is not None:
            target = branch(some)
            if target is not None:
                run.batch.push(run.frame, target, some.mask, some.count, run.crew)
        return None

    return guarded


def open_exit(decoder: Decoder, site: Instruction) -> Decoded:
    """`exit`: the threads end (PTX ISA 9.7.12.6)."""
    return Decoded(end=_ends(decoder.launch))


def _ends(launch: Launch) -> End:
    def end(run: Run) -> None:
        leave(launch, run)

    return end


def open_return(decoder: Decoder, site: Instruction) -> Decoded:
    """`ret`: back to the caller, or the end of a kernel's threads (PTX ISA 9.7.12.5)."""
    return Decoded(end=return_to_caller(decoder.launch))


def return_to_caller(launch: Launch) -> End:
    """Sends a run's lanes behind the call they came from; kernels end."""

    def back(run: Run) -> None:
        parent = run.frame.parent
        if parent is None:
            leave(launch, run)
            return
        copy_results(run, run.frame, parent)
        run.batch.push(parent, run.frame.back, run.mask_array(), run.count, run.crew)

    return back


def open_trap(decoder: Decoder, site: Instruction) -> Decoded:
    """`trap`: the launch ends abnormally (PTX ISA 9.7.19.4)."""
    launch = decoder.launch

    def trap(run: Run) -> None:
        launch.findings.trapped(run, site)
        leave(launch, run)

    return Decoded(end=trap)


def open_nothing(decoder: Decoder, site: Instruction) -> Decoded:
    """Hints that compute nothing: prefetches, cache policies, debugger events, register counts."""
    return Decoded()

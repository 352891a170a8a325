"""Which lanes must meet at a warp collective: those of its member mask, or the whole warp."""

from __future__ import annotations

from prismc.emulator.decode import Decoder, Source
from prismc.emulator.geometry import WARP
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.code import Members, Step
from prismc.emulator.state.run import Run
from prismc.emulator.units.meetings import bits_of_rows, whole_warp

_MASKED = frozenset({"shfl", "vote", "match", "redux", "elect"})


def members_of(decoder: Decoder, site: Instruction) -> Members | None:
    """The member masks of a collective, uint32 `[warps, 32]`; None if nobody has to meet."""
    if not site.form.has("sync"):
        return None
    if site.form.name not in _MASKED:
        return whole_warp
    return mask_members(decoder, site, decoder.source(site.operands[-1], "b32", site))


def judged_active_mask(step: Step, decoder: Decoder, site: Instruction) -> Step:
    """`activemask`, which tells who is here at this moment: nothing promises that those are all who
    will come (PTX ISA 9.7.13.11; CUDA Programming Guide, "Warp Vote Functions")."""
    findings = decoder.launch.findings

    def judged(run: Run) -> None:
        apart = run.batch.split_off(run.mask_array(), run.crew)
        if apart is not None:
            findings.mask_by_chance(run, site, apart)
        step(run)

    return judged


def mask_members(decoder: Decoder, site: Instruction, mask: Source) -> Members:
    """The member masks that a mask operand names; lanes outside of their own mask are reported.

    The last warp of a block may have fewer than 32 threads. Collectives are over the threads that
    there are (PTX ISA 9.7.13, vote, match: "all non-exited threads"), so a full mask means those;
    but `shfl` would read a register of a lane that is no thread.
    """
    findings = decoder.launch.findings
    reads_lanes = site.form.name == "shfl"

    def members(run: Run) -> Lanes:
        masks = run.by_warp(run.regs[mask.slot], None)
        if len(run.regs[mask.slot]) > 1 or run.regs[mask.slot][0] != 0xFFFFFFFF:
            findings.foreign_lanes(run, site, masks)
        exists = run.batch.geometry.exists
        if exists is None or reads_lanes:
            return masks
        there: Lanes = masks & bits_of_rows(exists.reshape(-1, WARP))[:, None]
        return there

    return members

"""Block barriers, warp barriers and fences as instructions (PTX ISA 9.7.13)."""

from __future__ import annotations

import numpy as np

from prismc.emulator.decode import Decoded, Decoder, Source
from prismc.emulator.execute.cluster import open_cluster_barrier
from prismc.emulator.execute.members import mask_members
from prismc.emulator.execute.qualifiers import SCOPES
from prismc.emulator.ptx.tree import Instruction, Operand
from prismc.emulator.scopes import Scope
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.barrier import Finish, Waiting
from prismc.emulator.state.code import End, Step
from prismc.emulator.state.frames import Frame
from prismc.emulator.state.outline import ConstantSlot
from prismc.emulator.state.run import Run
from prismc.emulator.units.barriers import BlockBarriers

_KNOWN = frozenset({"sync", "arrive", "red", "cta", "aligned", "popc", "and", "or", "warp"})
_NUMBERS = 16


def open_barrier(decoder: Decoder, site: Instruction) -> Decoded:
    """`bar` and `barrier`, which differ in nothing that this machine tells apart."""
    form = site.form
    if form.has("cluster"):
        return open_cluster_barrier(decoder, site)
    unknown = [m for m in form.modifiers if m not in _KNOWN]
    if unknown:
        decoder.refuse(site, f"unknown modifier `.{unknown[0]}`")
    if form.has("warp"):
        return _warp_barrier(decoder, site)
    if form.has("red"):
        return _reduction(decoder, site)
    operands = site.operands
    number, expected = _id_and_count(decoder, site, operands)
    if form.has("arrive"):
        if len(operands) != 2:
            decoder.refuse(site, "`arrive` needs a thread count")
        return Decoded(end=_arrive(decoder, site, number, expected))
    if not form.has("sync"):
        decoder.refuse(site, "expected `.sync`, `.arrive` or `.red`")
    return Decoded(end=_sync(decoder, site, number, expected, None, None))


def _id_and_count(
    decoder: Decoder, site: Instruction, operands: tuple[Operand | None, ...]
) -> tuple[Source, Source]:
    """Sources of the barrier's id and of its thread count (0: all threads)."""
    if not 1 <= len(operands) <= 2:
        decoder.refuse(site, "expected a barrier id and perhaps a thread count")
    number = decoder.source(operands[0], "u32", site)
    if len(operands) == 2:
        return number, decoder.source(operands[1], "u32", site)
    return number, Source(decoder.new_slot(ConstantSlot(np.zeros(1, np.uint32))))


def _sync(
    decoder: Decoder,
    site: Instruction,
    number: Source,
    expected: Source,
    vote: Source | None,
    finish: Finish | None,
) -> End:
    following = decoder.following
    findings = decoder.launch.findings

    def sync(run: Run) -> int | None:
        numbers, counts = run.regs[number.slot], run.regs[expected.slot]
        votes = None
        if vote is not None:
            votes = run.regs[vote.slot]
            votes = votes if vote.adapt is None else vote.adapt(votes)
        waiting = Waiting(run.frame, following, site, finish)
        if len(numbers) == 1 and len(counts) == 1:
            findings.check_barrier(run, site, int(numbers[0]), int(counts[0]))
            barriers = run.batch.unit(BlockBarriers)
            return barriers.sync(run, int(numbers[0]) % _NUMBERS, int(counts[0]), waiting, votes)
        for part, identity, count in _by_barrier(run, numbers, counts):
            findings.check_barrier(part, site, identity, count)
            barriers = run.batch.unit(BlockBarriers)
            block = barriers.sync(part, identity % _NUMBERS, count, waiting, votes)
            if block is not None:
                run.batch.push(run.frame, block, part.mask_array(), part.count, run.crew)
        return None

    return sync


def _by_barrier(run: Run, numbers: Lanes, counts: Lanes) -> list[tuple[Run, int, int]]:
    """The run cut by barrier id and count."""
    found: list[tuple[Run, int, int]] = []
    for identity in np.unique(run.packed(numbers)):
        some = run.only(numbers == identity)
        if some is None:
            continue
        for count in np.unique(some.packed(counts)):
            part = some.only(counts == count)
            if part is not None:
                found.append((part, int(identity), int(count)))
    return found


def _arrive(decoder: Decoder, site: Instruction, number: Source, expected: Source) -> End:
    following = decoder.following
    findings = decoder.launch.findings

    def arrive(run: Run) -> int | None:
        for part, identity, count in _by_barrier(
            run, run.regs[number.slot], run.regs[expected.slot]
        ):
            findings.check_barrier(part, site, identity, count)
            run.batch.unit(BlockBarriers).arrive(part, identity % _NUMBERS, count, site)
        return following

    return arrive


def _reduction(decoder: Decoder, site: Instruction) -> Decoded:
    """`red.popc/and/or`: the barrier and a reduction of a predicate over all participants."""
    form = site.form
    destination = decoder.destination(site.operands[0], site)
    number, expected = _id_and_count(decoder, site, site.operands[1:-1])
    vote = decoder.source(site.operands[-1], "pred", site)
    counts = form.has("popc")
    if destination is None or counts != (form.types == ("u32",)):
        decoder.refuse(site, "expected `.popc.u32`, `.and.pred` or `.or.pred`")
    conjunction = form.has("and")

    def finish(frame: Frame, votes: Lanes, released: Lanes, joined: Lanes, width: int) -> None:
        yes = np.count_nonzero((votes & joined).reshape(-1, width), axis=1)
        all_of = np.count_nonzero(joined.reshape(-1, width), axis=1)
        per_block = yes if counts else (yes == all_of if conjunction else yes > 0)
        values = np.repeat(per_block, width)
        old = frame.registers[destination]
        frame.registers[destination] = np.where(released, values.astype(old.dtype), old)

    return Decoded(end=_sync(decoder, site, number, expected, vote, finish))


def _warp_barrier(decoder: Decoder, site: Instruction) -> Decoded:
    """`bar.warp.sync mask`: the named lanes meet, and their memory accesses are ordered."""
    mask = decoder.source(site.operands[0], "b32", site)
    launch = decoder.launch

    def step(run: Run) -> None:
        launch.events.warp_barrier(run, run.regs[mask.slot])

    return Decoded(step=step, members=mask_members(decoder, site, mask))


def open_fence(decoder: Decoder, site: Instruction) -> Decoded:
    """`membar` and `fence`: thread fences by scope, and proxy fences (PTX ISA 9.7.13.4)."""
    launch = decoder.launch
    modifiers = site.form.modifiers
    if any(m.startswith("proxy") for m in modifiers):
        return Decoded(step=_proxy_fence(decoder, site))
    if "mbarrier_init" in modifiers:
        return Decoded(step=lambda run: launch.events.fence(run, Scope.CLUSTER))
    scope = _fence_scope(decoder, site)
    return Decoded(step=lambda run: launch.events.fence(run, scope))


def _fence_scope(decoder: Decoder, site: Instruction) -> Scope:
    levels = SCOPES | {"gl": Scope.GPU}
    known = {"sc", "acq_rel", "acquire", "release", "sync_restrict::shared::cta",
             "sync_restrict::shared::cluster"}  # fmt: skip
    scopes = [levels[m] for m in site.form.modifiers if m in levels]
    unknown = [m for m in site.form.modifiers if m not in levels and m not in known]
    if unknown or len(scopes) != 1:
        decoder.refuse(site, "expected one scope (`.cta`, `.cluster`, `.gpu`, `.sys`)")
    return scopes[0]


def _proxy_fence(decoder: Decoder, site: Instruction) -> Step:
    launch = decoder.launch
    modifiers = site.form.modifiers
    if "proxy.async" in ".".join(modifiers):
        return lambda run: launch.events.proxy_fence(run)
    return lambda run: launch.events.fence(run, Scope.SYS)

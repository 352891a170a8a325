"""`mbarrier` instructions (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prismc.emulator.decode import AddressOf, Decoded, Decoder, Source
from prismc.emulator.execute.access import packed_source
from prismc.emulator.execute.qualifiers import SCOPES, STRENGTHS
from prismc.emulator.execute.reach import Reach
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Address, Instruction, Operand
from prismc.emulator.scopes import Qualifiers, Scope, Strength
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.code import Step
from prismc.emulator.state.outline import ConstantSlot
from prismc.emulator.state.run import Run
from prismc.emulator.units.mbarriers import MBarrier, MBarriers, by_offset

_SIZE = 8
_VERBS = ("init", "inval", "expect_tx", "complete_tx", "arrive", "arrive_drop", "pending_count",
          "test_wait", "try_wait")  # fmt: skip
_KNOWN = frozenset({"expect_tx", "noComplete", "parity", "shared", "shared::cta",
                    "shared::cluster"})  # fmt: skip
_PHASE_SHIFT = 32
_STRONG = Qualifiers(
    space="shared", strength=Strength.RELAXED, scope=Scope.CLUSTER, is_barrier=True
)
_WEAK = Qualifiers(space="shared")


def open_mbarrier(decoder: Decoder, site: Instruction) -> Decoded:
    """One of the `mbarrier` instructions."""
    modifiers = site.form.modifiers
    verb = next((m for m in modifiers if m in _VERBS), "")
    unknown = [m for m in modifiers if m != verb and m not in {*_KNOWN, *SCOPES, *STRENGTHS}]
    if not verb or unknown:
        decoder.refuse(site, f"unknown modifier `.{(unknown or ['?'])[0]}`")
    openers: dict[str, Callable[[Decoder, Instruction], Step]] = {
        "init": _init,
        "inval": _inval,
        "expect_tx": _expect,
        "complete_tx": _expect,
        "arrive": _arrive,
        "arrive_drop": _arrive,
        "pending_count": _pending_count,
        "test_wait": _wait,
        "try_wait": _wait,
    }
    return Decoded(step=openers[verb](decoder, site))


class _Target:
    """The address operand of an instruction: finds the barriers of the executing lanes."""

    def __init__(self, decoder: Decoder, site: Instruction, operand: Operand | None) -> None:
        launch = decoder.launch
        self.site = site
        self.watch = launch.watch
        self.where: AddressOf = decoder.address(operand, site)
        shared = any(m.startswith("shared") for m in site.form.modifiers)
        space = "shared" if shared else "generic"
        self.reach = Reach(launch, site, space, _SIZE, _SIZE, writes=True)

    def place(self, run: Run) -> Place | None:
        """Where the barriers are; one place, because all are in shared memory."""
        addresses = run.spread(self.where.packed(run))
        places = [p for p in self.reach.places(run, addresses) if p.region.space == "shared"]
        return places[0] if places else None

    def barriers(self, run: Run) -> list[tuple[MBarrier, Lanes]]:
        """Each barrier with the packed positions of the lanes that name it."""
        place = self.place(run)
        if place is None:
            return []
        if self.watch is not None:
            self.watch.atomic(run, self.site, place, _SIZE, _STRONG)
        found = []
        for offset, positions in by_offset(place.offsets):
            barrier = run.batch.unit(MBarriers).find(run, self.site, offset)
            if barrier is not None:
                chosen = positions if place.chosen is None else place.chosen[positions]
                found.append((barrier, chosen))
        return found


def _init(decoder: Decoder, site: Instruction) -> Step:
    target = _Target(decoder, site, site.operands[0])
    count = decoder.source(site.operands[1], "u32", site)

    def step(run: Run) -> None:
        place = target.place(run)
        if place is None:
            return
        counts = run.spread(packed_source(run, count))
        if target.watch is not None:
            zeros = [np.zeros(1, np.uint64)]
            target.watch.write(run, site, place, _SIZE, _WEAK, zeros, _SIZE)
        for offset, positions in by_offset(place.offsets):
            run.batch.unit(MBarriers).init(run, site, offset, int(counts[positions[0]]))

    return step


def _inval(decoder: Decoder, site: Instruction) -> Step:
    target = _Target(decoder, site, site.operands[0])

    def step(run: Run) -> None:
        place = target.place(run)
        if place is not None:
            for offset, _ in by_offset(place.offsets):
                run.batch.unit(MBarriers).invalidate(offset)

    return step


def _expect(decoder: Decoder, site: Instruction) -> Step:
    """`expect_tx` adds to the bytes that a phase waits for, `complete_tx` takes away."""
    target = _Target(decoder, site, site.operands[0])
    count = decoder.source(site.operands[1], "u32", site)
    sign = -1 if site.form.has("complete_tx") else 1

    def step(run: Run) -> None:
        counts = run.spread(packed_source(run, count)).view(np.int32)
        for barrier, lanes in target.barriers(run):
            total = sign * int(counts[lanes].sum())
            run.batch.unit(MBarriers).expect(run, site, barrier, total)

    return step


def _arrive(decoder: Decoder, site: Instruction) -> Step:
    """`arrive` and `arrive_drop`, with a count or with expected bytes; a release."""
    operands = list(site.operands)
    # The state may be left out: `mbarrier.arrive.b64 _, [addr]` and `mbarrier.arrive [addr]`.
    destination = None
    if not isinstance(operands[0], Address):
        destination = decoder.destination(operands.pop(0), site)
    target = _Target(decoder, site, operands[0])
    with_bytes = site.form.has("expect_tx")
    amount = _amount(decoder, site, operands)
    drops = site.form.has("arrive_drop")
    releases = not site.form.has("relaxed")
    launch = decoder.launch

    def step(run: Run) -> None:
        amounts = run.spread(packed_source(run, amount))
        tokens = np.zeros(run.count, np.uint64)
        for barrier, chosen in target.barriers(run):
            tokens[chosen] = barrier.phase << _PHASE_SHIFT | max(barrier.pending, 0)
            lanes = run.lane_numbers()[chosen]
            view = launch.events.release(run.batch, lanes) if releases else 0
            barriers = run.batch.unit(MBarriers)
            if with_bytes:
                barrier.bytes += int(amounts[chosen].view(np.int32).sum())
                barrier.last_expect = site
            arrivals = len(chosen) if with_bytes else int(amounts[chosen].sum())
            if drops:
                barrier.expected -= arrivals
            barriers.arrive(run, site, barrier, arrivals, view)
        if destination is not None:
            run.write_packed(destination, tokens)

    return step


def _amount(decoder: Decoder, site: Instruction, operands: list[Operand | None]) -> Source:
    if len(operands) > 1:
        return decoder.source(operands[1], "u32", site)
    return Source(decoder.new_slot(ConstantSlot(np.ones(1, np.uint32))))


def _pending_count(decoder: Decoder, site: Instruction) -> Step:
    destination = decoder.destination(site.operands[0], site)
    state = decoder.source(site.operands[1], "b64", site)

    def step(run: Run) -> None:
        if destination is not None:
            tokens = packed_source(run, state)
            run.write_packed(destination, (tokens & np.uint64(0xFFFFF)).astype(np.uint32))

    return step


def _wait(decoder: Decoder, site: Instruction) -> Step:
    """`test_wait` and `try_wait`: whether a phase is complete; then an acquire."""
    destination = decoder.destination(site.operands[0], site)
    target = _Target(decoder, site, site.operands[1])
    by_parity = site.form.has("parity")
    which = decoder.source(site.operands[2], "u32" if by_parity else "b64", site)
    acquires = not site.form.has("relaxed")
    launch = decoder.launch

    def step(run: Run) -> None:
        asked = run.spread(packed_source(run, which))
        numbers = run.lane_numbers()
        done = np.zeros(run.count, np.bool_)
        barriers = run.batch.unit(MBarriers)
        for barrier, chosen in target.barriers(run):
            for value in np.unique(asked[chosen]):
                some = chosen[asked[chosen] == value]
                parity = int(value) if by_parity else None
                if barriers.is_complete(barrier, parity, int(value) >> _PHASE_SHIFT):
                    done[some] = True
                    lanes = numbers[some]
                    if launch.waits is not None:
                        time = barrier.completed_at
                        launch.waits.phase_complete(run.batch, site, lanes, time)
                    if parity is not None:
                        barriers.passed(site, barrier, lanes, parity)
                    if acquires:
                        launch.events.acquire(run.batch, lanes, barrier.completed)
                else:
                    barriers.waits[site.line] = (barrier, int(value))
                    if launch.waits is not None:
                        launch.waits.asks_in_vain(run.batch, site, numbers[some])
        if destination is not None:
            run.write_packed(destination, done)

    return step

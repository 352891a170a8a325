"""Which module decodes which instruction. What is not here is computed by `semantics`."""

from __future__ import annotations

from collections.abc import Callable

from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.execute import (
    access,
    asynchronous,
    atomics,
    calls,
    cluster,
    compute,
    control,
    mbarrier,
    moves,
    rows,
    spaces,
    sync,
    wgmma,
    wmma,
)
from prismc.emulator.ptx.tree import Instruction

Opener = Callable[[Decoder, Instruction], Decoded]

OPENERS: dict[str, Opener] = {
    "ld": access.open_load,
    "ldu": access.open_load,
    "st": access.open_store,
    "atom": atomics.open_atomic,
    "red": atomics.open_reduction,
    "mov": moves.open_move,
    "cvta": spaces.open_convert_address,
    "isspacep": spaces.open_is_space,
    "bra": control.open_branch,
    "brx": control.open_indexed_branch,
    "call": calls.open_call,
    "ret": control.open_return,
    "exit": control.open_exit,
    "trap": control.open_trap,
    "prefetch": control.open_nothing,
    "prefetchu": control.open_nothing,
    "applypriority": control.open_nothing,
    "createpolicy": control.open_nothing,
    "discard": control.open_nothing,
    "nanosleep": control.open_nothing,
    "brkpt": control.open_nothing,
    "pmevent": control.open_nothing,
    "ldmatrix": rows.open_load_matrix,
    "stmatrix": rows.open_store_matrix,
    "bar": sync.open_barrier,
    "barrier": sync.open_barrier,
    "mbarrier": mbarrier.open_mbarrier,
    "mapa": cluster.open_map_address,
    "getctarank": cluster.open_rank,
    "griddepcontrol": control.open_nothing,
    "wgmma": wgmma.open_wgmma,
    "wmma": wmma.open_wmma,
    "setmaxnreg": control.open_nothing,
    "cp": asynchronous.open_copy,
    "membar": sync.open_fence,
    "fence": sync.open_fence,
}


# How many operands an instruction has at least; the openers check the rest.
_LEAST = {
    "ld": 2, "ldu": 2, "st": 2, "atom": 3, "red": 2, "mov": 2, "cvta": 2, "isspacep": 2, "bra": 1,
    "brx": 2, "call": 1, "ldmatrix": 2, "stmatrix": 2, "bar": 1, "mapa": 3, "getctarank": 2,
}  # fmt: skip
_LEAST_OF_VERB = {
    ("mbarrier", "init"): 2, ("mbarrier", "inval"): 1, ("mbarrier", "expect_tx"): 2,
    ("mbarrier", "complete_tx"): 2, ("mbarrier", "arrive"): 1, ("mbarrier", "arrive_drop"): 1,
    ("mbarrier", "pending_count"): 2, ("mbarrier", "test_wait"): 3, ("mbarrier", "try_wait"): 3,
    ("cp", "shared"): 3, ("cp", "bulk"): 0, ("cp", "tensor"): 2, ("wgmma", "mma_async"): 3,
    ("wgmma", "wait_group"): 1, ("bar", "red"): 3, ("barrier", "red"): 3, ("barrier", "sync"): 1,
    ("barrier", "arrive"): 1, ("st", "async"): 3, ("red", "async"): 3,
}  # fmt: skip


def _least_operands(site: Instruction) -> int:
    form = site.form
    if form.has("cluster") and form.name == "barrier":
        return 0
    if form.name == "cp" and (form.has("arrive") or form.has("prefetch")):
        return 1
    by_verb = [_LEAST_OF_VERB.get((form.name, verb), 0) for verb in form.modifiers]
    return max([_LEAST.get(form.name, 0), *by_verb])


def open_instruction(decoder: Decoder, site: Instruction) -> Decoded:
    """One instruction, decoded. Raises PtxError for what this machine does not run."""
    least = _least_operands(site)
    if len(site.operands) < least:
        decoder.refuse(site, f"{len(site.operands)} operands; it needs {least}")
    if site.form.has("async") and site.form.name in ("st", "red"):
        return cluster.open_remote_store(decoder, site)
    opener = OPENERS.get(site.form.name, compute.open_registered)
    return opener(decoder, site)

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
    "setmaxnreg": control.open_nothing,
    "cp": asynchronous.open_copy,
    "membar": sync.open_fence,
    "fence": sync.open_fence,
}


def open_instruction(decoder: Decoder, site: Instruction) -> Decoded:
    """One instruction, decoded. Raises PtxError for what this machine does not run."""
    if site.form.has("async") and site.form.name in ("st", "red"):
        return cluster.open_remote_store(decoder, site)
    opener = OPENERS.get(site.form.name, compute.open_registered)
    return opener(decoder, site)

"""Conversions between state spaces and generic addresses (PTX ISA 9.7.9, cvta, isspacep)."""

from __future__ import annotations

import numpy as np

from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.memory import (
    CONST_WINDOW,
    GLOBAL_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW_SHIFT,
)
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.state.outline import ConstantSlot, constant
from prismc.emulator.state.run import Run

# What a space's own addresses lack to be generic ones.
_WINDOWS = {
    "shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW, "shared::cluster": SHARED_WINDOW,
    "local": LOCAL_WINDOW, "global": 0, "const": 0, "param": 0, "param::entry": 0,
}  # fmt: skip


def open_convert_address(decoder: Decoder, site: Instruction) -> Decoded:
    """`cvta{.to}.space`: a generic address from a space's own one, or back (9.7.9.20)."""
    form = site.form
    spaces = [m for m in form.modifiers if m in _WINDOWS]
    if len(spaces) != 1 or len(form.types) != 1:
        decoder.refuse(site, "expected one state space and one type")
    destination = decoder.destination(site.operands[0], site)
    if destination is None:
        return Decoded()
    slot, adapt = decoder.source(site.operands[1], form.types[0], site)
    base = _WINDOWS[spaces[0]]
    shift = decoder.new_slot(ConstantSlot(constant(base, np.dtype(np.uint64))))
    back = form.has("to")

    def step(run: Run) -> None:
        value = run.regs[slot] if adapt is None else adapt(run.regs[slot])
        if base:
            value = value - run.regs[shift] if back else value + run.regs[shift]
        run.write(destination, value)

    return Decoded(step=step)


def open_is_space(decoder: Decoder, site: Instruction) -> Decoded:
    """`isspacep.space`: whether a generic address lies in a space (9.7.9.19)."""
    windows = {
        "shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW, "shared::cluster": SHARED_WINDOW,
        "local": LOCAL_WINDOW, "const": CONST_WINDOW, "param": PARAM_WINDOW,
        "param::entry": PARAM_WINDOW, "global": GLOBAL_WINDOW,
    }  # fmt: skip
    (name,) = site.form.modifiers or ("",)
    destination = decoder.destination(site.operands[0], site)
    if name not in windows or destination is None:
        decoder.refuse(site, "expected one state space and a predicate")
    slot, adapt = decoder.source(site.operands[1], "u64", site)
    window = np.uint64(windows[name] >> WINDOW_SHIFT)
    is_global = name == "global"

    def step(run: Run) -> None:
        value = run.regs[slot] if adapt is None else adapt(run.regs[slot])
        found = value >> np.uint64(WINDOW_SHIFT)
        run.write(destination, found >= window if is_global else found == window)

    return Decoded(step=step)

"""Importing this module registers every register-to-register instruction form."""

from __future__ import annotations

from prismc.emulator.semantics import (
    bits,
    compare,
    convert,
    elementary,
    floats,
    integers,
    matrix,
    signs,
    warp,
)

MODULES = (integers, bits, compare, floats, signs, elementary, convert, warp, matrix)

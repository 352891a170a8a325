"""Importing this module registers every register-to-register instruction form."""

from __future__ import annotations

from prismc.emulator.semantics import floats

MODULES = (floats,)

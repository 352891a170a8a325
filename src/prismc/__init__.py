"""Prism kernels in Python: `prismc.load("kernel.prism").kernel[grid](arrays..)`.

See `prismc.testing` for what a launch does and raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prismc.testing import load as load

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    """`load`, when it is asked for: the command line must not pay for NumPy and the emulator."""
    if name != "load":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from prismc import testing

    return testing.load

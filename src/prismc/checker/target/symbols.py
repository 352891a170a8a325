"""Holds the names of kernels, which are their symbols, against those that CUDA C++ can have."""

from __future__ import annotations

from prismc.checker.target.errors import KernelNameTaken
from prismc.checker.types import typed
from prismc.diagnostics.sink import Sink
from prismc.hardware.symbols import is_taken_symbol


def check_symbols(program: typed.Program, sink: Sink) -> None:
    """Refuse kernels and exports whose names CUDA C++ cannot have."""
    for symbol, body in program.bodies.items():
        instance = body.instance
        if instance.is_kernel and is_taken_symbol(symbol):
            sink.report(KernelNameTaken(at=instance.origin or instance.span, name=symbol))

"""Run by test_on_gpu.py under a driver for the CPU: `make gpu` at small sizes, with a false clock.

on_cpu_driver.py FOLDER NAMES    # NAMES with commas between them, or nothing for all examples
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import on_gpu.__main__ as command
from on_gpu.device import Device


class Clocked(Device):
    """A device whose launches take 1.0, 1.1, .. ms; those of others take as long."""

    def times(self, run: Callable[[], object], zeroed: list[Any], runs: int) -> list[float]:
        run()
        return [1.0 + index / 10 for index in range(runs)]


def as_tensor(shared: Any, device: str) -> MagicMock:
    """A tensor that takes every call, of an array that is one of the GPU."""
    interface = shared.__cuda_array_interface__
    assert device == "cuda"
    assert interface["version"] == 3
    assert interface["data"][0]
    return MagicMock()


if __name__ == "__main__":
    folder, names = Path(sys.argv[1]), sys.argv[2]
    cases = [case for case in command.CASES if not names or case.name in names.split(",")]
    command.CASES = tuple(case._replace(sizes=case.ragged()) for case in cases)
    torch = MagicMock(__version__="9.9", as_tensor=as_tensor)
    command.installed = lambda: {"torch": torch}
    sys.exit(command.main(["--output", str(folder)], Clocked()))

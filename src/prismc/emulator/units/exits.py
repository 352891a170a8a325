"""Threads exit (PTX ISA 9.7.12, exit): nobody waits for them any more."""

from __future__ import annotations

from prismc.emulator.launch import Launch
from prismc.emulator.state.run import Run


def leave(launch: Launch, run: Run) -> None:
    """The run's threads exit."""
    batch = run.batch
    launch.progress += 1
    batch.remove(run.mask_array(), run.count)
    if launch.watch is not None:
        launch.watch.threads_exit(run)
    for unit in batch.units.values():
        if batch.alive_count:
            unit.settle()
        else:
            unit.finish()

"""`prismc targets`: what can be built for."""

from __future__ import annotations

import sys

import click

from prismc.cli.render import table, write
from prismc.hardware.features import Feature
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS


@click.command(short_help="List GPU architectures and limits.")
@click.option("--features", is_flag=True, help="Show which target has which feature.")
def targets(features: bool) -> int:
    """List the targets, their limits, and what each adds to the one before it in its line."""
    if features:
        rows = [
            (feature.value, *("x" if t.has(feature) else "" for t in TARGETS.values()))
            for feature in Feature
        ]
        head = ("feature", *(name.removeprefix("sm_") for name in TARGETS))
        write(sys.stdout, table(head, rows))
        return 0
    head = ("target", "least PTX", "shared bytes a block", "threads a block", "barriers")
    lines = [
        (
            target.name,
            "{}.{}".format(*target.ptx),
            str(target.shared_limit),
            str(target.max_threads),
            str(target.named_barriers),
        )
        for target in TARGETS.values()
    ]
    write(sys.stdout, table(head, lines))
    write(sys.stdout, f"\nWithout --target, {DEFAULT_TARGET} is meant.\n")
    return 0

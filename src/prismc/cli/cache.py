"""`prismc cache`: what is kept between runs, and where."""

from __future__ import annotations

import click

from prismc.cli.options import user_cache


@click.group(short_help="Show or clear what is kept between runs.")
def cache() -> None:
    """What prismc keeps between runs: results of checks, outputs of builds, its own tables.

    PRISMC_CACHE names the folder; PRISMC_CACHE_SIZE says how much it may hold (`500M`, `2G`; 0 for
    nothing). What was unused for longest goes first.
    """


@cache.command()
def info() -> None:
    """Tell where the cache is, and how full."""
    used = user_cache()
    state = used.state()
    click.echo(f"folder   {used.folder}")
    click.echo(f"entries  {state.entries}")
    click.echo(f"size     {_shown(state.size)} of {_shown(state.limit)}")


@cache.command()
def clear() -> None:
    """Remove everything in the cache."""
    click.echo(f"{_shown(user_cache().clear())} removed")


@cache.command()
def path() -> None:
    """Print the cache's folder."""
    click.echo(str(user_cache().folder))


def _shown(size: int) -> str:
    """A number of bytes, in the largest unit that leaves a whole one."""
    amount, units = float(size), ["bytes", "KiB", "MiB", "GiB"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop(0)
    return f"{size} bytes" if units[0] == "bytes" else f"{amount:.1f} {units[0]}"

"""`prismc explain`: the page of a diagnostic code."""

from __future__ import annotations

import sys
from itertools import islice

import click

from prismc.cli.render import show_page, table, write
from prismc.driver.catalog import codes, page, similar_codes


@click.command(short_help="Explain a diagnostic code.")
@click.argument("code", required=False)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Lay the page out for a terminal; auto follows the terminal and NO_COLOR.",
)
def explain(code: str | None, color: str) -> int:
    """Explain a diagnostic code: what is wrong, why, a failing and a repaired program.

    Without CODE, list all codes.
    """
    if code is None:
        write(sys.stdout, table(("code", "title"), sorted(codes().items())))
        return 0
    text = page(code.strip().upper())
    if text is None:
        near = ", ".join(islice(similar_codes(code), 5))
        hint = f"did you mean {near}?" if near else "`prismc explain` lists all codes"
        raise click.UsageError(f"no diagnostic has the code {code!r}; {hint}")
    show_page(text, color)
    return 0

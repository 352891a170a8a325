"""`prismc lsp`: the language server, for editors."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import redirect_stdout
from importlib.util import find_spec

import click

from prismc.cli.entry import STACK_SIZES
from prismc.cli.options import chosen_targets, compiler_options, target_option


@click.command(short_help="Serve an editor: problems as you type, hover, completion.")
@click.option(
    "-I",
    "include",
    metavar="DIR",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Look up imports in DIR too (repeatable).",
)
@target_option
@click.option("--stdio", is_flag=True, hidden=True, help="What editors pass; there is no other.")
def lsp(include: tuple[str, ...], targets: tuple[str, ...], stdio: bool) -> int:
    """Serve an editor over standard input and output, by the Language Server Protocol.

    An editor starts this command itself; `docs/editors.md` tells how.
    """
    if find_spec("pygls") is None:
        raise click.ClickException(
            "the language server needs the package pygls: run `pip install 'prismc[lsp]'`"
        )
    # The protocol's library is there only if it was asked for.
    from prismc.lsp.server import make_server

    # Checks run in threads of the server's: they need the deep stack that this one has.
    threading.stack_size(STACK_SIZES[-1])
    server = make_server(compiler_options(chosen_targets(targets)[0], (), include))
    # The server closes its stream at the end, and nothing else may write into it.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stream, redirect_stdout(sys.stderr):
        server.start_io(stdout=stream)
    # Leaving without having been told to shut down is a failure (LSP 3.17, "Exit Notification").
    return 0 if server.is_shut_down else 1

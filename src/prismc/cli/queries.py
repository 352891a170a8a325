"""What build systems ask: `prismc --cmake-dir`, answered like pkg-config does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from prismc.source.resources import build_systems_folder

Command = TypeVar("Command", bound=Callable[..., Any])

QUERIES: dict[str, tuple[str, Callable[[], str]]] = {
    "--cmake-dir": (
        "Print the folder of the CMake package, for CMAKE_PREFIX_PATH or prismc_DIR.",
        lambda: str(build_systems_folder()),
    ),
    "--make-fragment": (
        "Print the file of rules that makefiles include, as make spells it.",
        lambda: str(build_systems_folder() / "prism.mk").replace(" ", r"\ "),
    ),
    # The headers need nothing but themselves; before glibc 2.34, dlopen is in a library of its own.
    "--cflags": ("Print the C and C++ compiler's options for generated headers.", lambda: ""),
    "--libs": ("Print the linker's options for programs with generated headers.", lambda: "-ldl"),
}


def query_options(command: Command) -> Command:
    """An option for each query: it prints the answer and ends the run."""
    for name, (help_text, answer) in reversed(QUERIES.items()):
        option = click.option(
            name,
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_printing(answer),
            help=help_text,
        )
        command = option(command)
    return command


def _printing(answer: Callable[[], str]) -> Callable[[click.Context, click.Parameter, bool], None]:
    def told(context: click.Context, parameter: click.Parameter, is_asked: bool) -> None:
        del parameter
        if is_asked:
            click.echo(answer())
            context.exit()

    return told

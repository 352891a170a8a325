"""The options of `prismc build` that ask for a rule of dependencies, as C compilers have them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from prismc.driver.depfile import DepfileStyle
from prismc.driver.project import TO_STANDARD_OUTPUT
from prismc.source.record import Value

_NAMES = ("md", "mmd", "mf", "mt", "mp", "depfile")


class Dependencies(Value):
    """Whether rules are written, to which file if it is named, and in which style."""

    is_wanted: bool
    named: str | None
    style: DepfileStyle

    def require_use(self, files: int, out: str | None) -> None:
        """Raises click.UsageError where a rule is asked for that could not be written."""
        if self.is_wanted and out == TO_STANDARD_OUTPUT:
            raise click.UsageError("a rule names the outputs, and `-o -` writes no file")
        if files > 1 and (self.named or self.style.targets):
            raise click.UsageError(
                "`-MF` and `-MT` are for a single FILE; `-MD` names rules itself"
            )

    def file(self, output: Path) -> str | None:
        """The rule's file: that of `output` with another ending, if it is not named."""
        return self.named or str(output.with_suffix(".d")) if self.is_wanted else None


def dependency_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`-MD`, `-MMD`, `-MF`, `-MT`, `-MP`, `--depfile`: one argument called `dependencies`."""

    @wraps(command)
    def with_dependencies(**options: Any) -> Any:
        md, mmd, mf, mt, mp, depfile = (options.pop(name) for name in _NAMES)
        if mf and depfile:
            raise click.UsageError("`--depfile` is `-MD -MP -MF`: give one of them")
        style = DepfileStyle(
            targets=mt, is_phony=mp or bool(depfile), has_system_files=md or not mmd
        )
        named = mf or depfile
        wanted = md or mmd or bool(named)
        return command(
            **options, dependencies=Dependencies(is_wanted=wanted, named=named, style=style)
        )

    for option in reversed(_OPTIONS):
        with_dependencies = option(with_dependencies)
    return with_dependencies


_OPTIONS = (
    click.option(
        "-MD",
        "md",
        is_flag=True,
        help="Write a rule for make or Ninja that names all that the outputs are made from: FILE, "
        "imports, the standard library, the compiler. It stands beside the outputs, as `FILE.d`.",
    ),
    click.option("-MMD", "mmd", is_flag=True, help="The same without library and compiler."),
    click.option("-MF", "mf", metavar="RULE", help="Write the rule to this file."),
    click.option(
        "-MT",
        "mt",
        metavar="TARGET",
        multiple=True,
        help="What stands before the rule's colon, instead of the outputs (repeatable).",
    ),
    click.option(
        "-MP", "mp", is_flag=True, help="Add an empty rule for each import: it may be removed."
    ),
    click.option("--depfile", "depfile", metavar="RULE", help="The same as `-MD -MP -MF RULE`."),
)

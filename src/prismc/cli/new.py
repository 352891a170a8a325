"""`prismc new`: a project to start from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from prismc.cli.options import Presentation
from prismc.cli.render import show_problems, write
from prismc.driver.options import Options
from prismc.driver.outputs import save_outputs
from prismc.driver.scaffold import TEMPLATES, BadName, project_files
from prismc.driver.session import Session

# How its tests are run, by template.
_NEXT = {
    "make": "make test",
    "cmake": "cmake -S . -B build && cmake --build build && ctest --test-dir build",
    "python": "pip install -e '.[test]' && pytest",
}


@click.command(short_help="Start a project.")
@click.argument("name")
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    default="make",
    show_default=True,
    help="A C program built by make or CMake, or a Python package.",
)
def new(name: str, template: str) -> int:
    """Make a project in the new folder NAME: a kernel, its tests, and what builds and calls it."""
    folder = Path(name)
    if folder.is_dir() and any(folder.iterdir()):
        raise click.ClickException(f"`{name}` is there already, and not empty")
    try:
        files = project_files(folder.name, template, folder)
    except BadName as error:
        raise click.ClickException(str(error)) from error
    session = Session(Options())
    if save_outputs(session.sink, files):
        write(sys.stdout, f"`{name}` holds:\n")
        write(sys.stdout, "".join(f"  {file.path.relative_to(folder)}\n" for file in files))
        write(sys.stdout, f"\nTry it:\n  cd {name} && {_NEXT[template]}\n")
    show_problems(session, Presentation(format="text", color="auto", max_errors=0), sys.stderr)
    return session.exit_code

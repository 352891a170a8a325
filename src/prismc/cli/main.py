"""The command group. A command's module is imported when the command is used."""

from __future__ import annotations

from importlib import import_module

import click

from prismc.cli.queries import query_options
from prismc.diagnostics.suggest import nearest
from prismc.source.version import VERSION

# Name: the module below `prismc.cli` whose attribute of the same name as the command it is.
COMMANDS = {
    "check": "check",
    "build": "build",
    "run": "emulate",
    "test": "test",
    "cpu-driver": "cpu_driver",
    "sync": "sync",
    "fmt": "fmt",
    "dump": "dump",
    "lsp": "lsp",
    "cache": "cache",
    "doc": "doc",
    "explain": "explain",
    "targets": "targets",
    "doctor": "doctor",
    "new": "new",
}


class LazyGroup(click.Group):
    """Knows its commands by name only."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            near = nearest(cmd_name, COMMANDS)
            if near is not None:
                ctx.fail(f"No such command '{cmd_name}'. Did you mean '{near}'?")
            return None
        module = import_module(f"prismc.cli.{COMMANDS[cmd_name]}")
        command = getattr(module, COMMANDS[cmd_name])
        assert isinstance(command, click.Command)
        return command


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, "-V", "--version", message="prismc %(version)s")
@query_options
def prismc() -> None:
    """Compile Prism, the GPU language with typed perspectives, to CUDA C++, PTX and cubins.

    Exit codes: 0 fine, 1 the program is wrong, 2 the command line or the machine is wrong,
    3 a defect of prismc.
    """


def run(arguments: list[str]) -> int:
    """Run one command line; returns the exit code."""
    try:
        # Not `prismc.main`: it would turn a reader that went away into an ordinary exit code.
        with prismc.make_context("prismc", arguments) as context:
            result = prismc.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        return 130
    return result if isinstance(result, int) else 0

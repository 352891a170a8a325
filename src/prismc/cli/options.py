"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import click

from prismc.diagnostics.suggest import did_you_mean
from prismc.driver.allowances import codes_of_warnings
from prismc.driver.cache import Cache, open_cache
from prismc.driver.catalog import problem_classes
from prismc.driver.options import Options
from prismc.driver.strictness import ALL_WARNINGS, Strictness
from prismc.driver.workers import usual_jobs
from prismc.hardware.ptx_versions import LEAST, version, version_text
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS, Target
from prismc.source.record import Value

Command = TypeVar("Command", bound=Callable[..., Any])

MAX_ERRORS = 50


class Presentation(Value):
    """How diagnostics are shown: `format` text, json, sarif or github; `color` auto, always or
    never."""

    format: str
    color: str
    max_errors: int


def _definitions(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Each NAME=VALUE of `-D` as a pair."""
    pairs = []
    for text in texts:
        name, _, value = text.partition("=")
        if not name.isidentifier() or not value:
            raise click.BadParameter(
                f"{text!r} is not of the form NAME=VALUE, as in `-D N=128`", context, parameter
            )
        pairs.append((name, value))
    return tuple(pairs)


def message_options(command: Command) -> Command:
    """`--color`, `--max-errors`."""
    for option in (
        click.option(
            "--max-errors",
            type=click.IntRange(min=0),
            default=MAX_ERRORS,
            show_default=True,
            help="Print at most this many errors; 0 prints all.",
        ),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="Colour diagnostics; auto follows the terminal and NO_COLOR.",
        ),
    ):
        command = option(command)
    return command


def program_options(command: Command) -> Command:
    """`-D`, `-I`, and the options for messages."""
    command = message_options(command)
    for option in (
        click.option(
            "-I",
            "include",
            metavar="DIR",
            multiple=True,
            type=click.Path(exists=True, file_okay=False),
            help="Look up imports in DIR too (repeatable).",
        ),
        click.option(
            "-D",
            "defines",
            metavar="NAME=VALUE",
            multiple=True,
            callback=_definitions,
            help="Give a constant of the root file another value (repeatable).",
        ),
    ):
        command = option(command)
    return command


def compile_options(command: Command) -> Command:
    """`-D`, `-I`, `--format`, and the options for messages."""
    option = click.option(
        "--format",
        "format_",
        type=click.Choice(["text", "json", "sarif", "github"]),
        default="text",
        help="How diagnostics are written; those for machines go to standard output: one object of "
        "JSON or SARIF, or annotations for GitHub Actions.",
    )
    return option(program_options(command))


def _known_codes(
    context: click.Context, parameter: click.Parameter, named: tuple[str, ...]
) -> tuple[str, ...]:
    """Codes of warnings, in capitals; ALL_WARNINGS too for `--deny`."""
    codes = tuple(code if code == ALL_WARNINGS else code.upper() for code in named)
    words = (ALL_WARNINGS,) if parameter.name == "denied" else ()
    if not set(codes) <= set(words):
        classes = problem_classes()
        known, warnings = {each.code for each in classes}, codes_of_warnings(classes)
        for code in codes:
            if code in known and code not in warnings:
                message = f"{code} is an error: only warnings can be denied or allowed"
                raise click.BadParameter(message, context, parameter)
            if code not in known and code not in words:
                hint = did_you_mean(code, sorted(known), "`prismc explain` lists all codes")
                raise click.BadParameter(f"no diagnostic has the code {code!r}; {hint}")
    return codes


def strictness_options(command: Command) -> Command:
    """`--deny` and `--allow`."""
    for option in (
        click.option(
            "--allow",
            "allowed",
            metavar="CODE",
            multiple=True,
            callback=_known_codes,
            help="Do not tell warnings of this code, even where `--deny warnings` is given "
            "(repeatable). A comment `# prism: allow(CODE) reason` allows a single one.",
        ),
        click.option(
            "--deny",
            "denied",
            metavar="CODE|warnings",
            multiple=True,
            callback=_known_codes,
            help="Count warnings of this code, or all, as errors (repeatable).",
        ),
    ):
        command = option(command)
    return command


def chosen_strictness(denied: tuple[str, ...], allowed: tuple[str, ...]) -> Strictness:
    """What the two options say."""
    if both := sorted(set(denied) & set(allowed)):
        raise click.UsageError(f"{both[0]} is both denied and allowed")
    return Strictness(denied=denied, allowed=allowed)


target_option = click.option(
    "--target",
    "targets",
    metavar="sm_XX",
    type=click.Choice(list(TARGETS)),
    multiple=True,
    help=f"The GPU architecture, as `prismc targets` lists them (repeatable; {DEFAULT_TARGET}).",
)


asserts_option = click.option(
    "--asserts",
    is_flag=True,
    help="Keep `assert` and `print` in the code; without it they are compiled out.",
)


def schedules_option(default: int) -> Callable[[Command], Command]:
    """`--schedules` of the commands that run kernels."""
    return click.option(
        "--schedules",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        help="How many orders of execution to try: the plain one, adversarial ones, random ones.",
    )


sync_option = click.option(
    "--sync",
    "placement",
    type=click.Choice(["fewest", "paper"]),
    default="fewest",
    show_default=True,
    help="Where barriers are put: as few as suffice, or where the Prism paper puts them.",
)

jobs_option = click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    default=usual_jobs,
    help="How many files to work on at a time; without it, one for each processor.",
)


def user_cache() -> Cache:
    """The user's cache, for whatever a command may find there."""
    try:
        return open_cache()
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _chosen_cache(
    context: click.Context, parameter: click.Parameter, is_used: bool
) -> Cache | None:
    return user_cache() if is_used else None


cache_option = click.option(
    "--cache/--no-cache",
    "cache",
    default=True,
    callback=_chosen_cache,
    help="Whether to use and keep results of earlier runs, where `prismc cache path` says.",
)


def _check_footprints(context: click.Context, parameter: click.Parameter, text: str) -> str:
    if text == "smt" and find_spec("z3") is None:
        raise click.UsageError("`--footprints smt` needs z3: pip install 'prismc[smt]'", context)
    return text


footprints_option = click.option(
    "--footprints",
    type=click.Choice(["evaluated", "smt"]),
    default="evaluated",
    show_default=True,
    callback=_check_footprints,
    help="How accesses are compared: evaluated for all threads, or what is left open then proved "
    "by an SMT solver too.",
)


def _known_version(context: click.Context, parameter: click.Parameter, text: str) -> str:
    if text in ("least", "newest"):
        return text
    if re.fullmatch(r"[1-9]\d?\.\d", text) is None or version(text) < LEAST:
        known = f"`least`, `newest`, or a version such as `8.4`, from {version_text(LEAST)} on"
        raise click.BadParameter(f"{text!r} is none of {known}", context, parameter)
    return text


ptx_version_option = click.option(
    "--ptx-version",
    metavar="VERSION",
    default="least",
    show_default=True,
    callback=_known_version,
    help="What PTX states as its version, which decides about the drivers that load it: the least "
    "that has all that the program uses, the compiler's own (`newest`), or a number such as 8.0.",
)


def chosen_targets(names: tuple[str, ...]) -> list[Target]:
    """The targets of a command line, each once; the default where it names none."""
    return [TARGETS[name] for name in dict.fromkeys(names)] or [DEFAULT_TARGET]


def keep_source(source: Path, output: Path) -> None:
    """Refuse to write over the program itself, however the two are spelled."""
    if source.exists() and output.exists() and source.samefile(output):
        raise click.UsageError(f"`{output}` is the source itself; name another output with `-o`")


def extents(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[int, ...]:
    """`4` or `4,2` or `4,2,1` as numbers."""
    if text is None:
        return ()
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        message = f"{text!r} is not one to three positive numbers, as in `64` or `16,4`"
        raise click.BadParameter(message, context, parameter)
    return numbers


def finite(
    context: click.Context, parameter: click.Parameter, number: float | None
) -> float | None:
    """A number from 0 on, infinity and nan excepted."""
    if number is not None and not 0 <= number < float("inf"):
        raise click.BadParameter(f"{number:g} is no number from 0 on", context, parameter)
    return number


def named_values(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Each NAME=VALUE as a pair."""
    found = []
    for text in texts:
        name, _, value = text.partition("=")
        if not name.strip() or not value.strip():
            raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE", context, parameter)
        found.append((name.strip(), value.strip()))
    return tuple(found)


def compiler_options(
    target: Target,
    defines: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    compiler: str = "nvrtc",
    dropped_sync: tuple[int, ...] = (),
    asserts: bool = False,
    placement: str = "fewest",
    footprints: str = "evaluated",
    ptx_version: str = "least",
) -> Options:
    return Options(
        target=target,
        defines=defines,
        include=include,
        compiler=compiler,
        dropped_sync=dropped_sync,
        asserts=asserts,
        placement=placement,
        footprints=footprints,
        ptx_version=ptx_version,
    )

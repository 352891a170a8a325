"""`prismc doctor`: what was found of the toolchain."""

from __future__ import annotations

import json
import sys

import click

from prismc.cli.render import write
from prismc.driver.doctor import Part, examine
from prismc.driver.session import ENVIRONMENT_WRONG, FINE


@click.command(short_help="Say what of the toolchain is there.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How it is told.",
)
def doctor(format_: str) -> int:
    """Look for compilers, tools, a GPU and optional packages; say what each missing one costs.

    Exit code 2 when something is missing without which nothing can be built.
    """
    parts = examine()
    if format_ == "json":
        write(sys.stdout, json.dumps(_record(parts), indent=2) + "\n")
    else:
        write(sys.stdout, _text(parts))
    is_fit = all(part.is_found for part in parts if part.needed)
    return FINE if is_fit else ENVIRONMENT_WRONG


def _text(parts: tuple[Part, ...]) -> str:
    width = max(len(part.name) for part in parts)
    lines = []
    for part in parts:
        if part.is_found:
            shown = f"{part.version}  {part.path}".strip()
            lines.append(f"  ok  {part.name:{width}}  {shown}")
            continue
        sign = "FAIL" if part.needed else "  --"
        lines.append(f"{sign}  {part.name:{width}}  {part.problem}")
        lines.append(f"{'':{width + 8}}costs: {part.cost}")
        lines.append(f"{'':{width + 8}}help: {part.remedy}")
    return "\n".join(lines) + "\n"


def _record(parts: tuple[Part, ...]) -> dict[str, object]:
    return {
        "version": 1,
        "fit": all(part.is_found for part in parts if part.needed),
        "parts": [
            {
                "name": part.name,
                "found": part.is_found,
                "needed": part.needed,
                "version": part.version,
                "path": part.path,
                "problem": part.problem,
                "cost": part.cost if part.problem else "",
                "remedy": part.remedy,
            }
            for part in parts
        ],
    }

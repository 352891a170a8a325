"""Every problem class, found in the `errors` modules. Nobody registers a code anywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from prismc.diagnostics.problem import Problem
from prismc.source.resources import explain_folder

_PACKAGE = Path(__file__).resolve().parent.parent


def error_modules() -> list[str]:
    """The dotted names of all `errors` modules of the package, in order of their paths.

    An area with many has several: `errors.py`, `call_errors.py`.
    """
    names = []
    for folder, folders, files in os.walk(_PACKAGE):
        folders.sort()
        for file in sorted(files):
            if file.endswith("errors.py"):
                parts = Path(folder, file).with_suffix("").relative_to(_PACKAGE.parent).parts
                names.append(".".join(parts))
    return names


def problem_classes() -> list[type[Problem]]:
    """Every problem class that has a code of its own, by code."""
    found: dict[str, type[Problem]] = {}
    for name in error_modules():
        for value in vars(import_module(name)).values():
            if isinstance(value, type) and issubclass(value, Problem) and vars(value).get("code"):
                found.setdefault(f"{value.code} {value.__module__}.{value.__name__}", value)
    return [found[key] for key in sorted(found)]


def codes() -> dict[str, str]:
    """Code and title of every problem, by code."""
    return {cls.code: cls.title for cls in problem_classes()}


def page(code: str) -> str | None:
    """The explanation of `code` in Markdown; None if there is none."""
    place = explain_folder() / f"{code}.md"
    return place.read_text(encoding="utf-8") if place.is_file() else None


def similar_codes(code: str) -> Iterator[str]:
    """Known codes that someone who typed `code` may have meant, the likeliest first."""
    digits = "".join(c for c in code if c.isdigit())
    if digits:
        padded = f"P{int(digits) % 10_000:04d}"
        yield from (known for known in codes() if known == padded)
        yield from (known for known in codes() if known[:3] == padded[:3] and known != padded)

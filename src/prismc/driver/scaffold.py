"""New projects from templates, `prismc/templates`.

In texts and paths {{NAME}} is the project's name, {{PACKAGE}} the Python package's. Files whose own
names would mean something here end in `.in`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from keyword import iskeyword
from pathlib import Path

from prismc.driver.outputs import Output
from prismc.source.resources import templates_folder

# The folders that a project is put together from.
_PARTS = {
    "make": ("common", "c", "make"),
    "cmake": ("common", "c", "cmake"),
    "python": ("common", "python"),
}
TEMPLATES = tuple(_PARTS)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORDS = re.compile(r"\{\{(NAME|PACKAGE)\}\}")
# Targets of build systems, and packages that a project's own would hide from its tests.
_TAKEN = (
    "all", "clean", "edit_cache", "hatchling", "help", "install", "numpy", "package", "pip",
    "pluggy", "prismc", "py", "pytest", "test", "tests",
)  # fmt: skip
_KERNEL = Path("kernels", "axpy.prism")


class BadName(ValueError):
    """A name that no project can have; the text says why."""


def project_files(name: str, template: str, folder: Path) -> list[Output]:
    """The files of a new project that is to stand in `folder`. Raises BadName."""
    if _NAME.fullmatch(name) is None:
        raise BadName(f"`{name}` is no name for a project: use letters, digits, `-` and `_`")
    words = {"NAME": name, "PACKAGE": name.replace("-", "_").lower()}
    taken = (*_TAKEN, *sys.stdlib_module_names) if template == "python" else _TAKEN
    if iskeyword(words["PACKAGE"]) or words["PACKAGE"] in taken:
        raise BadName(f"`{name}` is no name for a project: build systems or Python use it")

    def filled(text: str) -> str:
        return _WORDS.sub(lambda match: words[match[1]], text)

    return [
        Output(path=folder / filled(str(place)), content=filled(text).encode())
        for place, text in _texts(template)
    ]


def _texts(template: str) -> Iterator[tuple[Path, str]]:
    """The files of a template, by their places in the project."""
    for part in _PARTS[template]:
        root = templates_folder() / part
        for file in sorted(root.rglob("*")):
            if file.is_file():
                yield _place(file.relative_to(root), template), file.read_text(encoding="utf-8")


def _place(place: Path, template: str) -> Path:
    place = place.with_name(place.name.removesuffix(".in"))
    if place == _KERNEL and template == "python":
        return Path("src", "{{PACKAGE}}", place.name)
    return place

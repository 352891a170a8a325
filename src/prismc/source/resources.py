"""Where the files that ship beside the code are: the grammar, the standard library, the pages.

An installed wheel holds them inside the package, a checkout at its root.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def resource_folder(name: str) -> Path:
    """The folder `grammar` or `stdlib`, from the wheel or from the checkout.

    Raises FileNotFoundError when the installation lacks it.
    """
    for place in (_PACKAGE / name, _PACKAGE.parent.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"this installation has no folder `{name}`: install it again")


def grammar_file() -> Path:
    """The LALR grammar of the language."""
    return resource_folder("grammar") / "prism.lark"


def stdlib_folder() -> Path:
    """The folder whose files are the modules `std.*`."""
    return resource_folder("stdlib")


def portable_name(name: str) -> str:
    """A file's name in outputs: the standard library is `std/..` wherever it is installed, so that
    they do not depend on it."""
    library = f"{stdlib_folder()}/"
    return f"std/{name.removeprefix(library)}" if name.startswith(library) else name


def explain_folder() -> Path:
    """The folder with one page for each diagnostic code."""
    return _PACKAGE / "diagnostics" / "explain"


def build_systems_folder() -> Path:
    """The folder with what CMake and make include."""
    return _PACKAGE / "build_systems"


def templates_folder() -> Path:
    """The folder with what `prismc new` makes projects from."""
    return _PACKAGE / "templates"

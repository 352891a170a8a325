"""Which module of the standard library declares a name, for files that do not import it yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from prismc.frontend.modules import STANDARD, modules_in
from prismc.source.resources import stdlib_folder

# The library is ours and laid out by `prismc fmt`, so that a pattern finds what a parser would.
_PUBLIC = re.compile(r"^(?:unsafe )?(?:def|const|kernel|export) ([A-Za-z]\w*)", re.MULTILINE)


def standard_modules() -> list[str]:
    """The modules of the standard library, by their full names."""
    return [f"{STANDARD}.{name}" for name in modules_in(stdlib_folder())]


@lru_cache(maxsize=1)
def standard_names() -> Mapping[str, str]:
    """Every public name of the standard library with the module that has it, the first of two."""
    found: dict[str, str] = {}
    for module in standard_modules():
        path = stdlib_folder() / f"{module.removeprefix(f'{STANDARD}.')}.prism"
        for name in _PUBLIC.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, module)
    return MappingProxyType(found)

"""Names of a program as other languages may have them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from keyword import iskeyword


def identifier(text: str) -> str:
    """`text` as an identifier of C: other characters become `_`."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"_{name}" if not name or name[0].isdigit() else name


def python_names(names: Iterable[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """Each name as Python may have it: `_` stands behind keywords and what is `taken` already."""
    used = {*taken}
    found = []
    for name in names:
        while iskeyword(name) or name in used:
            name += "_"
        used.add(name)
        found.append(name)
    return tuple(found)

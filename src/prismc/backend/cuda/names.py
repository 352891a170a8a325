"""Names in the generated text: what is taken, and what a Prism name becomes beside it."""

from __future__ import annotations

import re

from prismc.hardware.symbols import RESERVED_NAMES

_NOT_IN_NAMES = re.compile(r"\W", re.ASCII)


def plain_name(hint: str) -> str:
    """`hint` as an identifier that no keyword, macro or helper has; "v" for an empty one."""
    name = _NOT_IN_NAMES.sub("_", hint) or "v"
    # Two underscores, or one before a capital, belong to the compiler everywhere.
    name = re.sub(r"__+", "_", name)
    if name[0].isdigit() or re.match(r"_[A-Z]", name):
        name = f"v{name}"
    return f"{name}_" if name in RESERVED_NAMES else name


class Scopes:
    """The names in use while a function is written, innermost scope last.

    A name is never given again while a scope that knows it is open, so no name hides another and
    a name alone tells the variable.
    """

    def __init__(self, outside: frozenset[str]) -> None:
        self._outside = outside
        # Each scope's names, and the next number to try for the names that it has made many of.
        self._scopes: list[dict[str, int]] = [{}]

    def open(self) -> None:
        self._scopes.append({})

    def close(self) -> None:
        self._scopes.pop()

    def new(self, hint: str) -> str:
        """A free name like `hint`, taken in the innermost scope."""
        base = plain_name(hint)
        known = (scope[base] for scope in reversed(self._scopes) if base in scope)
        number = next(known, 0)
        name = f"{base}_{number}" if number else base
        while name in self._outside or any(name in scope for scope in self._scopes):
            number += 1
            name = f"{base}_{number}"
        self._scopes[-1].setdefault(name, 1)
        self._scopes[-1][base] = number + 1
        return name

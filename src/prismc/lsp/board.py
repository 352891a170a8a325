"""Which diagnostics each file shows: those of every open program that it is a part of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lsprotocol import types

ByFile = Mapping[str, list[types.Diagnostic]]


class Board:
    """Diagnostics by the root whose check found them, and by the file that they are in."""

    def __init__(self) -> None:
        self._found: dict[str, ByFile] = {}

    def put(self, root: str, found: ByFile) -> list[str]:
        """Take the results of a check of `root`; returns the files that show others now."""
        before = self._found.pop(root, {})
        if found:
            self._found[root] = found
        return list(dict.fromkeys((*before, *found)))

    def shown(self, file: str) -> list[types.Diagnostic]:
        """What a file shows: each problem once, whoever found it."""
        return list(_once(d for found in self._found.values() for d in found.get(file, ())))


def _once(diagnostics: Iterable[types.Diagnostic]) -> Iterator[types.Diagnostic]:
    seen: list[tuple[types.Range, object, str]] = []
    for each in diagnostics:
        key = (each.range, each.code, each.message)
        if key not in seen:
            seen.append(key)
            yield each

"""Bases of the records in compiled modules; `records.py` writes each class's `__init__`.

They take the place of `prismc.source.record` there. That nobody writes to fields is mypy's matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

R = TypeVar("R")

made: Callable[[type[R]], R] = object.__new__


def kept(cls: type[R]) -> type[R]:
    """The class itself: mypyc leaves one with a decorator to Python, and compiles its methods."""
    return cls


class Record:
    """What `prismc.source.record.Record` is."""

    __fields__: ClassVar[tuple[str, ...]] = ()
    __annotated__: ClassVar[dict[str, str]] = {}

    def __repr__(self) -> str:
        inside = ", ".join(f"{field}={getattr(self, field)!r}" for field in self.__fields__)
        return f"{type(self).__name__}({inside})"


class Value(Record):
    """A record whose classes compare and hash by fields."""


def replace(record: R, **changes: Any) -> R:
    """A copy of `record` with some fields changed."""
    one = cast(Any, record)
    values = {field: getattr(one, field) for field in one.__fields__}
    return cast(R, type(one)(**(values | changes)))


def deferred(cls: type[R], read: Callable[[R], None], /, **values: Any) -> R:
    """A record with some of its fields; `read` has to `fill` in the others when one is read."""
    return cast(R, cast(Any, cls)(deferred=read, **values))


def fill(record: R, **values: Any) -> R:
    """The record itself, with fields filled that nobody has read yet."""
    for name, value in values.items():
        setattr(record, f"read_{name}", value)
    return record

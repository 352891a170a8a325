"""Records as plain data and back: problems and reports that outlive the process that found them.

A record becomes its class's place and its fields; what `read` makes of that equals the original,
field by field. Classes are looked up in prismc's own modules only.
"""

from __future__ import annotations

import sys
from enum import Enum
from importlib import import_module
from typing import Any

_PACKAGE = "prismc."


def tell(value: Any) -> Any:
    """`value` as JSON has it: numbers, texts and lists.

    Enumerations, named tuples, records and tuples become lists that begin with what they are.
    Raises TypeError for what is none of these.
    """
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if isinstance(value, Enum):
        return ["enum", *_place(type(value)), value.name]
    if hasattr(type(value), "__fields__"):
        return ["record", *_place(type(value)), *(tell(each) for each in _fields(value))]
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            return ["named", *_place(type(value)), *map(tell, value)]
        return ["tuple", *map(tell, value)]
    raise TypeError(f"{type(value).__name__} cannot be kept")


def read(data: Any) -> Any:
    """What `tell` was given."""
    if not isinstance(data, list):
        return data
    kind, *rest = data
    if kind == "tuple":
        return tuple(map(read, rest))
    found = _found(rest[0], rest[1])
    if kind == "enum":
        return found[rest[2]]
    values = map(read, rest[2:])
    if kind == "named":
        return found(*values)
    return found(**dict(zip(found.__fields__, values, strict=True)))


def _fields(record: Any) -> list[Any]:
    return [getattr(record, field) for field in record.__fields__]


def _place(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def _found(module: str, name: str) -> Any:
    """The class of that name. Raises ValueError for one that is not of this package."""
    if not module.startswith(_PACKAGE):
        raise ValueError(f"{module}.{name} is not of this package")
    # Only the modules of what was found: reading one problem must not load the whole compiler.
    found = getattr(sys.modules.get(module) or import_module(module), name)
    if not (isinstance(found, type) and _is_kept(found)):
        raise ValueError(f"{module}.{name} is no record")
    return found


def _is_kept(kind: type) -> bool:
    return hasattr(kind, "__fields__") or issubclass(kind, Enum | tuple)

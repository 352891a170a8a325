"""Frozen, keyword-only records whose classes are cheap to create.

A compiler start-up creates some three hundred record classes. `dataclass(frozen=True, slots=True)`
generates and compiles source text for each of them, about a millisecond a class, which would be
most of what `prismc check` may cost. `Record` reads the annotations once and shares one `__init__`;
a class gets its own, which takes half the time, once so many of its records were made that the text
pays. Type checkers see an ordinary frozen keyword-only dataclass (PEP 681).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, dataclass_transform


class RecordType(type):
    """Turns a class body's annotations into slots, field names and defaults."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> RecordType:
        annotations = namespace.get("__annotations__", {})
        fields = [field for field in annotations if not _is_class_variable(annotations[field])]
        own_defaults = {field: namespace.pop(field) for field in fields if field in namespace}
        inherited: list[str] = []
        defaults: dict[str, Any] = {}
        for base in reversed(bases):
            inherited += [f for f in getattr(base, "__fields__", ()) if f not in inherited]
            defaults |= getattr(base, "__defaults__", {})
        namespace["__slots__"] = tuple(f for f in fields if f not in inherited)
        namespace["__fields__"] = (*inherited, *namespace["__slots__"])
        namespace["__defaults__"] = defaults | own_defaults
        if bases:
            namespace["__init__"] = Record.__init__  # never that of one base, with fewer fields
        return super().__new__(cls, name, bases, namespace)


def _is_class_variable(annotation: object) -> bool:
    return "ClassVar" in annotation if isinstance(annotation, str) else False


R = TypeVar("R", bound="Record")

_set = object.__setattr__

# How many records of a class are made before it gets an `__init__` of its own.
_MANY = 200
_made: Counter[type[Record]] = Counter()


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=False)
class Record(metaclass=RecordType):
    """A frozen record: fields are the annotations, arguments are keywords, equality is identity.

    Mutable defaults are not copied: use tuples. No record has an `__init__` of its own. Modules use
    `from __future__ import annotations`.
    """

    __fields__: ClassVar[tuple[str, ...]]
    __defaults__: ClassVar[dict[str, Any]]

    def __init__(self, **values: Any) -> None:
        cls, fields = type(self), self.__fields__
        _made[cls] += 1
        if _made[cls] == _MANY and fields:
            cls.__init__ = _own_init(cls)  # type: ignore[method-assign]
        if len(values) < len(fields):
            values = self.__defaults__ | values
        try:
            for field in fields:
                _set(self, field, values[field])
        except KeyError as missing:
            raise TypeError(f"{cls.__name__}: missing field {missing}") from None
        if len(values) > len(fields):
            unknown = next(name for name in values if name not in fields)
            raise TypeError(f"{cls.__name__}: unknown field {unknown!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; use `replace`")

    def __repr__(self) -> str:
        inside = ", ".join(f"{field}={getattr(self, field)!r}" for field in self.__fields__)
        return f"{type(self).__name__}({inside})"


def _own_init(cls: type[Record]) -> Callable[..., None]:
    """An `__init__` for one class that fills the slots without a loop."""
    names: dict[str, Any] = {f"_default_{f}": value for f, value in cls.__defaults__.items()}
    names |= {f"_set_{field}": getattr(cls, field).__set__ for field in cls.__fields__}
    arguments = (f"{f}=_default_{f}" if f in cls.__defaults__ else f for f in cls.__fields__)
    lines = (f"    _set_{field}(self, {field})" for field in cls.__fields__)
    exec("\n".join((f"def __init__(self, *, {', '.join(arguments)}):", *lines)), names)
    own: Callable[..., None] = names["__init__"]
    return own


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=True)
class Value(Record):
    """A record that compares and hashes by its fields."""

    def _key(self) -> tuple[Any, ...]:
        return tuple([getattr(self, field) for field in self.__fields__])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))


def replace(record: R, **changes: Any) -> R:
    """A copy of `record` with some fields changed."""
    values = {field: getattr(record, field) for field in record.__fields__}
    return type(record)(**(values | changes))

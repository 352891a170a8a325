"""Frozen, keyword-only records whose classes are cheap to create.

A compiler start-up creates some three hundred record classes. `dataclass(frozen=True, slots=True)`
generates and compiles source text for each of them, about a millisecond a class, which would be
most of what `prismc check` may cost. `Record` reads the annotations once and shares one `__init__`.
Type checkers see an ordinary frozen keyword-only dataclass (PEP 681).
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar, dataclass_transform


class RecordType(type):
    """Turns a class body's annotations into slots, field names and defaults."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> RecordType:
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
        return super().__new__(cls, name, bases, namespace)


def _is_class_variable(annotation: object) -> bool:
    return "ClassVar" in annotation if isinstance(annotation, str) else False


R = TypeVar("R", bound="Record")

_set = object.__setattr__


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=False)
class Record(metaclass=RecordType):
    """A frozen record: fields are the annotations, arguments are keywords, equality is identity.

    Mutable defaults are not copied: use tuples. Modules that declare records use
    `from __future__ import annotations`.
    """

    __fields__: ClassVar[tuple[str, ...]]
    __defaults__: ClassVar[dict[str, Any]]

    def __init__(self, **values: Any) -> None:
        fields = self.__fields__
        if len(values) < len(fields):
            values = self.__defaults__ | values
        try:
            for field in fields:
                _set(self, field, values[field])
        except KeyError as missing:
            raise TypeError(f"{type(self).__name__}: missing field {missing}") from None
        if len(values) > len(fields):
            unknown = next(name for name in values if name not in fields)
            raise TypeError(f"{type(self).__name__}: unknown field {unknown!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; use `replace`")

    def __repr__(self) -> str:
        inside = ", ".join(f"{field}={getattr(self, field)!r}" for field in self.__fields__)
        return f"{type(self).__name__}({inside})"


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=True)
class Value(Record):
    """A record that compares and hashes by its fields."""

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field) for field in self.__fields__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))


def replace(record: R, **changes: Any) -> R:
    """A copy of `record` with some fields changed."""
    values = {field: getattr(record, field) for field in record.__fields__}
    return type(record)(**(values | changes))

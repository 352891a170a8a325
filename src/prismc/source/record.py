"""Frozen, keyword-only records whose classes are cheap to create.

A compiler start-up creates some three hundred record classes. `dataclass(frozen=True, slots=True)`
generates and compiles source text for each of them, about a millisecond a class, which would be
most of what `prismc check` may cost. `Record` reads the annotations once, and a class gets its
`__init__` with its first record: compiled code that all classes with as many fields share. Type
checkers see an ordinary frozen keyword-only dataclass (PEP 681), and keep it frozen: at run time a
record is an ordinary object of a class without a metaclass, which the interpreter makes, reads and
tells from others fastest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, ClassVar, TypeVar, dataclass_transform

R = TypeVar("R", bound="Record")


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=False)
class Record:
    """A frozen record: fields are the annotations, arguments are keywords, equality is identity.

    Mutable defaults are not copied: use tuples. No record has an `__init__` of its own. What it
    keeps besides fields it names as a slot. Modules use `from __future__ import annotations`.
    """

    __fields__: ClassVar[tuple[str, ...]] = ()
    __annotated__: ClassVar[dict[str, str]] = {}
    __defaults__: ClassVar[dict[str, Any]] = {}
    __content__: ClassVar[Callable[[Record], Any]]

    def __init_subclass__(cls) -> None:
        inherited: list[str] = []
        defaults: dict[str, Any] = {}
        for base in reversed(cls.__bases__):
            inherited += [f for f in getattr(base, "__fields__", ()) if f not in inherited]
            defaults |= getattr(base, "__defaults__", {})
        annotations = cls.__annotations__
        own = [field for field in annotations if "ClassVar" not in annotations[field]]
        for field in own:
            if field in cls.__dict__:
                defaults[field] = cls.__dict__[field]
                delattr(cls, field)
        own = [field for field in own if field not in inherited]
        cls.__fields__ = (*inherited, *own)
        cls.__annotated__ = {field: annotations[field] for field in own}
        cls.__defaults__ = defaults
        cls.__content__ = attrgetter(*(cls.__fields__ or ("__fields__",)))
        # Never that of a base, which has fewer fields.
        cls.__init__ = Record.__init__  # type: ignore[method-assign]

    def __init__(self, **values: Any) -> None:
        cls = type(self)
        cls.__init__ = _own_init(cls)  # type: ignore[method-assign]
        cls.__init__(self, **values)

    def __repr__(self) -> str:
        inside = ", ".join(f"{field}={getattr(self, field)!r}" for field in self.__fields__)
        return f"{type(self).__name__}({inside})"


def _own_init(cls: type[Record]) -> Callable[..., None]:
    """An `__init__` that fills the fields of one class, without a loop."""
    fields = cls.__fields__
    code = _filling(len(fields)).replace(co_varnames=("self", *fields), co_names=fields)
    own = FunctionType(code, {})
    own.__qualname__ = f"{cls.__qualname__}.__init__"  # as errors about arguments name it
    own.__kwdefaults__ = cls.__defaults__
    return own


@cache
def _filling(count: int) -> CodeType:
    """The code that fills so many fields from arguments, whose names are still to be put in."""
    arguments = ", *" * bool(count) + "".join(f", field_{n}" for n in range(count))
    lines = [f"    self.field_{n} = field_{n}" for n in range(count)] or ["    pass"]
    names: dict[str, Any] = {}
    exec("\n".join((f"def __init__(self{arguments}):", *lines)), names)
    code: CodeType = names["__init__"].__code__
    return code


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=True)
class Value(Record):
    """A record that compares and hashes by its fields."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        cls = type(self)
        return type(other) is cls and cls.__content__(self) == cls.__content__(other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, type(self).__content__(self)))


def replace(record: R, **changes: Any) -> R:
    """A copy of `record` with some fields changed."""
    values = {field: getattr(record, field) for field in record.__fields__}
    return type(record)(**(values | changes))


def deferred(cls: type[R], read: Callable[[R], None], /, **values: Any) -> R:
    """A record with some of its fields, of a class that asks `deferred` for the others.

    `read` has to `fill` them in.
    """
    return fill(object.__new__(cls), deferred=read, **values)


def fill(record: R, **values: Any) -> R:
    """The record itself, with fields filled that nobody has read yet."""
    for name, value in values.items():
        object.__setattr__(record, name, value)
    return record

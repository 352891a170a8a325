"""The core of the IR: values, operations, regions, functions, modules.

The IR is structured SSA. A region is one block: its arguments, then its operations, the last of
which is a terminator. Control flow exists only as operations that own regions, so a value may be
used after its definition in the same region and in every region nested there; dominance needs no
graph.

Everything but `Value` is frozen. A pass builds new operations where something changes and keeps
the rest. A `Value` is a name: whichever operation lists it among its results defines it, so
replacing an operation's operands leaves its results, and all their uses, as they are.

What a field of an operation is follows from its annotation:

====================  =======================================================
`Value`               operand
`Value | None`        operand that may be left out
`tuple[Value, ...]`   list of operands
`Region`              nested region
anything else         attribute: bool, int, float, str, None or a tuple of them
====================  =======================================================

Spans. A new operation takes the span of the operation (in lowering: the statement) that it
replaces; when two operations are merged into one, the first keeps its span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from prismc.ir.conditions import Condition
from prismc.ir.types import Type
from prismc.source.record import Record, replace
from prismc.source.span import NOWHERE, Span


class Value:
    """One SSA value: identity is its name. `hint` is the source name that printers use, or ""."""

    __slots__ = ("hint", "type")

    def __init__(self, type: Type, hint: str = "") -> None:
        self.type = type
        self.hint = hint

    def __repr__(self) -> str:
        return f"Value({self.type}, {self.hint!r})"


class Role(Enum):
    """What a field of an operation is."""

    OPERAND = "operand"
    OPTIONAL = "optional operand"
    OPERANDS = "operands"
    REGION = "region"
    ATTRIBUTE = "attribute"


_ROLES = {
    "Value": Role.OPERAND,
    "Value | None": Role.OPTIONAL,
    "tuple[Value, ...]": Role.OPERANDS,
    "Region": Role.REGION,
}
_OPERAND_ROLES = (Role.OPERAND, Role.OPTIONAL, Role.OPERANDS)


class Op(Record):
    """Base of operations.

    `spelling` is the name in the text form. A class with a `selector` stands for a family: the
    selector names the field and the enumeration whose member's value is the spelling. `roles` maps
    the fields, in order, to what they are; `results` and `span` are not among them. Every walk asks
    for `region_fields` and `operand_fields`, those that hold regions, and operands with their role.
    `has_lists` holds where a field is a list of operands, or an operand may be left out. `operands`
    and `regions` are all of them in the order of the fields; each class has readers of its own.
    """

    spelling: ClassVar[str] = ""
    selector: ClassVar[tuple[str, type[Enum]] | None] = None
    is_terminator: ClassVar[bool] = False
    roles: ClassVar[Mapping[str, Role]] = {}
    region_fields: ClassVar[tuple[str, ...]] = ()
    operand_fields: ClassVar[tuple[tuple[str, Role], ...]] = ()
    attribute_fields: ClassVar[tuple[str, ...]] = ()
    has_lists: ClassVar[bool] = False

    results: tuple[Value, ...] = ()
    span: Span = NOWHERE

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {
            name: _ROLES.get(annotation, Role.ATTRIBUTE)
            for name, annotation in cls.__annotated__.items()
        }
        cls.roles = {**cls.roles, **own}
        cls.region_fields = tuple(n for n, role in cls.roles.items() if role is Role.REGION)
        cls.operand_fields = tuple(pair for pair in cls.roles.items() if pair[1] in _OPERAND_ROLES)
        selector = cls.selector[0] if cls.selector else None
        attributes = (name for name, role in cls.roles.items() if role is Role.ATTRIBUTE)
        cls.attribute_fields = tuple(name for name in attributes if name != selector)
        cls.has_lists = any(role is not Role.OPERAND for _, role in cls.operand_fields)
        names = [name for name, _ in cls.operand_fields]
        own_readers: dict[str, object] = {
            "operands": _all_operands if cls.has_lists else _reader(names),
            "regions": _reader(cls.region_fields),
        }
        for name, read in own_readers.items():
            setattr(cls, name, property(read) if callable(read) else read)

    @property
    def name(self) -> str:
        """The spelling in the text form."""
        if self.selector is None:
            return self.spelling
        return str(getattr(self, self.selector[0]).value)

    @property
    def result(self) -> Value:
        """The only result."""
        (result,) = self.results
        return result

    if TYPE_CHECKING:

        @property
        def operands(self) -> tuple[Value, ...]: ...

        @property
        def regions(self) -> tuple[Region, ...]: ...

    @property
    def attributes(self) -> dict[str, object]:
        """The attributes by name, without the selector."""
        return {name: getattr(self, name) for name in self.attribute_fields}

    def with_operands(self, values: Mapping[Value, Value]) -> Self:
        """This operation with operands replaced as `values` says; itself if none of them is.

        Nested regions are left alone.
        """
        if not values or values.keys().isdisjoint(self.operands):
            return self
        changes: dict[str, object] = {}
        for name, role in self.operand_fields:
            held = getattr(self, name)
            if role is Role.OPERANDS:
                changes[name] = tuple(values.get(value, value) for value in held)
            elif held is not None:
                changes[name] = values.get(held, held)
        return replace(self, **changes)

    def with_regions(self, regions: tuple[Region, ...]) -> Self:
        """This operation with other regions, in the order of the fields; itself if all are the
        same objects."""
        if all(new is old for new, old in zip(regions, self.regions, strict=True)):
            return self
        return replace(self, **dict(zip(self.region_fields, regions, strict=True)))


def _reader(names: Sequence[str]) -> Callable[[Op], Any] | tuple[()]:
    """What reads some fields as a tuple; the tuple itself where there are none."""
    if not names:
        return ()
    read: Callable[[Op], Any] = attrgetter(*names)
    return read if len(names) > 1 else lambda op: (read(op),)


def _all_operands(op: Op) -> tuple[Value, ...]:
    """The operands of a class that has lists of them."""
    found: list[Value] = []
    for name, role in op.operand_fields:
        if role is Role.OPERAND:
            found.append(getattr(op, name))
        elif role is Role.OPERANDS:
            found.extend(getattr(op, name))
        elif (value := getattr(op, name)) is not None:
            found.append(value)
    return tuple(found)


class Region(Record):
    """One block: arguments, which the owner of the region defines, and operations."""

    ops: tuple[Op, ...]
    arguments: tuple[Value, ...] = ()

    @property
    def terminator(self) -> Op:
        return self.ops[-1]


class Launch(Record):
    """What is fixed about a kernel's launch: threads a block, least blocks a multiprocessor (0 when
    unstated), blocks a cluster, and whether the grid is launched cooperatively."""

    threads: int
    min_blocks: int = 0
    cluster: int = 1
    cooperative: bool = False


class Function(Record):
    """A kernel (with a `launch`) or a device function.

    `results` are types. `shared` is the number of bytes of shared memory a kernel needs, callees
    included, and `alignment` that of its start; both are 0 for device functions, which are given a
    pointer. `conditions` are what a kernel's launch verifies, `written` those of its tensor maps
    that it stores through; the text form leaves both out.
    """

    symbol: str
    parameters: tuple[Value, ...]
    results: tuple[Type, ...]
    body: Region
    launch: Launch | None = None
    shared: int = 0
    alignment: int = 0
    conditions: tuple[Condition, ...] = ()
    written: frozenset[Value] = frozenset()
    span: Span = NOWHERE

    @property
    def is_kernel(self) -> bool:
        return self.launch is not None


class Module(Record):
    """All functions of one program, callees before callers."""

    functions: tuple[Function, ...]

    def function(self, symbol: str) -> Function:
        """The function called `symbol`.

        Raises KeyError.
        """
        for function in self.functions:
            if function.symbol == symbol:
                return function
        raise KeyError(symbol)


def walk(region: Region) -> Iterator[Op]:
    """Every operation of a region and of the regions nested in it, in the order of the text."""
    found: list[Op] = []
    _gather(region, found)
    return iter(found)


# A list, since an operation that goes up through a generator for each level costs more.
def _gather(region: Region, found: list[Op]) -> None:
    for op in region.ops:
        found.append(op)
        for nested in op.regions:
            _gather(nested, found)


def clone(region: Region, values: dict[Value, Value]) -> Region:
    """A copy that defines fresh values. `values` maps what the region uses from outside, and is
    extended by what it defines."""
    arguments = tuple(_fresh(argument, values) for argument in region.arguments)
    ops: list[Op] = []
    for op in region.ops:
        moved = op.with_operands(values)
        moved = moved.with_regions(tuple(clone(nested, values) for nested in op.regions))
        results = tuple(_fresh(result, values) for result in op.results)
        ops.append(replace(moved, results=results))
    return Region(ops=tuple(ops), arguments=arguments)


def _fresh(value: Value, values: dict[Value, Value]) -> Value:
    values[value] = Value(value.type, value.hint)
    return values[value]

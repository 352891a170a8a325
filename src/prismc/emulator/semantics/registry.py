"""How a PTX instruction form finds the function that computes it.

A semantic function is pure: arrays in, arrays out. It knows nothing of masks, memory or scheduling.
It is written as a *binder*: the machine calls it once per instruction while decoding, with the
form (name, modifiers, types); it returns the operation that runs each time:

    @instruction("add", types="s16 u16 s32 u32 s64 u64", sources="T T")
    def add_integer(form: Form) -> Operation:
        "Integer addition, modulo 2**n (PTX ISA 9.7.1.1, add)."
        return np.add

**Values.** A register is an array of unsigned integers of its width (`uint8/16/32/64`), a predicate
an array of `bool`. Floats are bit patterns: a function views them (`a.view(np.float32)`) and views
its result back. A source always arrives in the width its declared type has (`bits_of`), whatever
the width of the register or immediate it came from. A result must have the unsigned dtype of its
declared type; the machine extends it to a wider register (by sign for signed types).

**Shapes.** LANES operations get arrays that broadcast together: `[lanes]`, or `[1]` for a value
that is the same everywhere; the result has the broadcast shape. Lanes that do not execute hold
anything, and what is computed for them is thrown away: no operation may fail on a value (NumPy's
floating point warnings are off while the machine runs). Never write into a source array.

**Results.** One array, or a tuple: all destination registers in the order they are written, vectors
`{d0, d1}` and pairs `p|q` flattened. A vector source `{a, b}` arrives as a tuple of arrays.
A destination that the text leaves out (`_`, or the `|q` of setp) is still returned.

**Carry.** `addc`, `subc`, `madc` get CC.CF (bool) as an additional last source; a form with `.cc`
returns the carry (bool) as an additional last result.

**Kinds.** See `Kind`. A form that nobody registered is refused by name when the module is decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Lanes = npt.NDArray[Any]
Operation = Callable[..., Any]

_TYPE = re.compile(
    r"[usbf](?:4|8|16|32|64|128)(?:x2|x4)?|bf16(?:x2)?|tf32|pred|b1|s2f6x2"
    r"|(?:e4m3|e5m2|e2m1|e2m3|e3m2|ue8m0)(?:x2|x4)?"
)

_NARROW_BITS = {"b1": 1, "s4": 4, "u4": 4, "bf16": 16, "bf16x2": 32, "tf32": 32, "pred": 1}
_EIGHT_BIT_FLOATS = ("e4m3", "e5m2", "e2m1", "e2m3", "e3m2", "ue8m0", "s2f6")
UNSIGNED: Mapping[int, type[np.unsignedinteger[Any]]] = MappingProxyType(
    {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
)


class Refused(Exception):
    """A form that the machine does not run; the text says what about it is unknown."""


class Form(NamedTuple):
    """An opcode taken apart: `cvt.rn.f16.f32` is `cvt`, modifiers `rn`, types `f16`, `f32`.

    Modifiers and types keep their order. Everything dotted that is not a type is a modifier, also
    shapes (`m16n8k8`), comparisons (`lt`) and spaces (`global`); `::` suffixes stay attached.
    """

    name: str
    modifiers: tuple[str, ...]
    types: tuple[str, ...]

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    def one_of(self, *modifiers: str, default: str = "") -> str:
        """The one of `modifiers` that the form carries, or `default`."""
        return next((modifier for modifier in self.modifiers if modifier in modifiers), default)

    def __str__(self) -> str:
        return ".".join((self.name, *self.modifiers, *self.types))


def parse_form(opcode: str) -> Form:
    """The form of an opcode as it is written, e.g. `mad.lo.s32`."""
    name, *parts = re.split(r"\.(?!:)", opcode)
    types = tuple(part for part in parts if _TYPE.fullmatch(part))
    return Form(name, tuple(part for part in parts if not _TYPE.fullmatch(part)), types)


def bits_of(type_name: str) -> int:
    """Width of a PTX type in bits: `u16` 16, `f16x2` 32, `e4m3x2` 16, `pred` 1."""
    if type_name in _NARROW_BITS:
        return _NARROW_BITS[type_name]
    base, _, count = type_name.partition("x")
    width = 8 if base in _EIGHT_BIT_FLOATS else int(re.sub(r"\D", "", base))
    return width * int(count or 1)


def dtype_of(type_name: str) -> np.dtype[Any]:
    """The dtype that carries a PTX type: bool for `pred`, else unsigned, at least 8 bits wide."""
    if type_name == "pred":
        return np.dtype(np.bool_)
    return np.dtype(UNSIGNED[max(8, bits_of(type_name))])


class Kind(Enum):
    """What an operation is called with."""

    LANES = "operation(*sources): arrays [lanes], independent of each other"
    WARP = "operation(active, *sources): arrays [warps, 32]; active is bool [warps, 32]"
    ROWS_IN = "operation(rows): ldmatrix; rows is uint8 [warps, matrices, rows, bytes]"
    ROWS_OUT = "operation(*sources): stmatrix; returns rows, uint8 [warps, matrices, rows, bytes]"


class Instruction(NamedTuple):
    """A registered family of forms.

    `sources` and `results` name operand types in order: `T` (or `T0`) to `T4` are the form's types,
    `W` is twice the width of `T0`, anything else is a PTX type. A vector operand's spec is its
    elements'. The last `optional` sources may be missing in the text; the operation then gets
    fewer. `modifiers` lists all that the function understands: any other is refused.
    """

    name: str
    types: tuple[str, ...]
    kind: Kind
    sources: tuple[str, ...]
    results: tuple[str, ...]
    optional: int
    modifiers: frozenset[str]
    bind: Callable[[Form], Operation]


_TABLE: dict[tuple[str, str], Instruction] = {}


def instruction(
    name: str,
    *,
    types: str = "*",
    sources: str = "T",
    results: str = "T",
    optional: int = 0,
    modifiers: str = "",
    kind: Kind = Kind.LANES,
) -> Callable[[Callable[[Form], Operation]], Callable[[Form], Operation]]:
    """Registers a binder for the opcode `name` and each of the space-separated `types`.

    A type pattern is the form's types joined by dots (`"f16.f32 f32.f16"`, `""` for none), or `*`
    for any that no other pattern of the name takes. A name may carry a modifier (`mul.wide`): it
    then goes before the bare name for forms that have it. One binder may be registered several
    times.
    Raises ValueError when a pattern is taken twice.
    """

    def register(bind: Callable[[Form], Operation]) -> Callable[[Form], Operation]:
        patterns = tuple(types.split()) or ("",)
        row = Instruction(
            name,
            patterns,
            kind,
            tuple(sources.split()),
            tuple(results.split()),
            optional,
            frozenset(modifiers.split()),
            bind,
        )
        for pattern in patterns:
            if (name, pattern) in _TABLE:
                raise ValueError(f"{name}.{pattern} is registered twice")
            _TABLE[name, pattern] = row
        return bind

    return register


def find(form: Form) -> Instruction:
    """The registered family of `form`.

    Raises Refused, naming what is unknown: the opcode, its types, or a modifier.
    """
    names = (*(f"{form.name}.{modifier}" for modifier in form.modifiers), form.name)
    keys = ((name, types) for name in names for types in (".".join(form.types), "*"))
    row = next((_TABLE[key] for key in keys if key in _TABLE), None)
    if row is None:
        known = any(name.partition(".")[0] == form.name for name, _ in _TABLE)
        raise Refused(f"no `{form.name}` with types `{'.'.join(form.types)}`" if known else
                      f"unknown instruction `{form.name}`")  # fmt: skip
    unknown = [modifier for modifier in form.modifiers if modifier not in row.modifiers]
    if unknown:
        raise Refused(f"`{form}`: unknown modifier `.{unknown[0]}`")
    return row


def operand_types(form: Form, spec: tuple[str, ...]) -> tuple[str, ...]:
    """The PTX types that a row's `sources` or `results` stand for in this form."""
    return tuple(_operand_type(form, item) for item in spec)


def _operand_type(form: Form, item: str) -> str:
    if item == "W":
        return f"{form.types[0][0]}{2 * bits_of(form.types[0])}"
    if re.fullmatch(r"T\d?", item):
        return form.types[int(item[1:] or 0)]
    return item


def registered() -> tuple[Instruction, ...]:
    """All families, each once, in the order they were registered."""
    return tuple(dict.fromkeys(_TABLE.values()))

"""Declarations of variables and parameters with their initial values (PTX ISA 5.4)."""

from __future__ import annotations

import struct

from prismc.emulator.ptx.cursor import Cursor
from prismc.emulator.ptx.tree import Symbol, Variable
from prismc.emulator.semantics.registry import bits_of

SPACES = {".global": "global", ".const": "const", ".shared": "shared", ".local": "local",
          ".param": "param"}  # fmt: skip
_VECTOR = {".v2": 2, ".v4": 4}
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
_TYPES = frozenset(
    {"pred", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64"}
    | {f"{kind}{bits}" for kind in "bus" for bits in (8, 16, 32, 64)}
)
_OPAQUE = {".texref": 64, ".samplerref": 64, ".surfref": 64}


def parse_variables(cursor: Cursor, space: str, *, is_extern: bool = False) -> list[Variable]:
    """Variables after their state space word, up to and with the `;`."""
    head = _parse_head(cursor)
    found = [_parse_declarator(cursor, space, head, is_extern)]
    while cursor.accept(","):
        found.append(_parse_declarator(cursor, space, head, is_extern))
    cursor.expect(";")
    return found


def parse_parameter(cursor: Cursor, space: str) -> Variable:
    """One parameter of a function header, after its `.param` or `.reg`."""
    return _parse_declarator(cursor, space, _parse_head(cursor), False)


def _parse_head(cursor: Cursor) -> tuple[str, int, int]:
    """Type name, elements of a vector, alignment; attributes that change nothing are skipped."""
    align, vector, type_name = 0, 1, ""
    while cursor.text.startswith("."):
        word = cursor.take()
        if word == ".align":
            align = cursor.integer()
        elif word in _VECTOR:
            vector = _VECTOR[word]
        elif word == ".ptr":
            _skip_pointer_attributes(cursor)
        elif word == ".attribute":
            _skip_parentheses(cursor)
        elif word in _OPAQUE or is_scalar_type(word[1:]):
            type_name = "b64" if word in _OPAQUE else word[1:]
        else:
            cursor.fail(f"unknown attribute `{word}` of a variable")
    if not type_name:
        cursor.fail("a variable needs a type")
    return type_name, vector, align


def _skip_pointer_attributes(cursor: Cursor) -> None:
    """Passes the space of `.ptr .global .align 16`; the alignment is read as the variable's own."""
    if cursor.text in SPACES:
        cursor.take()
    if cursor.accept(".align"):
        cursor.integer()


def _skip_parentheses(cursor: Cursor) -> None:
    cursor.expect("(")
    while not cursor.accept(")"):
        cursor.take()


def is_scalar_type(name: str) -> bool:
    """Whether this is a type that registers and variables can have (PTX ISA 5.2.1)."""
    return name in _TYPES


def _parse_declarator(
    cursor: Cursor, space: str, head: tuple[str, int, int], is_extern: bool
) -> Variable:
    type_name, vector, align = head
    line = cursor.line
    name = cursor.word("a variable's name")
    element = max(1, bits_of(type_name) // 8)
    count, is_open = _parse_extents(cursor)
    size = 0 if is_open else element * vector * count
    image: bytes | None = None
    pointers: tuple[tuple[int, Symbol], ...] = ()
    if cursor.accept("="):
        image, pointers = _Initialiser(cursor, type_name, element).parse(size)
        size = max(size, len(image))
    return Variable(
        name=name,
        space=space,
        type_name=type_name,
        size=size,
        align=align or element * vector,
        image=image,
        pointers=pointers,
        is_extern=is_extern,
        line=line,
    )


def _parse_extents(cursor: Cursor) -> tuple[int, bool]:
    """Number of elements of `[4][8]`, and whether an extent is missing, as in `[]`."""
    count, is_open = 1, False
    while cursor.accept("["):
        if cursor.text == "]":
            is_open = True
        else:
            count *= cursor.integer()
        cursor.expect("]")
    return count, is_open


class _Initialiser:
    """Reads `= value` or `= {value, {..}, symbol+4, generic(symbol), 0xFF(symbol)}`."""

    def __init__(self, cursor: Cursor, type_name: str, element: int) -> None:
        self.cursor = cursor
        self.type_name = type_name
        self.element = element
        self.image = bytearray()
        self.pointers: list[tuple[int, Symbol]] = []

    def parse(self, size: int) -> tuple[bytes, tuple[tuple[int, Symbol], ...]]:
        self._value()
        self.image.extend(bytes(max(0, size - len(self.image))))
        return bytes(self.image), tuple(self.pointers)

    def _value(self) -> None:
        cursor = self.cursor
        if not cursor.accept("{"):
            self._scalar()
            return
        while not cursor.accept("}"):
            self._value()
            if not cursor.accept(","):
                cursor.expect("}")
                return

    def _scalar(self) -> None:
        cursor = self.cursor
        negative = cursor.accept("-")
        if cursor.token.kind == "number":
            self._number(negative)
            return
        name = cursor.word("a value or a symbol")
        if name == "generic" and cursor.accept("("):
            name = cursor.word("a symbol")
            cursor.expect(")")
        offset = 0
        if cursor.text in ("+", "-"):
            sign = 1 if cursor.take() == "+" else -1
            offset = sign * cursor.integer()
        self.pointers.append((len(self.image), Symbol(name, offset)))
        self.image.extend(bytes(self.element))

    def _number(self, negative: bool) -> None:
        cursor = self.cursor
        if cursor.after() == "(":
            cursor.fail("masked symbol addresses in initialisers are not supported")
        literal = cursor.literal()
        if self.type_name in _FLOATS and literal.kind != f"f{8 * self.element}":
            self.image.extend(self._float(literal.value, literal.kind, negative))
            return
        bits = literal.value
        if negative:
            bits = -bits if literal.kind == "int" else bits ^ (1 << (8 * self.element - 1))
        self.image.extend((bits & ((1 << 8 * self.element) - 1)).to_bytes(self.element, "little"))

    def _float(self, bits: int, kind: str, negative: bool) -> bytes:
        layouts = {"f32": ("<f", 4), "f64": ("<d", 8)}
        value = float(bits)
        if kind in layouts:
            layout, width = layouts[kind]
            (value,) = struct.unpack(layout, bits.to_bytes(width, "little"))
        return struct.pack(_FLOATS[self.type_name], -value if negative else value)

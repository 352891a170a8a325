"""Reads the text that `printer.py` writes: for tests, and for passes run by hand."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

from prismc.hardware.scalars import SCALARS, Scalar
from prismc.ir.core import Function, Launch, Module, Op, Region, Role, Value
from prismc.ir.ops.catalog import SPELLINGS
from prismc.ir.types import ArrayType, MapType, PointerType, ScalarType, Space, Type, VectorType
from prismc.source.span import NOWHERE, Span

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<value>%\w+)
      | (?P<symbol>@\w+)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<shape>\d+(?:x\d+)+)
      | (?P<float>-?(?:inf\b|nan\b|\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)))
      | (?P<int>-?\d+)
      | (?P<word>[A-Za-z_][\w.]*)
      | (?P<arrow>->)
      | (?P<mark>[][(){}<>,:=!])
    """,
    re.VERBOSE,
)

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


class IrSyntaxError(Exception):
    """Text that is not IR; the message begins with the line number."""


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def parse_module(text: str) -> Module:
    """The module that `text` describes. It is not verified.

    Raises IrSyntaxError.
    """
    parser = _Parser(_tokens(text))
    functions: list[Function] = []
    while not parser.at_end():
        functions.append(parser.function())
    return Module(functions=tuple(functions))


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise IrSyntaxError(f"{line}: unexpected character {text[at]!r}")
        kind = str(found.lastgroup)
        if kind != "space":
            tokens.append(Token(kind, found.group(), line))
        line += found.group().count("\n")
        at = found.end()
    tokens.append(Token("end", "", line))
    return tokens


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._values: dict[str, Value] = {}

    # ------------------------------------------------------------------ tokens

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def at_end(self) -> bool:
        return self._token.kind == "end"

    def _fail(self, expected: str) -> NoReturn:
        token = self._token
        raise IrSyntaxError(f"{token.line}: expected {expected}, found {token.text!r}")

    def _next(self, kind: str) -> str:
        if self._token.kind != kind:
            self._fail(f"a {kind}")
        self._at += 1
        return self._tokens[self._at - 1].text

    def _is(self, text: str) -> bool:
        return self._token.text == text and self._token.kind != "string"

    def _accept(self, text: str) -> bool:
        if self._is(text):
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            self._fail(repr(text))

    # ------------------------------------------------------------------ functions

    def function(self) -> Function:
        is_kernel = self._accept("kernel")
        if not is_kernel:
            self._expect("function")
        self._values = {}
        symbol = self._next("symbol")[1:]
        span = self._span()
        self._expect("(")
        parameters = self._definitions(")")
        self._expect(")")
        results = self._types() if self._accept("->") else ()
        facts = self._launch() if is_kernel else {}
        return Function(
            symbol=symbol, parameters=parameters, results=results, body=self._body(()), span=span,
            **facts,
        )  # fmt: skip

    def _launch(self) -> dict[str, Any]:
        facts = self._attributes()
        shared, alignment = facts.pop("shared"), facts.pop("alignment")
        return {"launch": Launch(**facts), "shared": shared, "alignment": alignment}

    def _span(self) -> Span:
        if not self._accept("!"):
            return NOWHERE
        file = _unquoted(self._next("string"))
        return Span(file, int(self._next("int")), int(self._next("int")))

    def _definitions(self, end: str) -> tuple[Value, ...]:
        found: list[Value] = []
        while not self._is(end):
            if found:
                self._expect(",")
            found.append(self._definition())
        return tuple(found)

    def _definition(self) -> Value:
        name = self._next("value")[1:]
        if name in self._values:
            self._fail(f"a new name instead of %{name}")
        self._expect(":")
        value = Value(self._type(), "" if name.isdecimal() else name)
        self._values[name] = value
        return value

    # ------------------------------------------------------------------ operations

    def _body(self, arguments: tuple[Value, ...]) -> Region:
        self._expect("{")
        ops: list[Op] = []
        while not self._accept("}"):
            ops.append(self._op())
        return Region(ops=tuple(ops), arguments=arguments)

    def _op(self) -> Op:
        # The results' names are known only to what follows, not to the operands.
        start = self._at
        has_results = self._token.kind == "value"
        while has_results and not self._is("="):
            self._at += 1
            if self.at_end():
                self._fail("'='")
        after = self._at + 1 if has_results else self._at
        self._at = after
        spelled = SPELLINGS.get(self._token.text)
        if spelled is None:
            self._fail("an operation")
        self._at += 1
        fields: dict[str, Any] = {"span": self._span()}
        self._operands(spelled.op, fields)
        fields |= self._attributes()
        resume = self._at
        if has_results:
            self._at = start
            fields["results"] = self._definitions("=")
            self._at = resume
        if spelled.field:
            fields[spelled.field] = spelled.member
        self._regions(spelled.op, fields)
        return self._build(spelled.op, fields)

    def _build(self, op: type[Op], fields: dict[str, Any]) -> Op:
        try:
            return op(**fields)
        except TypeError as error:
            raise IrSyntaxError(f"{self._token.line}: {error}") from error

    def _operands(self, op: type[Op], fields: dict[str, Any]) -> None:
        roles = (Role.OPERAND, Role.OPTIONAL, Role.OPERANDS)
        names = [name for name, role in op.roles.items() if role in roles]
        for number, name in enumerate(names):
            if number:
                self._expect(",")
            if op.roles[name] is Role.OPERANDS:
                fields[name] = self._list()
            elif op.roles[name] is Role.OPTIONAL and self._accept("none"):
                fields[name] = None
            else:
                fields[name] = self._use()

    def _list(self) -> tuple[Value, ...]:
        self._expect("[")
        values: list[Value] = []
        while not self._accept("]"):
            if values:
                self._expect(",")
            values.append(self._use())
        return tuple(values)

    def _use(self) -> Value:
        name = self._next("value")[1:]
        if name not in self._values:
            self._at -= 1
            self._fail("a value defined before")
        return self._values[name]

    def _attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._token.kind == "word" and self._tokens[self._at + 1].text == "=":
            name = self._next("word")
            self._expect("=")
            found[name] = self._literal()
        return found

    def _literal(self) -> object:
        token = self._token
        self._at += 1
        match token.kind:
            case "int":
                return int(token.text)
            case "float":
                return float(token.text)
            case "string":
                return _unquoted(token.text)
            case "word" if token.text in _WORDS:
                return _WORDS[token.text]
            case "mark" if token.text == "(":
                return self._tuple()
        self._at -= 1
        self._fail("a literal")

    def _tuple(self) -> tuple[object, ...]:
        found: list[object] = []
        while not self._accept(")"):
            if found:
                self._expect(",")
            found.append(self._literal())
        return tuple(found)

    def _regions(self, op: type[Op], fields: dict[str, Any]) -> None:
        for name, role in op.roles.items():
            if role is not Role.REGION:
                continue
            self._expect(name)
            arguments: tuple[Value, ...] = ()
            if self._accept("("):
                arguments = self._definitions(")")
                self._expect(")")
            fields[name] = self._body(arguments)

    # ------------------------------------------------------------------ types

    def _types(self) -> tuple[Type, ...]:
        self._expect("(")
        found: list[Type] = []
        while not self._accept(")"):
            if found:
                self._expect(",")
            found.append(self._type())
        return tuple(found)

    def _type(self) -> Type:
        if self._accept("array"):
            self._expect("<")
            element = self._element()
            shape = self._shape()
            self._expect(">")
            return ArrayType(element=element, shape=shape)
        if self._accept("map"):
            self._expect("<")
            scalar, box = self._scalar(), self._shape()
            swizzle = self._next("word") if self._accept(",") else ""
            self._expect(">")
            return MapType(element=scalar, box=box, swizzle=swizzle)
        if self._accept("ptr"):
            return self._pointer()
        return self._element()

    def _shape(self) -> tuple[int, ...]:
        self._expect(",")
        kind = "shape" if self._token.kind == "shape" else "int"
        return tuple(int(extent) for extent in self._next(kind).split("x"))

    def _pointer(self) -> PointerType:
        self._expect("<")
        is_const = self._accept("const")
        element = self._element()
        self._expect(",")
        space = Space(self._next("word"))
        self._expect(">")
        return PointerType(element=element, space=space, is_const=is_const)

    def _element(self) -> ScalarType | VectorType:
        if not self._accept("vec"):
            return ScalarType(scalar=self._scalar())
        self._expect("<")
        scalar = self._scalar()
        self._expect(",")
        lanes = int(self._next("int"))
        self._expect(">")
        return VectorType(element=scalar, lanes=lanes)

    def _scalar(self) -> Scalar:
        if self._token.text not in SCALARS:
            self._fail("a type")
        return SCALARS[self._next("word")]


def _unquoted(text: str) -> str:
    return text[1:-1].encode("ascii").decode("unicode_escape")

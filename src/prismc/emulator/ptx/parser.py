"""PTX text to a `Module` (PTX ISA 4, 5, 7 and 11). What it does not know it refuses by line."""

from __future__ import annotations

import re

from prismc.emulator.ptx.body import BodyParser
from prismc.emulator.ptx.cursor import Cursor
from prismc.emulator.ptx.lexer import tokens_of
from prismc.emulator.ptx.tree import Function, Module, PtxError, Variable
from prismc.emulator.ptx.variables import SPACES, parse_parameter, parse_variables

_LINKAGES = frozenset({".visible", ".extern", ".weak", ".common"})
_NUMBERED_LIMITS = frozenset(
    {".maxntid", ".reqntid", ".maxnreg", ".minnctapersm", ".maxnctapersm", ".reqnctapercluster",
     ".maxclusterrank", ".abi_preserve", ".abi_preserve_control"}
)  # fmt: skip
_PLAIN_LIMITS = frozenset({".explicitcluster", ".noreturn", ".blocksareclusters", ".unique"})
_OCTAL = re.compile(rb"\\([0-7]{3})")


def parse_module(text: str, name: str = "<ptx>") -> Module:
    """The module that a PTX text describes; `name` is what errors call it.

    Raises PtxError with the line of the first thing that is malformed or unknown.
    """
    return _ModuleParser(Cursor(tokens_of(text, name), name)).parse()


class _ModuleParser:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.version = (0, 0)
        self.target = ""
        self.variables: list[Variable] = []
        self.functions: dict[str, Function] = {}
        self.files: dict[int, str] = {}

    def parse(self) -> Module:
        cursor = self.cursor
        if cursor.text != ".version":
            cursor.fail("not PTX: the text does not start with `.version`")
        while cursor.token.kind != "end":
            self._statement()
        return Module(
            version=self.version,
            target=self.target,
            variables=tuple(self.variables),
            functions=self.functions,
            files=self.files,
            name=cursor.name,
        )

    def _statement(self) -> None:
        cursor = self.cursor
        linkage = self._linkage()
        word = cursor.word("a directive")
        if word in (".entry", ".func"):
            self._function(word == ".entry")
        elif word in SPACES:
            self.variables += parse_variables(cursor, SPACES[word], is_extern=".extern" in linkage)
        elif word == ".version":
            self._version()
        elif word == ".target":
            self._target()
        elif word == ".file":
            self._file()
        elif word == ".section":
            self._section()
        elif word == ".address_size":
            self._address_size()
        elif word == ".pragma":
            self._skip_to(";")
        else:
            cursor.at -= 1
            cursor.fail(f"unknown directive `{word}`")

    def _linkage(self) -> set[str]:
        found = set()
        while self.cursor.text in _LINKAGES:
            found.add(self.cursor.take())
        return found

    def _version(self) -> None:
        cursor = self.cursor
        major, dot, minor = cursor.text.partition(".")
        if not (dot and major.isdigit() and minor.isdigit()):
            cursor.fail("malformed `.version`")
        self.version = (int(major), int(minor))
        if not (7, 0) <= self.version < (10, 0):
            cursor.fail(f"PTX {major}.{minor} is not supported (7.0 to 9.x are)")
        cursor.take()

    def _target(self) -> None:
        self.target = self.cursor.word("a target")
        while self.cursor.accept(","):
            self.cursor.take()

    def _address_size(self) -> None:
        if self.cursor.text != "64":
            self.cursor.fail("only `.address_size 64` is supported")
        self.cursor.take()

    def _file(self) -> None:
        index = self.cursor.integer()
        self.files[index] = _text(self.cursor.take())
        while self.cursor.accept(","):
            self.cursor.integer()

    def _section(self) -> None:
        """Debug sections describe the source; they change nothing that runs."""
        self.cursor.take()
        self.cursor.expect("{")
        self._skip_to("}")

    def _skip_to(self, end: str) -> None:
        while not self.cursor.accept(end):
            self.cursor.take()

    def _function(self, is_kernel: bool) -> None:
        cursor = self.cursor
        line = cursor.line
        limits = self._limits({})
        results = () if is_kernel or cursor.text != "(" else self._parameters()
        name = cursor.word("a function's name")
        parameters = self._parameters() if cursor.text == "(" else ()
        limits = self._limits(limits)
        known = self.functions.get(name)
        body = BodyParser(cursor)
        if not cursor.accept(";"):
            if known is not None and known.body is not None:
                raise PtxError(f"`{name}` is defined twice", line, cursor.name)
            body.parse()
        elif known is not None:
            return
        self.functions[name] = Function(
            name=name,
            is_kernel=is_kernel,
            parameters=parameters,
            results=results,
            registers=tuple(body.names.register_types),
            register_names=tuple(body.names.register_names),
            variables=tuple(body.names.variables),
            body=body.instructions(),
            labels=body.names.label_targets(),
            tables=tuple(body.tables),
            limits=limits,
            line=line,
        )

    def _parameters(self) -> tuple[Variable, ...]:
        cursor = self.cursor
        cursor.expect("(")
        found: list[Variable] = []
        while not cursor.accept(")"):
            space = cursor.word("`.param`")
            if space not in (".param", ".reg"):
                cursor.at -= 1
                cursor.fail(f"expected `.param`, found `{space}`")
            found.append(parse_parameter(cursor, space[1:]))
            if not cursor.accept(","):
                cursor.expect(")")
                break
        return tuple(found)

    def _limits(self, limits: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        cursor = self.cursor
        while cursor.text.startswith("."):
            word = cursor.take()
            if word in _NUMBERED_LIMITS:
                limits[word[1:]] = self._numbers()
            elif word in _PLAIN_LIMITS:
                limits[word[1:]] = ()
            elif word == ".pragma":
                self._skip_to(";")
            else:
                cursor.at -= 1
                cursor.fail(f"unknown directive `{word}` of a function")
        return limits

    def _numbers(self) -> tuple[int, ...]:
        """One or several numbers; nvcc separates those of `.maxntid` by commas."""
        found: list[int] = []
        while self.cursor.token.kind == "number":
            found.append(self.cursor.literal().value)
            if not self.cursor.accept(","):
                break
        return tuple(found)


def _text(quoted: str) -> str:
    """What a string holds; compilers write what is not ASCII as octal escapes of its bytes."""
    octets = _OCTAL.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), quoted[1:-1].encode())
    return octets.decode(errors="replace")

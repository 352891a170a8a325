"""Bad snippets and how they are explained.

`HELP` is the table: each row has an explanation and the snippets that it is for. The rows are asked
in order, the first that knows the situation explains it; what none knows becomes "unexpected ..,
expected ..". Every snippet is a test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from prismc.diagnostics.problem import Fix, Problem, Related
from prismc.frontend.errors import (
    ArmsExpected,
    AssignmentInCondition,
    BlockAfterColon,
    ChainedComparison,
    DanglingAttribute,
    ForeignSpelling,
    LevelWithoutSize,
    MissingBody,
    MissingColon,
    NarrowWithoutName,
    NarrowWithoutPerspective,
    NestedDeclaration,
    NotADeclaration,
    ReservedWord,
    SplitWithSize,
    StrayArm,
    UnexpectedIndent,
    UnexpectedToken,
)
from prismc.frontend.expected import expected_words, found_words
from prismc.frontend.tables import DEDENT, INDENT, NEWLINE, Token
from prismc.hardware.scalars import ALIASES, SCALARS
from prismc.source.files import SourceFile
from prismc.source.span import Span

_LEVELS = ("thread", "warp", "warpgroup", "block", "grid")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_NARROWING = ("partition", "claim", "async")
_DECLARATIONS = ("import", "from", "def", "kernel", "export", "unsafe", "test", "@")
_BLOCK_WORDS = (
    "if", "while", "for", "unroll", "static", "group", "split", "first", "partition", "claim",
    "async", "pipeline", "finish", "unsafe",
)  # fmt: skip
_HEADERS = (*_BLOCK_WORDS, "elif", "else", "case", "produce", "consume", "def", "kernel", "test")
_FUNCTIONS = ("def", "unsafe", "kernel")
_CONDITIONAL = ("if", "elif", "while", "assert", "static", "return")
_OPERAND_ENDS = ("NAME", "INTEGER", "FLOAT", "STRING", "true", "false", ")", "]")
_ENDINGS = ("pass", "break", "continue", "return")
# Words whose misplacement is better told as such than as "a reserved word".
_CONNECTING = (
    "if", "elif", "else", "for", "while", "in", "as", "and", "or", "not", "import", "from", "def",
    "kernel", "return", "break", "continue", "pass",
)  # fmt: skip
_FOREIGN_TYPES = ("char", "short", "long", "unsigned", "size_t", "half", "void")
_TYPE_WORDS = ("ptr", "vec", "fn", "tensor_map")
_ASSIGNMENTS = ("=", ":=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ":")
# Which statement a part belongs to, and how it begins.
_OWNERS = {
    "case": ("a `split`", "`split`"),
    "elif": ("an `if`, after its block", "`if`"),
    "else": ("an `if`, after its block", "`if`"),
    "produce": ("a `pipeline`", "`pipeline`"),
    "consume": ("a `pipeline`, after `produce`", "`pipeline`"),
}


class Situation:
    """Where the parser is stuck: the token, those around it, and what would have been accepted."""

    def __init__(
        self,
        tokens: Sequence[Token],
        index: int,
        accepted: Sequence[str],
        terminals: Sequence[str],
        file: SourceFile,
    ) -> None:
        self.index = index
        self.accepted = accepted
        self.token = terminals[tokens[index][0]]
        self._tokens = tokens
        self._terminals = terminals
        self._file = file

    def word(self, offset: int) -> str:
        """The token `offset` places from the wrong one, as the grammar writes it; "" for none."""
        place = self.index + offset
        return self._terminals[self._tokens[place][0]] if 0 <= place < len(self._tokens) else ""

    def text(self, offset: int = 0) -> str:
        """The characters of a token."""
        _, start, end = self._tokens[self.index + offset]
        return self._file.text[start:end]

    def span(self, first: int = 0, last: int = 0) -> Span:
        """From one token to another, both included, counted from the wrong one."""
        start, end = self._tokens[self.index + first][1], self._tokens[self.index + last][2]
        return Span(self._file.name, start, end)

    def touches(self, offset: int) -> bool:
        """Whether no space is between a token and the next."""
        place = self.index + offset
        return self._tokens[place][2] == self._tokens[place + 1][1]

    def line_start(self) -> int:
        """The offset of the first token of the logical line (0 or negative)."""
        place = self.index
        while place > 0 and self._tokens[place - 1][0] not in (NEWLINE, INDENT, DEDENT):
            place -= 1
        return place - self.index

    def line_word(self) -> str:
        """The first word of the logical line."""
        return self.word(self.line_start())

    def is_in_brackets(self) -> bool:
        line = [self.word(offset) for offset in range(self.line_start(), 0)]
        opened = line.count("(") + line.count("[")
        return opened > line.count(")") + line.count("]")

    def indentation(self) -> Span:
        """The space before the first token after the wrong one, which is an INDENT."""
        start = self._tokens[self.index + 1][1]
        line = self._file.text.rfind("\n", 0, start) + 1
        return Span(self._file.name, line, start)


Explanation = Callable[[Situation], Problem | None]


class Advice(NamedTuple):
    """One row: what explains, and for which snippets: small programs, each wrong in one place."""

    explain: Explanation
    snippets: tuple[str, ...]


def explain_error(at: Situation) -> Problem:
    """The first explanation that fits."""
    for advice in HELP:
        problem = advice.explain(at)
        if problem is not None:
            return problem
    return UnexpectedToken(
        at=at.span(),
        found=found_words(at.token, at.text()),
        expected=expected_words(at.accepted),
    )


# --------------------------------------------------------------------------- layout


def _unexpected_indent(at: Situation) -> Problem | None:
    if at.token != "INDENT":
        return None
    return UnexpectedIndent(at=at.indentation())


def _missing_body(at: Situation) -> Problem | None:
    if "INDENT" not in at.accepted:
        return None
    return MissingBody(at=at.span(-2, -2))


def _missing_colon(at: Situation) -> Problem | None:
    if ":" not in at.accepted or at.line_word() not in _HEADERS:
        return None
    if at.token != "NEWLINE" and at.token not in _ENDINGS:
        return None
    end = at.span(-1, -1).end
    place = Span(at.span().file, end, end)
    return MissingColon(at=place, fixes=(Fix(at=place, text=":", title="insert `:`"),))


def _block_after_colon(at: Situation) -> Problem | None:
    if at.word(-1) != ":" or "NEWLINE" not in at.accepted or at.token not in _BLOCK_WORDS:
        return None
    return BlockAfterColon(at=at.span(), word=at.token)


# --------------------------------------------------------------------------- other languages


def _foreign(at: Situation, first: int, last: int, instead: str, fix: str | None = None) -> Problem:
    span = at.span(first, last)
    written = " ".join(at.text(offset) for offset in range(first, last + 1))
    if at.touches(first) and last == first + 1:
        written = written.replace(" ", "")
    fixes = () if fix is None else (Fix(at=span, text=fix, title=f"write `{fix.strip()}`"),)
    return ForeignSpelling(at=span, written=written, instead=instead, fixes=fixes)


def _else_if(at: Situation) -> Problem | None:
    if at.token != "if" or at.word(-1) != "else":
        return None
    return _foreign(at, -1, 0, "write `elif`", "elif")


def _double_sign(at: Situation) -> Problem | None:
    """`&&` `||` `**`: the second sign is where an operand is expected."""
    instead = {
        "&": ("write `and`", "and"),
        "|": ("write `or`", "or"),
        "*": ("multiply, or call `pow` of `std.math`", None),
    }
    if at.token not in instead or at.word(-1) != at.token or not at.touches(-1):
        return None
    return _foreign(at, -1, 0, *instead[at.token])


def _comment(at: Situation) -> Problem | None:
    """`//` and `/*`: the first or the second sign is the wrong one."""
    for first in (-1, 0):
        pair = at.word(first), at.word(first + 1)
        if pair in (("/", "/"), ("/", "*")) and at.touches(first):
            instead = "a comment starts with `#`; `/` of integers truncates"
            return _foreign(at, first, first + 1, instead)
    return None


def _increment(at: Situation) -> Problem | None:
    signs = at.word(-2), at.word(-1)
    if signs not in (("+", "+"), ("-", "-")) or not at.touches(-2) or at.token != "NEWLINE":
        return None
    return _foreign(at, -2, -1, f"write `{signs[0]}= 1`", f" {signs[0]}= 1")


def _arrow(at: Situation) -> Problem | None:
    if at.token != "->" or "." not in at.accepted:
        return None
    return _foreign(at, 0, 0, "write `p[0]` for what `p` points to, `v.x` for a component")


def _for_in_brackets(at: Situation) -> Problem | None:
    if at.token != "(" or at.word(-1) != "for":
        return None
    return _foreign(at, -1, 0, "write `for i in range(start, stop, step):`")


def _type_first(at: Situation) -> Problem | None:
    """`int x`, in a statement, among parameters, after `const` or `shared`."""
    if at.token != "NAME" or at.word(-1) != "NAME":
        return None
    is_statement = at.line_start() == -1 and "=" in at.accepted
    is_declared = ":" in at.accepted and at.word(-2) in ("(", "[", ",", "const", "shared")
    if not is_statement and not is_declared:
        return None
    first, name = at.text(-1), at.text()
    if first in ("let", "var", "auto"):
        return _foreign(at, -1, 0, f"write `{name} := ..` or `{name}: int = ..`")
    if is_declared or (first in SCALARS or first in ALIASES or first in _FOREIGN_TYPES):
        return _foreign(at, -1, 0, f"put the type after the name: `{name}: {first}`")
    return None


def _chained_assignment(at: Situation) -> Problem | None:
    line = [at.word(offset) for offset in range(at.line_start(), 0)]
    if at.token != "=" or at.is_in_brackets() or at.word(-1) not in _OPERAND_ENDS:
        return None
    if "=" not in line and ":=" not in line:
        return None
    return ForeignSpelling(at=at.span(), written="a = b = c", instead="assign on two lines")


# --------------------------------------------------------------------------- conditions


def _assignment_in_condition(at: Situation) -> Problem | None:
    word = at.line_word()
    is_condition = word in _CONDITIONAL or (at.is_in_brackets() and word not in _FUNCTIONS)
    if at.token != "=" or at.word(-1) not in _OPERAND_ENDS or not is_condition:
        return None
    fix = Fix(at=at.span(), text="==", title="write `==`")
    return AssignmentInCondition(at=at.span(), fixes=(fix,))


def _chained_comparison(at: Situation) -> Problem | None:
    if at.token not in _COMPARISONS or "and" not in at.accepted:
        return None
    offset = -1
    while at.word(offset) not in _COMPARISONS:
        offset -= 1
    first = Related(at=at.span(offset, offset), message="the first comparison")
    return ChainedComparison(at=at.span(), related=(first,))


# --------------------------------------------------------------------------- perspectives


def _narrow_without_name(at: Situation) -> Problem | None:
    word = at.line_word()
    if word not in _NARROWING or "as" not in at.accepted or at.token == "NAME":
        return None
    pointer = at.text(-1) if at.word(-1) == "NAME" else "x"
    rest = "" if word == "async" else " @ thread[1]"
    advice = f"write `{word} {pointer} as {pointer}_part{rest}:`"
    return NarrowWithoutName(at=at.span(), word=word, advice=advice)


def _narrow_without_perspective(at: Situation) -> Problem | None:
    if at.accepted != ["@"] or at.line_word() not in _NARROWING:
        return None
    return NarrowWithoutPerspective(at=at.span(), name=at.text(-1))


def _split_with_size(at: Situation) -> Problem | None:
    if at.token != "[" or at.word(-2) != "split":
        return None
    return SplitWithSize(at=at.span(), level=at.word(-1))


def _level_without_size(at: Situation) -> Problem | None:
    level = at.word(-1)
    if level not in _LEVELS or at.accepted != ["["]:
        return None
    if at.token in _ASSIGNMENTS and at.line_start() == -1:
        return ReservedWord(at=at.span(-1, -1), word=level)
    return LevelWithoutSize(at=at.span(-1, -1), level=level)


# --------------------------------------------------------------------------- parts and places


def _arms_expected(at: Situation) -> Problem | None:
    match [word for word in at.accepted if word != "DEDENT"]:
        case ["case"]:
            owner, parts, expected = "split", "its `case` arms", "`case`"
        case ["produce"]:
            owner, parts, expected = "pipeline", "`produce:` and then `consume:`", "`produce:`"
        case ["consume"]:
            owner, parts, expected = "pipeline", "`produce:` and then `consume:`", "`consume:`"
        case [] if at.accepted == ["DEDENT"]:
            owner, parts, expected = (
                "pipeline",
                "`produce:` and then `consume:`",
                "the end of the `pipeline`",
            )
        case _:
            return None
    return ArmsExpected(at=at.span(), owner=owner, parts=parts, expected=expected)


def _stray_arm(at: Situation) -> Problem | None:
    if at.token not in _OWNERS or at.line_start() != 0:
        return None
    owner, owner_word = _OWNERS[at.token]
    return StrayArm(at=at.span(), word=at.token, owner=owner, owner_word=owner_word)


def _dangling_attribute(at: Situation) -> Problem | None:
    if "def" not in at.accepted or "import" in at.accepted or at.word(-1) == "unsafe":
        return None
    return DanglingAttribute(at=at.span())


def _nested_declaration(at: Situation) -> Problem | None:
    if at.token not in _DECLARATIONS or "pass" not in at.accepted:
        return None
    if (at.token == "test" and at.word(1) != "STRING") or at.word(1) in _ASSIGNMENTS:
        return None
    return NestedDeclaration(at=at.span(), word=at.token)


def _nested_unsafe(at: Situation) -> Problem | None:
    if at.token != "def" or at.word(-1) != "unsafe" or ":" not in at.accepted:
        return None
    return NestedDeclaration(at=at.span(-1, 0), word="unsafe def")


def _not_a_declaration(at: Situation) -> Problem | None:
    if "import" not in at.accepted or at.token in ("$END", "DEDENT", "NEWLINE"):
        return None
    return NotADeclaration(at=at.span(), found=found_words(at.token, at.text()))


# --------------------------------------------------------------------------- reserved words


def _reserved_word(at: Situation) -> Problem | None:
    """A reserved word where a name is expected, or one that begins a statement used as a name."""
    word = at.token
    if not word.islower() or "NAME" not in at.accepted:  # kinds that are no words are in capitals
        return None
    if word in ("in", "as", "import") or (word in _CONNECTING and at.accepted != ["NAME"]):
        return None
    return ReservedWord(at=at.span(), word=word)


def _statement_word_as_name(at: Situation) -> Problem | None:
    word = at.word(-1)
    is_type = word in _TYPE_WORDS and at.accepted == ["("]
    is_statement = at.line_start() == -1 and word in _BLOCK_WORDS and word not in _CONNECTING
    is_assigned = at.token in _ASSIGNMENTS and at.word(1) != "NEWLINE"
    if is_assigned and (is_statement or is_type):
        return ReservedWord(at=at.span(-1, -1), word=word)
    return None


def _untyped(at: Situation) -> Problem | None:
    if at.accepted != [":"] or at.word(-1) != "NAME" or at.line_word() in _BLOCK_WORDS:
        return None
    return UnexpectedToken(
        at=at.span(),
        found=found_words(at.token, at.text()),
        expected="`:` and the type of `" + at.text(-1) + "`",
    )


# --------------------------------------------------------------------------- the table


def _inside(*lines: str) -> str:
    """The lines as the body of a function."""
    return "def f(a: int):\n" + "".join(f"    {line}\n" for line in lines)


HELP: tuple[Advice, ...] = (
    Advice(
        _unexpected_indent,
        (_inside("b := a", "    c := a"), "    const N: int = 1\n"),
    ),
    Advice(
        _missing_body,
        ("def f(a: int):\n", "def f(a: int):\nreturn a\n", _inside("if a > 0:", "b := a")),
    ),
    Advice(
        _else_if,
        (_inside("if a > 0:", "    pass", "else if a < 0:", "    pass"),),
    ),
    Advice(
        _missing_colon,
        (
            "def f(a: int)\n    pass\n",
            "kernel k(a: int)\n    pass\n",
            'test "t"\n    pass\n',
            _inside("if a > 0", "    pass"),
            _inside("if a > 0 pass"),
            _inside("if a > 0:", "    pass", "else", "    pass"),
            _inside("while a > 0", "    pass"),
            _inside("for i in range(a)", "    pass"),
            _inside("group thread[1]", "    pass"),
            _inside("split warp", "    case 1: pass"),
            _inside("split warp:", "    case 1", "        pass"),
            _inside("partition x as y @ thread[1] at a", "    pass"),
            _inside("unsafe", "    pass"),
        ),
    ),
    Advice(
        _block_after_colon,
        (_inside("if a > 0: while a > 0: pass"), _inside("group thread[1]: group thread[1]: pass")),
    ),
    Advice(
        _double_sign,
        (
            _inside("if a > 0 && a < 3:", "    pass"),
            _inside("if a > 0 || a < 3:", "    pass"),
            _inside("b := a ** 2"),
        ),
    ),
    Advice(
        _comment,
        (
            _inside("b := a // twice"),
            _inside("// twice", "pass"),
            _inside("/* twice */", "pass"),
            "// twice\ndef f():\n    pass\n",
        ),
    ),
    Advice(_increment, (_inside("a++"), _inside("a--"))),
    Advice(_arrow, (_inside("b := p->x"),)),
    Advice(_for_in_brackets, (_inside("for (i in range(3)):", "    pass"),)),
    Advice(
        _type_first,
        (
            _inside("int b = a"),
            _inside("let b = a"),
            _inside("float b"),
            _inside("const int N = 1"),
            _inside("shared f32 s"),
            "def f(int a):\n    pass\n",
            "def f[int N](a: int):\n    pass\n",
        ),
    ),
    Advice(_chained_assignment, (_inside("b = c = a"), _inside("b: int = c = a"))),
    Advice(
        _assignment_in_condition,
        (
            _inside("if a = 0:", "    pass"),
            _inside("while a = 0:", "    pass"),
            _inside("b := (a = 0)"),
            _inside("assert a = 0"),
            _inside("static if a = 0:", "    pass"),
        ),
    ),
    Advice(_chained_comparison, (_inside("b := 0 < a < 3"), _inside("b := a == 1 == 2"))),
    Advice(
        _narrow_without_name,
        (
            _inside("partition x @ thread[1]:", "    pass"),
            _inside("partition x:", "    pass"),
            _inside("partition x at a:", "    pass"),
            _inside("claim x @ thread[1]:", "    pass"),
            _inside("async x:", "    pass"),
            _inside("partition x as y @ thread[1], z @ thread[1]:", "    pass"),
        ),
    ),
    Advice(
        _narrow_without_perspective,
        (
            _inside("partition x as y:", "    pass"),
            _inside("claim x as y at a:", "    pass"),
            _inside("claim x as async y:", "    pass"),
        ),
    ),
    Advice(_split_with_size, (_inside("split thread[32]:", "    case 1: pass"),)),
    Advice(
        _level_without_size,
        (
            _inside("b: int @ thread = a"),
            _inside("group thread:", "    pass"),
            _inside("first warp:", "    pass"),
            _inside("b := count(block)"),
            "def f(a: int @ thread):\n    pass\n",
        ),
    ),
    Advice(
        _arms_expected,
        (
            _inside("split warp:", "    pass"),
            _inside("split warp:", "    case 1: pass", "    b := a"),
            _inside("pipeline k in range(a) through s as t:", "    pass"),
            _inside("pipeline k in range(a) through s as t:", "    produce: pass", "    pass"),
            _inside(
                "pipeline k in range(a) through s as t:",
                "    produce: pass",
                "    consume: pass",
                "    pass",
            ),
        ),
    ),
    Advice(
        _stray_arm,
        (
            _inside("case 1:", "    pass"),
            _inside("b := a", "case 1:", "    pass"),
            _inside("else:", "    pass"),
            _inside("while a > 0:", "    pass", "else:", "    pass"),
            _inside("elif a > 0:", "    pass"),
            _inside("consume:", "    pass"),
            "else:\n    pass\n",
        ),
    ),
    Advice(
        _dangling_attribute,
        (
            "@requires(thread[1])\n",
            "@requires(thread[1])\nconst N: int = 1\n",
            "@requires(thread[1])\nx = 1\n",
        ),
    ),
    Advice(_nested_unsafe, (_inside("unsafe def g():", "    pass"),)),
    Advice(
        _nested_declaration,
        (
            _inside("def g():", "    pass"),
            _inside("import m"),
            _inside("@requires(thread[1])", "def g():", "    pass"),
            _inside('test "t":', "    pass"),
        ),
    ),
    Advice(
        _not_a_declaration,
        ("x = 1\n", "pass\n", "if true:\n    pass\n", "const N: int = 1\nx = 1\n", "42\n"),
    ),
    Advice(
        _reserved_word,
        (
            "def first():\n    pass\n",
            "const at: int = 1\n",
            "def f(align: int):\n    pass\n",
            _inside("b := layout + 1"),
            _inside("layout = 1"),
            _inside("for at in range(3):", "    pass"),
            _inside("export = 1"),
            "import test\n",
        ),
    ),
    Advice(
        _statement_word_as_name,
        (
            _inside("group = 1"),
            _inside("first: int = 1"),
            _inside("split += 1"),
            _inside("vec: int = 1"),
        ),
    ),
    Advice(
        _untyped,
        ("def f(a):\n    pass\n", "def f(a, b: int):\n    pass\n", _inside("shared s")),
    ),
)

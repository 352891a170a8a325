"""What each kind of syntax error looks like to the parser, and the problem that explains it.

Each function knows one mistake: it returns its problem, or None when the situation is another.
Offsets of tokens are counted from the one at which the parser is stuck.
"""

from __future__ import annotations

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
from prismc.frontend.expected import found_words
from prismc.frontend.situation import Situation
from prismc.hardware.scalars import ALIASES, SCALARS
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
_FOREIGN_TYPES = {
    "char": "i8", "short": "i16", "long": "i64", "unsigned": "u32", "size_t": "u64", "half": "f16",
    "void": "void",
}  # fmt: skip
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


# --------------------------------------------------------------------------- layout


def unexpected_indent(at: Situation) -> Problem | None:
    if at.token != "INDENT":
        return None
    return UnexpectedIndent(at=at.indentation(), related=_line_above(at, "the line above"))


def _line_above(at: Situation, message: str) -> tuple[Related, ...]:
    line = at.line_above()
    return () if line is None else (Related(at=line, message=message),)


def missing_body(at: Situation) -> Problem | None:
    if "INDENT" not in at.accepted:
        return None
    return MissingBody(at=at.span(-2, -2))


def missing_colon(at: Situation) -> Problem | None:
    if ":" not in at.accepted or at.line_word() not in _HEADERS:
        return None
    if at.token != "NEWLINE" and at.token not in _ENDINGS:
        return None
    end = at.span(-1, -1).end
    place = Span(at.span().file, end, end)
    return MissingColon(at=place, fixes=(Fix(at=place, text=":", title="insert `:`"),))


def block_after_colon(at: Situation) -> Problem | None:
    if at.word(-1) != ":" or "NEWLINE" not in at.accepted or at.token not in _BLOCK_WORDS:
        return None
    return BlockAfterColon(at=at.span(), word=at.token)


# --------------------------------------------------------------------------- other languages


def foreign(at: Situation, first: int, last: int, instead: str, fix: str | None = None) -> Problem:
    """The tokens from `first` to `last` as another language's spelling."""
    span = at.span(first, last)
    gaps = ("" if at.touches(offset) else " " for offset in range(first, last))
    written = at.text(first) + "".join(
        gap + at.text(offset) for offset, gap in enumerate(gaps, first + 1)
    )
    fixes = () if fix is None else (Fix(at=span, text=fix, title=f"write `{fix.strip()}`"),)
    return ForeignSpelling(at=span, written=written, instead=instead, fixes=fixes)


def else_if(at: Situation) -> Problem | None:
    if at.token != "if" or at.word(-1) != "else":
        return None
    return foreign(at, -1, 0, "write `elif`", "elif")


def double_sign(at: Situation) -> Problem | None:
    """`&&` `||` `**`: the second sign is where an operand is expected."""
    instead = {
        "&": ("write `and`", "and"),
        "|": ("write `or`", "or"),
        "*": ("multiply, or call `pow` of `std.math`", None),
    }
    if at.token not in instead or at.word(-1) != at.token or not at.touches(-1):
        return None
    return foreign(at, -1, 0, *instead[at.token])


def comment(at: Situation) -> Problem | None:
    """`//` and `/*`: the first or the second sign is the wrong one."""
    for first in (-1, 0):
        pair = at.word(first), at.word(first + 1)
        if pair in (("/", "/"), ("/", "*")) and at.touches(first):
            instead = "a comment starts with `#`; `/` of integers truncates"
            begins_line = at.line_start() == first and pair == ("/", "/")
            return foreign(at, first, first + 1, instead, "#" if begins_line else None)
    return None


def increment(at: Situation) -> Problem | None:
    signs = at.word(-2), at.word(-1)
    if signs not in (("+", "+"), ("-", "-")) or not at.touches(-2) or at.token != "NEWLINE":
        return None
    return foreign(at, -2, -1, f"write `{signs[0]}= 1`", f" {signs[0]}= 1")


def arrow(at: Situation) -> Problem | None:
    if at.token != "->" or "." not in at.accepted:
        return None
    return foreign(at, 0, 0, "write `p[0]` for what `p` points to, `v.x` for a component")


def for_in_brackets(at: Situation) -> Problem | None:
    if at.token != "(" or at.word(-1) != "for":
        return None
    return foreign(at, -1, 0, "write `for i in range(start, stop, step):`")


def type_first(at: Situation) -> Problem | None:
    """`int x`, in a statement, among parameters, after `const` or `shared`."""
    if at.token != "NAME" or at.word(-1) != "NAME":
        return None
    is_statement = at.line_start() == -1 and "=" in at.accepted
    is_declared = ":" in at.accepted and at.word(-2) in ("(", "[", ",", "const", "shared")
    if not is_statement and not is_declared:
        return None
    first, name = at.text(-1), at.text()
    if first in ("let", "var", "auto"):
        return _untyped_first(at, first, name)
    is_type = first in SCALARS or first in ALIASES
    if is_declared or is_type or first in _FOREIGN_TYPES:
        fix = f"{name}: {first}" if is_type else None
        written = _FOREIGN_TYPES.get(first, first)
        last = 1 if name in ALIASES and at.word(1) == "NAME" else 0  # `unsigned int x`
        return foreign(
            at, -1, last, f"put the type after the name: `{at.text(last)}: {written}`", fix
        )
    return None


def cast(at: Situation) -> Problem | None:
    """`(float)x`: a type in brackets, then another operand."""
    if (at.word(-3), at.word(-2), at.word(-1)) != ("(", "NAME", ")"):
        return None
    name = at.text(-2)
    if at.token not in ("NAME", "INTEGER", "FLOAT") or name not in {*SCALARS, *ALIASES}:
        return None
    return foreign(at, -3, -1, f"convert it: `{name}(..)`")


def _untyped_first(at: Situation, first: str, name: str) -> Problem:
    """`let x = ..`: certain where a value follows."""
    fixes: tuple[Fix, ...] = ()
    if at.word(1) == "=":
        fixes = (Fix(at=at.span(-1, 1), text=f"{name} :=", title=f"write `{name} := ..`"),)
    instead = f"write `{name} := ..` or `{name}: int = ..`"
    written = f"{first} {name}"
    return ForeignSpelling(at=at.span(-1, 0), written=written, instead=instead, fixes=fixes)


def chained_assignment(at: Situation) -> Problem | None:
    line = [at.word(offset) for offset in range(at.line_start(), 0)]
    if at.token != "=" or at.is_in_brackets() or at.word(-1) not in _OPERAND_ENDS:
        return None
    if "=" not in line and ":=" not in line:
        return None
    return ForeignSpelling(at=at.span(), written="a = b = c", instead="assign on two lines")


def results_assigned(at: Situation) -> Problem | None:
    """`a, b = f(..)`: several results are taken by `:=`."""
    if at.token != "NEWLINE" or "," not in at.accepted or at.is_in_brackets():
        return None
    equals = at.previous(("=",))
    if equals is None or at.previous((",",)) is None or at.word(-1) != ")":
        return None
    instead = "take new names, `a, b := f(..)`, or give one value for each target"
    return ForeignSpelling(at=at.span(equals, equals), written="a, b = f(..)", instead=instead)


# --------------------------------------------------------------------------- conditions


def assignment_in_condition(at: Situation) -> Problem | None:
    word = at.line_word()
    is_condition = word in _CONDITIONAL or (at.is_in_brackets() and word not in _FUNCTIONS)
    if at.token != "=" or at.word(-1) not in _OPERAND_ENDS or not is_condition:
        return None
    fix = Fix(at=at.span(), text="==", title="write `==`")
    return AssignmentInCondition(at=at.span(), fixes=(fix,))


def chained_comparison(at: Situation) -> Problem | None:
    if at.token not in _COMPARISONS or "and" not in at.accepted:
        return None
    offset = at.previous(_COMPARISONS)
    if offset is None:
        return None
    first = Related(at=at.span(offset, offset), message="the first comparison")
    return ChainedComparison(at=at.span(), related=(first,), fixes=_joined(at, offset))


def _joined(at: Situation, first: int) -> tuple[Fix, ...]:
    """`a < b < c` as `a < b and b < c`, where `b` is one word; certain where both point one way,
    since nobody compares the answer of `a < b` with `<`."""
    if first != -2:
        return ()
    middle, place = at.text(-1), Span(at.span().file, at.span().start, at.span().start)
    is_certain = at.word(first)[0] == at.token[0] and at.token[0] in "<>"
    title = f"compare `{middle}` twice"
    return (Fix(at=place, text=f"and {middle} ", title=title, is_certain=is_certain),)


# --------------------------------------------------------------------------- perspectives


def narrow_without_name(at: Situation) -> Problem | None:
    word = at.line_word()
    if word not in _NARROWING or "as" not in at.accepted or at.token == "NAME":
        return None
    pointer = at.text(-1) if at.word(-1) == "NAME" else "x"
    rest = "" if word == "async" else " @ thread[1]"
    advice = f"write `{word} {pointer} as {pointer}_part{rest}:`"
    return NarrowWithoutName(at=at.span(), word=word, advice=advice)


def narrow_without_perspective(at: Situation) -> Problem | None:
    if at.accepted != ["@"] or at.line_word() not in _NARROWING:
        return None
    return NarrowWithoutPerspective(at=at.span(), name=at.text(-1))


def split_with_size(at: Situation) -> Problem | None:
    if at.token != "[" or at.word(-2) != "split":
        return None
    fixes: tuple[Fix, ...] = ()
    if at.word(2) == "]":
        fixes = (Fix(at=at.span(0, 2), text="", title="remove the size"),)
    return SplitWithSize(at=at.span(), level=at.word(-1), fixes=fixes)


def level_without_size(at: Situation) -> Problem | None:
    level = at.word(-1)
    if level not in _LEVELS or at.accepted != ["["]:
        return None
    if at.token in _ASSIGNMENTS and at.line_start() == -1:
        return ReservedWord(at=at.span(-1, -1), word=level)
    if (level, at.token) == ("thread", "=") and at.text(at.line_start() + 1) == "launch":
        return foreign(at, -1, 0, "write `threads = ..`, how many a block has", "threads =")
    one = f"{level}[1]"
    fix = Fix(at=at.span(-1, -1), text=one, title=f"write `{one}`", is_certain=False)
    return LevelWithoutSize(at=at.span(-1, -1), level=level, fixes=(fix,))


# --------------------------------------------------------------------------- parts and places


def arms_expected(at: Situation) -> Problem | None:
    match [word for word in at.accepted if word != "DEDENT"]:
        case ["case"]:
            owner, parts, expected = "split", "its `case` arms", "`case`"
        case ["produce"]:
            owner, parts, expected = "pipeline", "`produce:` and then `consume:`", "`produce:`"
        case ["consume"]:
            owner, parts, expected = "pipeline", "`produce:` and then `consume:`", "`consume:`"
        case [] if at.accepted == ["DEDENT"]:
            owner, parts, expected = "pipeline", "`produce:` and then `consume:`", "its end"
        case _:
            return None
    header = at.header()
    related = () if header is None else (Related(at=header, message=f"the `{owner}` begins here"),)
    return ArmsExpected(at=at.span(), related=related, owner=owner, parts=parts, expected=expected)


def stray_arm(at: Situation) -> Problem | None:
    if at.token not in _OWNERS or at.line_start() != 0:
        return None
    owner, owner_word = _OWNERS[at.token]
    return StrayArm(at=at.span(), word=at.token, owner=owner, owner_word=owner_word)


def dangling_attribute(at: Situation) -> Problem | None:
    if "def" not in at.accepted or "import" in at.accepted or at.word(-1) == "unsafe":
        return None
    return DanglingAttribute(at=at.span(), related=_line_above(at, "the attribute"))


def nested_declaration(at: Situation) -> Problem | None:
    if at.token not in _DECLARATIONS or "pass" not in at.accepted:
        return None
    if (at.token == "test" and at.word(1) != "STRING") or at.word(1) in _ASSIGNMENTS:
        return None
    return NestedDeclaration(at=at.span(), related=_inside(at), word=at.token)


def nested_unsafe(at: Situation) -> Problem | None:
    if at.token != "def" or at.word(-1) != "unsafe" or ":" not in at.accepted:
        return None
    return NestedDeclaration(at=at.span(-1, 0), related=_inside(at), word="unsafe def")


def _inside(at: Situation) -> tuple[Related, ...]:
    header = at.header(outermost=True)
    return () if header is None else (Related(at=header, message="inside this one"),)


def not_a_declaration(at: Situation) -> Problem | None:
    if "import" not in at.accepted or at.token in ("$END", "DEDENT", "NEWLINE"):
        return None
    return NotADeclaration(at=at.span(), found=found_words(at.token, at.text()))


# --------------------------------------------------------------------------- reserved words


def reserved_word(at: Situation) -> Problem | None:
    """A reserved word where a name is expected, or one that begins a statement used as a name."""
    word = at.token
    if not word.islower() or "NAME" not in at.accepted:  # kinds that are no words are in capitals
        return None
    if word in ("in", "as", "import") or (word in _CONNECTING and at.accepted != ["NAME"]):
        return None
    return ReservedWord(at=at.span(), word=word)


def statement_word_as_name(at: Situation) -> Problem | None:
    word = at.word(-1)
    is_type = word in _TYPE_WORDS and at.accepted == ["("]
    is_statement = at.line_start() == -1 and word in _BLOCK_WORDS and word not in _CONNECTING
    is_assigned = at.token in _ASSIGNMENTS and at.word(1) != "NEWLINE"
    if is_assigned and (is_statement or is_type):
        return ReservedWord(at=at.span(-1, -1), word=word)
    return None


def untyped(at: Situation) -> Problem | None:
    if at.accepted != [":"] or at.word(-1) != "NAME" or at.line_word() in _BLOCK_WORDS:
        return None
    return UnexpectedToken(
        at=at.span(),
        found=found_words(at.token, at.text()),
        expected="`:` and the type of `" + at.text(-1) + "`",
    )

"""C++ expressions as text: precedence, and no more parentheses than a reader needs."""

from __future__ import annotations

from enum import IntEnum

from prismc.source.record import Record


class Level(IntEnum):
    """How tightly an operator binds; higher is tighter (ISO C++17 [expr])."""

    CONDITIONAL = 1
    OR = 2
    AND = 3
    BIT_OR = 4
    BIT_XOR = 5
    BIT_AND = 6
    EQUALITY = 7
    RELATION = 8
    SHIFT = 9
    SUM = 10
    PRODUCT = 11
    PREFIX = 12
    POSTFIX = 13
    PRIMARY = 14


_BINARY = {
    "||": Level.OR,
    "&&": Level.AND,
    "|": Level.BIT_OR,
    "^": Level.BIT_XOR,
    "&": Level.BIT_AND,
    "==": Level.EQUALITY,
    "!=": Level.EQUALITY,
    "<": Level.RELATION,
    "<=": Level.RELATION,
    ">": Level.RELATION,
    ">=": Level.RELATION,
    "<<": Level.SHIFT,
    ">>": Level.SHIFT,
    "+": Level.SUM,
    "-": Level.SUM,
    "*": Level.PRODUCT,
    "/": Level.PRODUCT,
    "%": Level.PRODUCT,
}

# Inside these, people do not remember the precedence: every operator below them gets parentheses.
_EXPLICIT = frozenset((Level.BIT_OR, Level.BIT_XOR, Level.BIT_AND, Level.SHIFT))


class Expression(Record):
    """Text that binds at `level`, and the names of the mutable variables it reads.

    `split` is (left operand's text, operator, right operand's text) of a binary operator at the
    top whose value was not converted afterwards: `x = x + 1` may then be written `x += 1`.

    `bare` is the expression without a conversion or a suffix that C++ supplies by itself where the
    type is imposed (declarations, assignments, subscripts, arguments); if it `widens`, also beside
    an operand of its type.
    """

    text: str
    level: Level
    reads: frozenset[str] = frozenset()
    split: tuple[str, str, str] | None = None
    bare: Expression | None = None
    widens: bool = False

    @property
    def imposed(self) -> Expression:
        """The expression where its type is imposed on it."""
        return self if self.bare is None else self.bare

    def at(self, level: Level) -> str:
        """The text, in parentheses where it binds less tightly than `level`."""
        return self.text if self.level >= level else f"({self.text})"


def name(text: str, *, mutable: bool = False) -> Expression:
    """A variable's name."""
    return Expression(
        text=text, level=Level.PRIMARY, reads=frozenset((text,)) if mutable else frozenset()
    )


def literal(text: str) -> Expression:
    """A literal; a negative one is a prefix expression."""
    return Expression(text=text, level=Level.PREFIX if text.startswith("-") else Level.PRIMARY)


def binary(left: Expression, operator: str, right: Expression) -> Expression:
    """`left operator right`; of two operands of one type, one conversion is enough."""
    level = _BINARY[operator]
    if level is not Level.SHIFT:
        if right.widens and right.bare is not None:
            right = right.bare
        elif left.widens and left.bare is not None:
            left = left.bare
    before, after = _operand(left, level, level), _operand(right, level, Level(level + 1))
    return Expression(
        text=f"{before} {operator} {after}",
        level=level,
        reads=left.reads | right.reads,
        split=(before, operator, right.text),
    )


def _operand(operand: Expression, operator: Level, least: Level) -> str:
    is_operator = operand.level < Level.PREFIX
    if is_operator and operator in _EXPLICIT and operand.level != operator:
        return f"({operand.text})"
    return operand.at(least)


def prefix(operator: str, operand: Expression) -> Expression:
    """`-x`, `!x`, `~x`, `&x`; `- -x` keeps its blank."""
    inside = operand.at(Level.PREFIX)
    blank = " " if inside.startswith(operator) and operator in "-&" else ""
    return Expression(text=f"{operator}{blank}{inside}", level=Level.PREFIX, reads=operand.reads)


def cast(type_text: str, operand: Expression) -> Expression:
    return Expression(
        text=f"({type_text}){operand.at(Level.PREFIX)}", level=Level.PREFIX, reads=operand.reads
    )


def supplied(expression: Expression, bare: Expression, *, widens: bool) -> Expression:
    """`expression`, which C++ makes of `bare` by itself where the type is imposed."""
    return Expression(
        text=expression.text,
        level=expression.level,
        reads=expression.reads,
        bare=bare,
        widens=widens,
    )


def conditional(condition: Expression, yes: Expression, no: Expression) -> Expression:
    """`c ? a : b`; a nested one stands bare only on the right."""
    text = f"{condition.at(Level.OR)} ? {yes.at(Level.OR)} : {no.text}"
    return Expression(
        text=text, level=Level.CONDITIONAL, reads=condition.reads | yes.reads | no.reads
    )


def call(function: str, *arguments: Expression) -> Expression:
    return Expression(
        text=f"{function}({', '.join(argument.text for argument in arguments)})",
        level=Level.POSTFIX,
        reads=all_reads(*arguments),
    )


def braces(type_text: str, *elements: Expression) -> Expression:
    """`f32x4{a, b, c, d}`."""
    return Expression(
        text=f"{type_text}{{{', '.join(element.text for element in elements)}}}",
        level=Level.POSTFIX,
        reads=all_reads(*elements),
    )


def index(base: Expression, *indices: Expression) -> Expression:
    subscripts = "".join(f"[{one.imposed.text}]" for one in indices)
    return Expression(
        text=base.at(Level.POSTFIX) + subscripts,
        level=Level.POSTFIX,
        reads=all_reads(base, *indices),
    )


def member(base: Expression, field: str) -> Expression:
    return Expression(
        text=f"{base.at(Level.POSTFIX)}.{field}", level=Level.POSTFIX, reads=base.reads
    )


def all_reads(*expressions: Expression) -> frozenset[str]:
    return frozenset().union(*(expression.reads for expression in expressions))

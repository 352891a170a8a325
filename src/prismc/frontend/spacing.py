"""Which words of a line have a space between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prismc.frontend.comments import Comment, read_gap
from prismc.frontend.tables import Token

# How tightly a binary operator binds; also the words of `a if c else b`.
_STRENGTHS = {
    operator: strength
    for strength, operators in enumerate(
        ("if else", "or", "and", "< <= > >= == !=", "|", "^", "&", "<< >>", "+ -", "* / %"), 1
    )
    for operator in operators.split()
}

_NUMBERS = ("INTEGER", "FLOAT")
_TYPES = ("ptr", "vec", "tensor_map", "fn")  # what a `(` follows as it follows a name
# After these words an operand is complete, so that `-` is binary and `(` a call.
_OPERAND_ENDS = ("NAME", *_NUMBERS, "STRING", ")", "]", "true", "false", *_TYPES)
_SIGNS = ("-", "+", "~")
_TIGHT_BEFORE = (",", ")", "]", ":", "[")
_TIGHT_AFTER = ("(", "[", ".")


class Word(NamedTuple):
    """A token as it is written: its text, and whether a space comes before it.

    `kind` is the terminal: the text of a reserved word or an operator, or a name in capitals.
    `strength` is that of a binary operator, a higher one binds tighter; 0 for all other words.
    `comments` follow the word within brackets.
    """

    text: str
    kind: str
    is_spaced: bool
    strength: int = 0
    comments: tuple[Comment, ...] = ()


def space_words(tokens: Sequence[Token], terminals: Sequence[str], text: str) -> list[Word]:
    """The words of one line of the program, which may go over several lines of the text."""
    words: list[Word] = []
    was_operand = was_sign = False  # whether the word before ends an operand, is a unary sign
    previous = ""
    for place, (number, start, end) in enumerate(tokens):
        kind = terminals[number]
        is_member = previous == "."
        is_sign = kind in _SIGNS and not was_operand
        is_spaced = not was_sign and _is_spaced(previous, kind, was_operand)
        if place == 1 and previous == "@":  # an attribute, not a perspective
            is_spaced = False
        following = tokens[place + 1][1] if place + 1 < len(tokens) else end
        words.append(
            Word(
                text=text[start:end],
                kind=kind,
                is_spaced=is_spaced and place > 0,
                strength=0 if is_sign else _STRENGTHS.get(kind, 0),
                comments=read_gap(text, end, following).comments,
            )
        )
        was_operand = kind in _OPERAND_ENDS or is_member
        was_sign = is_sign
        previous = "NAME" if is_member else kind  # a reserved word after a dot is a name
    return _settle_comments(words)


def _is_spaced(before: str, kind: str, was_operand: bool) -> bool:
    if before in _TIGHT_AFTER or kind in _TIGHT_BEFORE:
        return False
    if kind == "(":
        return not was_operand
    if kind == ".":
        return before in _NUMBERS  # `1.x` would be another word
    return True


def _settle_comments(words: list[Word]) -> list[Word]:
    """Comments where lines end: after the comma rather than before it, before an operator."""
    for place in range(len(words) - 1, 0, -1):
        left, right = words[place - 1], words[place]
        if right.kind == ",":
            words[place - 1] = left._replace(comments=())
            words[place] = right._replace(comments=left.comments + right.comments)
        elif right.strength:
            words[place - 1] = left._replace(comments=left.comments + right.comments)
            words[place] = right._replace(comments=())
    return words

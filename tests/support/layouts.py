"""Other layouts of a program: the same words, other spaces and line breaks."""

from __future__ import annotations

import random

from prismc.frontend.grammar import load_tables
from prismc.frontend.layout import Layout
from prismc.source.files import SourceFile

_OPENING, _CLOSING = ("(", "["), (")", "]")


def perturb(text: str, seed: int) -> str:
    """The program with other spaces between words and, within brackets, other line breaks.

    Where a comment stands between two words nothing is changed.
    """
    chance = random.Random(seed)
    terminals = load_tables().terminals
    tokens = [
        token
        for piece in Layout(SourceFile("", text), load_tables()).pieces()
        for token in piece.tokens
        if token[1] < token[2]
    ]
    if not tokens:
        return text
    pieces = [text[: tokens[0][1]]]
    depth = 0
    for (kind, start, end), following in zip(tokens, [*tokens[1:], None], strict=True):
        pieces.append(text[start:end])
        depth += (terminals[kind] in _OPENING) - (terminals[kind] in _CLOSING)
        between = text[end : following[1] if following else len(text)]
        if "#" not in between:
            if depth:
                between = _other_break(text[start:end], text, following, chance)
            elif "\n" not in between:
                between = _other_spaces(text[start:end], text, following, chance)
        pieces.append(between)
    return "".join(pieces)


def _other_spaces(
    word: str, text: str, following: tuple[int, int, int] | None, chance: random.Random
) -> str:
    spaces = chance.choice(("", " ", "  ", "\t", " \t "))
    if not spaces and following and not _may_touch(word, text[following[1] : following[2]]):
        return " "
    return spaces


def _other_break(
    word: str, text: str, following: tuple[int, int, int] | None, chance: random.Random
) -> str:
    if chance.random() < 0.3:
        blank = "\n" * chance.randrange(1, 4)
        return f"{' ' * chance.randrange(3)}{blank}{' ' * chance.randrange(1, 20)}"
    return _other_spaces(word, text, following, chance)


def _may_touch(left: str, right: str) -> bool:
    """Whether two words stay two words without a space; on the safe side."""
    signs = "()[],"
    return left in signs or right in signs

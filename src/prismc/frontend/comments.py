"""Comments and blank lines: what the tokens leave out and the formatter keeps.

Between two tokens of a text without malformed characters stands nothing else than spaces, line
breaks and comments. A `Gap` says what of it has a meaning to people.
"""

from __future__ import annotations

from typing import NamedTuple

_TAB_WIDTH = 4  # as in layout.py
_BLANKS = " \t\r"


class Comment(NamedTuple):
    """One comment, from its `#` to its last visible character.

    `column` counts the characters before it, from 0. `trails` when a token stands before it on its
    line, `after_blank` when the line above it is blank.
    """

    text: str
    column: int
    trails: bool
    after_blank: bool


class Gap(NamedTuple):
    """The comments between two tokens, and whether a blank line comes after the last of them."""

    comments: tuple[Comment, ...]
    ends_blank: bool


_EMPTY = Gap((), False)


def read_gap(text: str, start: int, end: int) -> Gap:
    """What stands between the end of a token, or 0, and the start of the next, or the end."""
    between = text[start:end]
    if "\n" not in between and "#" not in between:
        return _EMPTY
    lines = between.split("\n")
    comments: list[Comment] = []
    is_blank = False
    for number, line in enumerate(lines):
        comment = line.lstrip(_BLANKS)
        trails = number == 0 and start > 0
        if comment:
            column = len(line.expandtabs(_TAB_WIDTH)) - len(comment.expandtabs(_TAB_WIDTH))
            comments.append(Comment(comment.rstrip(), column, trails, is_blank))
            is_blank = False
        elif not trails and number < len(lines) - 1:
            is_blank = True
    return Gap(tuple(comments), is_blank)

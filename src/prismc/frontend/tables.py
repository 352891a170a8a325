"""What the parser runs on: the LALR tables and the lexer's words, as plain data.

Kinds, states and symbols are small integers, so that a cached copy loads in a millisecond. Built by
`grammar.py`; read by `layout.py`, `lalr.py` and `recovery.py`.
"""

from __future__ import annotations

from typing import NamedTuple

# A token: its kind, and the characters of the file it covers (half open). NEWLINE, INDENT, DEDENT
# and END cover none and stand at the end of the token before them.
Token = tuple[int, int, int]

NEWLINE, INDENT, DEDENT, END = 0, 1, 2, 3
LAYOUT_KINDS = ("NEWLINE", "INDENT", "DEDENT", "$END")


class Rule(NamedTuple):
    """A production: its symbol, how many values it takes, and the action that makes the new one.

    `action` is "" for a rule that hands its one value on. `blanks` are the places, from left to
    right, where the action gets None for a part that was left out.
    """

    symbol: int
    length: int
    action: str
    blanks: tuple[int, ...]


class Tables(NamedTuple):
    """The grammar, compiled.

    `terminals[kind]` is how a token kind is written: its text, or a name in capitals.
    `words` and `operators` give the kind of a reserved word or an operator, `patterns` the regular
    expression of the other terminals by name. `actions[state][kind]` is the next state for a
    shift, or the complement (~) of a rule's number for a reduction; `gotos[state][symbol]` is the
    state after a symbol.
    """

    terminals: list[str]
    words: dict[str, int]
    operators: dict[str, int]
    patterns: dict[str, str]
    actions: list[dict[int, int]]
    gotos: list[dict[int, int]]
    rules: list[Rule]
    start: int

    def kind(self, text: str) -> int:
        """The kind of a reserved word, an operator or a named terminal."""
        return self.terminals.index(text)

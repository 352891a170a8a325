"""A position in a list of tokens."""

from __future__ import annotations

from typing import NoReturn

from prismc.emulator.ptx.lexer import Token, immediate_of
from prismc.emulator.ptx.tree import Immediate, PtxError


class Cursor:
    """Reads tokens one by one; whoever expects something else fails with the line."""

    def __init__(self, tokens: list[Token], name: str) -> None:
        self.tokens = tokens
        self.name = name
        self.at = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def text(self) -> str:
        return self.tokens[self.at].text

    @property
    def line(self) -> int:
        return self.tokens[self.at].line

    def after(self, count: int = 1) -> str:
        """The text of the token `count` further on, `""` beyond the end."""
        index = self.at + count
        return self.tokens[index].text if index < len(self.tokens) else ""

    def take(self) -> str:
        """The text of the current token, which is passed."""
        token = self.tokens[self.at]
        if token.kind == "end":
            self.fail("the text ends in the middle of a statement")
        self.at += 1
        return token.text

    def accept(self, text: str) -> bool:
        """Passes the current token if it is `text`; says whether it was."""
        if self.tokens[self.at].text != text:
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        """Passes `text`; raises PtxError if something else stands here."""
        if not self.accept(text):
            self.fail(f"expected `{text}`, found `{self.text or 'the end'}`")

    def word(self, what: str) -> str:
        """Passes a word; raises PtxError, naming `what` was expected."""
        if self.token.kind != "word":
            self.fail(f"expected {what}, found `{self.text or 'the end'}`")
        return self.take()

    def integer(self) -> int:
        """Passes an integer literal with an optional minus sign."""
        negative = self.accept("-")
        if self.token.kind != "number":
            self.fail(f"expected a number, found `{self.text or 'the end'}`")
        text = self.text
        value = self.literal()
        if value.kind != "int":
            self.at -= 1
            self.fail(f"expected an integer, found `{text}`")
        return -value.value if negative else value.value

    def literal(self) -> Immediate:
        """Passes a number token and gives its value."""
        try:
            value = immediate_of(self.text)
        except ValueError:
            self.fail(f"malformed number `{self.text}`")
        self.at += 1
        return value

    def fail(self, message: str) -> NoReturn:
        raise PtxError(message, self.line, self.name)

"""Prism for Pygments; the words are those of the grammar."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from prismc.frontend.grammar import load_tables
from prismc.hardware.scalars import ALIASES, SCALARS

_LEVELS = ("thread", "warp", "warpgroup", "block", "grid")
_RESERVED = sorted(word for word in load_tables().words if word.isalpha())


class PrismLexer(RegexLexer):
    """Colours for comments, reserved words, types, levels, literals and attributes."""

    name = "Prism"
    aliases: ClassVar = ["prism"]
    filenames: ClassVar = ["*.prism"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"#[^\n]*", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"', String.Double),
            (r"^(@)(\w+)", Name.Decorator),
            (words(_LEVELS, prefix=r"\b", suffix=r"\b"), Name.Class),
            (words(sorted((*SCALARS, *ALIASES)), prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words(_RESERVED, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\d[\d_]*\.\d[\w]*(?:[eE][+-]?\d+)?", Number.Float),
            (r"0[xXbB][\da-fA-F_]+|\d[\d_]*", Number.Integer),
            (r"[^\W\d]\w*", Name),
            (r"[-+*/%&|^~<>=!@?]+", Operator),
            (r"[^\s\w]", Punctuation),
        ]
    }

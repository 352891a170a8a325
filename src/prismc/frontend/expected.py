"""Tokens in words: what was found, and what could have stood there."""

from __future__ import annotations

from collections.abc import Collection

from prismc.frontend.literals import shorten

_MOST = 4  # alternatives that a message lists

# Sets of tokens that are one thing to a reader, widest first: all of the first tuple must be
# accepted; then these and the second tuple are replaced by the words.
_CLASSES = (
    ("a declaration", ("import", "def"), (
        "from", "const", "export", "test", "unsafe", "kernel", "@",
    )),
    ("a statement", ("pass", "if"), (
        "const", "shared", "return", "break", "continue", "static", "assert", "while", "unroll",
        "for", "group", "split", "first", "partition", "claim", "async", "pipeline", "finish",
        "unsafe", "NAME", "INTEGER", "FLOAT", "STRING", "true", "false", "(", "ptr", "vec", "fn",
        "tensor_map", "thread", "warp", "warpgroup", "block", "grid", "-", "+", "~", "not",
    )),
    ("a simple statement", ("pass",), (
        "const", "shared", "return", "break", "continue", "static", "assert", "NAME", "INTEGER",
        "FLOAT", "STRING", "true", "false", "(", "ptr", "vec", "fn", "tensor_map", "thread", "warp",
        "warpgroup", "block", "grid", "-", "+", "~", "not",
    )),
    ("an expression", ("NAME", "INTEGER"), (
        "FLOAT", "STRING", "true", "false", "(", "ptr", "vec", "fn", "tensor_map", "thread", "warp",
        "warpgroup", "block", "grid", "-", "+", "~", "not",
    )),
    ("a name", ("NAME", "thread", "atomic"), ("warp", "warpgroup", "block", "grid")),
    ("a perspective", ("NAME", "thread", "warp"), ("warpgroup", "block", "grid")),
    ("a level", ("thread", "warp"), ("warpgroup", "block", "grid")),
    ("a type", ("NAME", "ptr"), ("vec", "fn", "tensor_map")),
    ("a name", ("NAME",), ()),
    ("an assignment", ("+=",), (":=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "=")),
    ("an operator", ("*", "%"), (
        "/", "+", "-", "<<", ">>", "&", "^", "|", "<", "<=", ">", ">=", "==", "!=", "and", "or",
        "if", "(", "[", ".",
    )),
    ("an index or a call", ("[", "."), ("(",)),
    ("a string", ("STRING",), ()),
)  # fmt: skip

_NAMED = {
    "NEWLINE": "the end of the line",
    "INDENT": "an indented block",
    "DEDENT": "the end of the block",
    "$END": "the end of the declaration",
    "INTEGER": "a number",
}


def found_words(token: str, text: str) -> str:
    """The token that was found, without article; `token` is its kind as the grammar writes it."""
    shown = shorten(text)
    match token:
        case "NAME":
            return f"name `{shown}`"
        case "INTEGER" | "FLOAT":
            return f"number `{shown}`"
        case "STRING":
            return "string"
        case _ if token in _NAMED:
            return _NAMED[token].removeprefix("the ")
        case _ if token.islower():
            return f"word `{token}`"
        case _:
            return f"`{token}`"


def expected_words(accepted: Collection[str]) -> str:
    """A short list of what `accepted` means to a reader; at most four alternatives."""
    rest = dict.fromkeys(accepted)
    words: list[str] = []
    for name, needed, others in _CLASSES:
        if all(token in rest for token in needed):
            words.append(name)
            rest = {token: None for token in rest if token not in needed and token not in others}
    exact = [_NAMED.get(token, f"`{token}`") for token in rest]
    listed = (exact + words)[:_MOST]
    if len(listed) < 2:
        return "".join(listed)
    return ", ".join(listed[:-1]) + " or " + listed[-1]

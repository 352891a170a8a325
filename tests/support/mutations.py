"""Broken programs made from good ones, the same ones for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r"\w+|[ \t]+|\n[ \t]*|[^\w\s]|\s")
_WORDS = """
def kernel group split case first partition claim async shared if elif else while for in range
unroll static break continue return pass unsafe asm const export import from at by as thread warp
block grid id count ptr f32 i32 0 1 32 1e9 99999999999999999999 0x @ : ( ) [ ] { } , = == -> => . ..
+ - * / % << >> & | ^ ~ ! ; $ ` ? ' " \\ #
""".split()

Mutation = Callable[[list[str], random.Random], None]


def mutate(source: str, seed: int) -> bytes:
    """`source` after one to four random changes; random bytes need not be UTF-8."""
    chance = random.Random(seed)
    tokens = _TOKEN.findall(source)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        if tokens:
            chance.choice(MUTATIONS)(tokens, chance)
    content = "".join(tokens).encode("utf-8", "surrogatepass")
    if chance.random() < 0.05:
        return _random_bytes(content, chance)
    return content


def _some(tokens: Sequence[str], chance: random.Random) -> int:
    return chance.randrange(len(tokens))


def _delete(tokens: list[str], chance: random.Random) -> None:
    del tokens[_some(tokens, chance)]


def _delete_several(tokens: list[str], chance: random.Random) -> None:
    start = _some(tokens, chance)
    del tokens[start : start + chance.randrange(2, 30)]


def _double(tokens: list[str], chance: random.Random) -> None:
    at = _some(tokens, chance)
    tokens.insert(at, tokens[at])


def _swap(tokens: list[str], chance: random.Random) -> None:
    first, second = _some(tokens, chance), _some(tokens, chance)
    tokens[first], tokens[second] = tokens[second], tokens[first]


def _swap_neighbours(tokens: list[str], chance: random.Random) -> None:
    first = _some(tokens, chance)
    second = min(first + 1, len(tokens) - 1)
    tokens[first], tokens[second] = tokens[second], tokens[first]


def _replace(tokens: list[str], chance: random.Random) -> None:
    tokens[_some(tokens, chance)] = tokens[_some(tokens, chance)]


def _insert_word(tokens: list[str], chance: random.Random) -> None:
    tokens.insert(_some(tokens, chance), chance.choice(_WORDS))


def _replace_word(tokens: list[str], chance: random.Random) -> None:
    tokens[_some(tokens, chance)] = chance.choice(_WORDS)


def _cut(tokens: list[str], chance: random.Random) -> None:
    del tokens[_some(tokens, chance) :]


def _cut_front(tokens: list[str], chance: random.Random) -> None:
    del tokens[: _some(tokens, chance)]


def _change_indentation(tokens: list[str], chance: random.Random) -> None:
    breaks = [i for i, token in enumerate(tokens) if token.startswith("\n")]
    if breaks:
        tokens[chance.choice(breaks)] = "\n" + " " * chance.randrange(24)


def _insert_character(tokens: list[str], chance: random.Random) -> None:
    character = chance.choice(("\x00", "\u202e", "é", "世", "\r", "\x0c", "\ufeff", chr(0x1F600)))
    tokens.insert(_some(tokens, chance), character)


def _move_line(tokens: list[str], chance: random.Random) -> None:
    text = "".join(tokens).split("\n")
    line = text.pop(chance.randrange(len(text)))
    text.insert(chance.randrange(len(text) + 1), line)
    tokens[:] = _TOKEN.findall("\n".join(text))


def _repeat_much(tokens: list[str], chance: random.Random) -> None:
    at = _some(tokens, chance)
    tokens[at : at + 1] = [tokens[at]] * chance.randrange(10, 400)


MUTATIONS: tuple[Mutation, ...] = (
    _delete,
    _delete_several,
    _double,
    _swap,
    _swap_neighbours,
    _replace,
    _insert_word,
    _replace_word,
    _cut,
    _cut_front,
    _change_indentation,
    _insert_character,
    _move_line,
    _repeat_much,
)


def _random_bytes(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.randbytes(chance.randrange(1, 12)) + content[at:]


def extremes() -> dict[str, bytes]:
    """Inputs that are all of one kind: too deep, too long, too many."""
    depth = 3_000
    nested = "".join("    " * level + "if true:\n" for level in range(depth))
    groups = "".join("    " * (level + 1) + "group thread[1]:\n" for level in range(400))
    return {
        "brackets": b"(" * 10_000_000,
        "square-brackets": b"[" * 1_000_000,
        "quotes": b'"' * 1_000_000,
        "newlines": b"\n" * 2_000_000,
        "spaces": b" " * 5_000_000,
        "zeros": b"\x00" * 100_000,
        "long-name": b"a" * 5_000_000,
        "long-import": b"import " + b"a" * 5_000 + b"\n",
        "long-number": b"const N: int = " + b"9" * 1_000_000,
        "long-float": b"const N: f32 = 1e" + b"9" * 10_000,
        "nested-parentheses": f"const N: int = {'(' * depth}1{')' * depth}\n".encode(),
        "nested-indexes": f"const N: int = {'a[' * depth}1{']' * depth}\n".encode(),
        "nested-calls": f"const N: int = {'f(' * depth}1{')' * depth}\n".encode(),
        "nested-minus": f"const N: int = {'-' * depth}1\n".encode(),
        "nested-not": f"const N: bool = {'not ' * depth}true\n".encode(),
        "long-sum": f"const N: int = {'1 + ' * 20_000}1\n".encode(),
        "nested-conditional": f"const N: int = {'1 if true else ' * depth}1\n".encode(),
        "nested-blocks": f"@requires(thread[1])\ndef f():\n    pass\n{nested}".encode(),
        "nested-groups": f"@requires(thread[1])\ndef f():\n{groups}{'    ' * 401}pass\n".encode(),
        "many-functions": b"@requires(thread[1])\ndef f():\n    pass\n" * 3_000,
        "many-errors": b"def f(:\n    x ==\n" * 20_000,
        "unindent": b"".join(b" " * (2_000 - i) + b"x\n" for i in range(2_000)),
    }

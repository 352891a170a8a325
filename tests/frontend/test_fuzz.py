"""Broken programs: the parser always ends, in a tree and located errors."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from prismc.frontend.syntax_help import HELP
from prismc.frontend.walk import walk
from support.mutations import mutate
from support.syntax import parse

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.prism"))
SEEDS = range(100)


def judge(text: str) -> None:
    parsed = parse(text)
    for problem in parsed.problems:
        assert 0 <= problem.at.start <= problem.at.end <= len(text)
        assert problem.shown_message()
        for related in problem.related:
            assert 0 <= related.at.start <= related.at.end <= len(text)
    for node in walk(parsed.tree):
        assert 0 <= node.span.start <= node.span.end <= len(text)
    if not parsed.problems:
        assert parsed.tree.broken == ()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_mutations(path: Path) -> None:
    source = path.read_text("utf-8")
    for seed in SEEDS:
        judge(mutate(source, seed).decode("utf-8", "replace"))


def test_snippets_mutated() -> None:
    for seed, snippet in enumerate(snippet for row in HELP for snippet in row.snippets):
        judge(mutate(snippet, seed).decode("utf-8", "replace"))


def test_cut_at_every_character() -> None:
    source = PROGRAMS[0].read_text("utf-8")
    for end in range(0, len(source), 11):
        judge(source[:end])


def test_random_text() -> None:
    chance = random.Random(1)
    alphabet = "ab1_ .,:;=()[]{}<>+-*/%&|^~!@#\"'\\\n\t\r\x00é\u2028" + "\n    " * 3
    for _ in range(200):
        judge("".join(chance.choice(alphabet) for _ in range(chance.randrange(200))))

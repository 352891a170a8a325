"""Random programs that keep the rules are accepted; one broken rule is one problem, its own.

`PRISMC_PROGRAMS=2000` tries that many programs, and breaks of each kind, instead of a sample.
"""

from __future__ import annotations

import os
from functools import cache
from random import Random

import pytest

from property.breaks import BREAKS, Break, insert
from property.programs import Program
from support.checking import all_words, check_texts

COUNT = int(os.environ.get("PRISMC_PROGRAMS", "0"))
ACCEPTED = COUNT or 60
BROKEN = COUNT or 5
BATCH = 20


@cache
def program(seed: int) -> Program:
    return Program(seed)


def problems_of(text: str) -> list[tuple[str, int, str]]:
    """Code, line and words of what is reported."""
    session = check_texts({"main.prism": text}, "main.prism")
    position = session.files.position
    return [(p.code, position(p.at).line, all_words(p)) for p in session.problems]


@pytest.mark.parametrize("batch", range(0, ACCEPTED, BATCH))
def test_what_keeps_the_rules_is_accepted(batch: int) -> None:
    for seed in range(batch, min(batch + BATCH, ACCEPTED)):
        assert problems_of(program(seed).text) == [], f"seed {seed}:\n{program(seed).text}"


@pytest.mark.parametrize("rule", BREAKS, ids=lambda rule: rule.name)
def test_what_breaks_a_rule_is_refused_for_that(rule: Break) -> None:
    random = Random(rule.name)
    broken, seed = 0, 0
    while broken < BROKEN:
        whole, seed = program(seed), seed + 1
        assert seed < 40 * BROKEN + 200, "the programs hardly ever let this rule be broken"
        places = random.sample(whole.places, len(whole.places))
        found = ((place, rule.make(place, random, whole)) for place in places)
        place, lines = next(((p, made) for p, made in found if made), (None, None))
        if place is None or lines is None:
            continue
        broken += 1
        text, line = insert(whole, place, lines)
        told = problems_of(text)
        assert [(code, at) for code, at, _ in told] == [(rule.code, line)], (
            f"seed {seed - 1}, line {line}: {told}\n{text}"
        )

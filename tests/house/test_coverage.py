"""Every rule of the language, and every decision about the paper that concerns the checker, has a
program that is refused (or warned about) and one that is accepted.

A heading of a spec page names the decisions that its programs show, `### A26 ..`; the rules of the
reference's tables have a page each.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from support.spec_page import expected_of, read_cases

PAGES = Path(__file__).resolve().parents[1] / "spec"
# Decisions about the paper's formal system or about what is generated have no programs: A8, A32,
# A33, A38 and A40 mend its notation, A49 is a build flag.
DECISIONS = [
    f"A{n}"
    for n in (*range(1, 8), *range(9, 32), *range(34, 38), 39, *range(41, 49), *range(50, 53))
]
# What is derived: there is nothing to refuse.
ONLY_ACCEPTED = frozenset(("A48", "A50", "A52"))
# The rules of the reference, and the page that shows each.
RULES = {
    "group": "group", "split and first": "split", "declarations": "locals", "assignments": "locals",
    "expressions": "expressions", "if, while, for": "control", "break, continue, return": "exits",
    "id() and count()": "units", "partition": "partition", "claim": "claim", "async": "async",
    "element stores and loads": "elements", "calls": "calls", "shared": "shared",
    "finish": "finish", "pipeline": "pipeline", "types and conversions": "types",
    "arrays": "arrays", "pointers": "pointers", "vectors": "vectors", "alignment": "alignment",
    "layouts": "layouts", "atomics": "atomics", "generics": "generics", "results": "results",
    "constants": "constants", "static": "static", "launch": "launch", "modules": "modules",
    "names": "names", "unsafe and asm": "unsafe", "effects": "effects", "targets": "targets",
    "assert and print": "asserts", "syntax": "syntax", "grid": "grid", "races": "footprints",
    "allowed warnings": "allowances",
}  # fmt: skip


@cache
def verdicts() -> dict[str, Counter[str]]:
    """How many programs are refused and accepted, by page and by decision."""
    counts: dict[str, Counter[str]] = {}
    for page in sorted(PAGES.glob("*.md")):
        for case in read_cases(page):
            told = any(each.severity in ("error", "warning") for each in expected_of(case))
            heading = case.name.split(" ", 1)[1]
            for tag in {page.stem, *re.findall(r"\bA\d+\b", heading), "all"}:
                counts.setdefault(tag, Counter())["refused" if told else "accepted"] += 1
    return counts


@pytest.mark.parametrize("decision", DECISIONS)
def test_decision(decision: str) -> None:
    found = verdicts().get(decision, Counter())
    assert found["accepted"], f"no program shows what {decision} accepts"
    is_shown = found["refused"] or decision in ONLY_ACCEPTED
    assert is_shown, f"no program shows what {decision} refuses"


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str) -> None:
    found = verdicts().get(RULES[rule], Counter())
    assert found["accepted"], f"no program shows what the rule of {rule} accepts"
    assert found["refused"], f"no program shows what the rule of {rule} refuses"


def test_numbers() -> None:
    found = verdicts()["all"]
    assert found["refused"] >= 250
    assert found["accepted"] >= 150

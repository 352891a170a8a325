"""Random legal functions: text round trips, and passes that change no result."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir.random_ir import evaluate, random_module
from prismc.ir.parser import parse_module
from prismc.ir.passes.order import PASSES, run_passes
from prismc.ir.printer import print_module
from prismc.ir.verifier import verify_module

SEEDS = st.integers(0, 1 << 30)
ARGUMENTS = st.lists(st.integers(-(1 << 31), (1 << 31) - 1), min_size=3, max_size=3)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=SEEDS, spans=st.booleans())
def test_text_round_trip(seed: int, spans: bool) -> None:
    module = random_module(seed)
    verify_module(module)
    text = print_module(module, spans=spans)
    again = parse_module(text)
    verify_module(again)
    assert print_module(again, spans=spans) == text


@settings(max_examples=250, deadline=None, derandomize=True)
@given(seed=SEEDS, arguments=ARGUMENTS)
def test_passes_keep_results(seed: int, arguments: list[int]) -> None:
    module = random_module(seed)
    expected = evaluate(module.functions[0], arguments)
    changed = run_passes(module, verify=True)
    assert evaluate(changed.functions[0], arguments) == expected


@pytest.mark.parametrize("each", PASSES, ids=lambda each: each.name)
@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS, arguments=ARGUMENTS)
def test_each_pass_alone_keeps_results(each, seed: int, arguments: list[int]) -> None:
    module = random_module(seed)
    expected = evaluate(module.functions[0], arguments)
    changed = each.run(module)
    verify_module(changed)
    assert evaluate(changed.functions[0], arguments) == expected


def test_the_generator_reaches_every_kind_of_control_flow() -> None:
    texts = [print_module(random_module(seed)) for seed in range(60)]
    for word in (" for ", " while ", " if ", "break", "continue", "unreachable", "select"):
        assert any(word in text for text in texts), word

"""Exhaustively: programs of up to five scopes over two arrays have the fewest barriers possible."""

from __future__ import annotations

from itertools import islice

import pytest

from checker.sync.small_programs import least, planned, small_programs

SAMPLED = 101  # every so many programs are tried in the normal suite: all forms, in 5 s
BATCHES = 20


def test_a_sample_has_the_fewest_barriers() -> None:
    for program in islice(small_programs(5), None, None, SAMPLED):
        assert planned(program) == least(program), program


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_program_has_the_fewest_barriers(batch: int) -> None:
    for program in islice(small_programs(5), batch, None, BATCHES):
        assert planned(program) == least(program), program

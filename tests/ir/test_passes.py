"""Each pass against pages of IR text: `before`, a line of dashes, `after`."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.ir.parser import parse_module
from prismc.ir.passes.base import Pass
from prismc.ir.passes.drop_dead import DropDead
from prismc.ir.passes.fold_constants import FoldConstants
from prismc.ir.passes.order import PASSES, check_order, run_passes
from prismc.ir.passes.simplify_control import SimplifyControl
from prismc.ir.printer import print_module
from prismc.ir.verifier import verify_module

HERE = Path(__file__).parent
PAGES = sorted(HERE.glob("*/*.ir"))
BY_FOLDER = {each.name.replace("-", "_"): each for each in PASSES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_page(page: Path) -> None:
    before, after = page.read_text().split("----\n")
    module = parse_module(before)
    verify_module(module)
    changed = BY_FOLDER[page.parent.name].run(module)
    verify_module(changed)
    assert print_module(changed) == print_module(parse_module(after))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_second_run_changes_nothing(page: Path) -> None:
    before, _ = page.read_text().split("----\n")
    once = BY_FOLDER[page.parent.name].run(parse_module(before))
    twice = BY_FOLDER[page.parent.name].run(once)
    assert all(a is b for a, b in zip(once.functions, twice.functions, strict=True))


def test_every_pass_has_a_page() -> None:
    assert {page.parent.name for page in PAGES} == set(BY_FOLDER)


def test_order_is_checked() -> None:
    with pytest.raises(ValueError, match="simplify-control stands before fold-constants"):
        check_order((SimplifyControl(), FoldConstants()))
    with pytest.raises(ValueError, match="fold-constants is there twice"):
        check_order((FoldConstants(), FoldConstants()))


def test_passes_are_seen_in_order() -> None:
    seen: list[str] = []
    run_passes(parse_module(""), verify=True, after=lambda name, _: seen.append(name))
    assert seen == [each.name for each in PASSES]


def test_the_base_does_nothing_by_itself() -> None:
    function = parse_module("function @f() { return [] }").functions[0]
    with pytest.raises(NotImplementedError):
        Pass().function(function)
    assert DropDead().function(function) is function

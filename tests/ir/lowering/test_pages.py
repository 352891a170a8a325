"""Whole programs and the IR that lowering and the passes make of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prismc.driver.options import Options
from prismc.driver.pipeline import run_stages
from prismc.driver.session import Session
from prismc.ir.parser import parse_module
from prismc.ir.printer import print_module
from prismc.ir.verifier import verify_module

PAGES = sorted((Path(__file__).parent / "pages").glob("*.prism"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page: Path) -> None:
    session = Session(Options())
    file = session.files.overlay(page.name, page.read_text())
    optimised = run_stages(session, file, "optimise")
    assert not session.problems
    text = print_module(optimised.module)
    if "PRISMC_BLESS" in os.environ:
        page.with_suffix(".ir").write_text(text)
    assert text == page.with_suffix(".ir").read_text()
    verify_module(parse_module(text))

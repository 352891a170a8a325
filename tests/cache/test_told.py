"""Problems and reports as plain data: what is read is what was told."""

from __future__ import annotations

import inspect
import json

import pytest

from prismc.backend.toolchain.report import BarrierCounts, KernelReport
from prismc.diagnostics.problem import Fix, Problem, Related
from prismc.diagnostics.text import render_problems
from prismc.driver.catalog import problem_classes
from prismc.driver.told import read, tell
from prismc.hardware.groups import Level, Perspective
from prismc.source.files import Files
from prismc.source.span import Span

VALUES = {"str": "a {text} ü", "int": 7, "Perspective": Perspective(Level.THREAD, 32)}


def through_json(value: object) -> object:
    return read(json.loads(json.dumps(tell(value))))


def example(kind: type[Problem]) -> Problem:
    """A problem of a class, every field with a value of its type."""
    at = Span("a.prism", 1, 2)
    annotations: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        annotations |= {k: str(v) for k, v in inspect.get_annotations(base).items()}
    fields = {name: VALUES[annotations[name]] for name in kind.__fields__[4:]}
    return kind(
        at=at,
        related=(Related(at=at, message="there"),),
        fixes=(Fix(at=at, text="x", title="y", is_certain=False),),
        notes=("one", "two"),
        **fields,
    )


@pytest.mark.parametrize("kind", problem_classes(), ids=lambda kind: kind.__name__)
def test_every_problem_comes_back(kind: type[Problem]) -> None:
    problem = example(kind)
    again = through_json(problem)
    assert type(again) is kind
    assert repr(again) == repr(problem)
    files = Files()
    assert render_problems([again], files) == render_problems([problem], files)


def test_reports_come_back() -> None:
    report = KernelReport(
        kernel="k",
        target="sm_80",
        registers=1,
        shared_bytes=2,
        resident=9,
        stack_bytes=3,
        spill_stores=4,
        spill_loads=5,
        barriers=BarrierCounts(warp=6),
    )
    assert through_json((report,)) == (report,)


def test_only_records_of_prismc_are_read() -> None:
    for place in (["os", "system"], ["prismc.driver.told", "read"], ["prismc.cli.main", "click"]):
        with pytest.raises(ValueError, match=r"is no"):
            read(["record", *place])


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(TypeError, match="set cannot be kept"):
        tell({1})

"""The pytest plugin: `test` blocks of `*.prism` files are tests, under `pytest --prism`.

Without the option, or `prism = true` in pytest's configuration, no file is collected: the plugin is
there wherever prismc is installed, and a `*.prism` file may be meant for other things.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from prismc.driver.kernels import Kernel
    from prismc.driver.testing.collect import Case

_SCHEDULES = 2


class PrismFailure(AssertionError):
    """A test that failed; the text tells how, with its place."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--prism`, `--prism-schedules`, `--prism-seed`."""
    group = parser.getgroup("prism", "tests of Prism files")
    group.addoption("--prism", action="store_true", help="collect the tests of *.prism files")
    group.addoption(
        "--prism-schedules",
        metavar="N",
        type=int,
        default=_SCHEDULES,
        help=f"how many orders of execution each test tries (default: {_SCHEDULES})",
    )
    group.addoption(
        "--prism-seed", metavar="N", type=int, default=0, help="for random arrays and schedules"
    )
    parser.addini("prism", "collect the tests of *.prism files", type="bool", default=False)


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    """A file's tests, if they are wanted."""
    config = parent.config
    if file_path.suffix != ".prism" or not (config.getoption("prism") or config.getini("prism")):
        return None
    return PrismFile.from_parent(parent, path=file_path)


class PrismFile(pytest.File):
    """A Prism file; its kernels are compiled when the first of its tests runs."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its tests. Raises CollectError with the diagnostics of a file that is wrong."""
        # The compiler and NumPy are loaded only where Prism files are collected.
        from prismc.diagnostics.text import render_problems
        from prismc.driver.cache import open_cache
        from prismc.driver.inputs import open_root
        from prismc.driver.options import Options
        from prismc.driver.session import Session
        from prismc.driver.testing.collect import collect, testing_options

        self.session_of_prismc = Session(testing_options(Options()), cache=open_cache())
        self.compiled: dict[str, tuple[Kernel, ...]] = {}
        session = self.session_of_prismc
        root = open_root(session, os.path.relpath(self.path))
        cases = () if root is None else collect(session, [root])
        if session.exit_code:
            raise self.CollectError(render_problems(session.problems, session.files))
        for case in cases:
            yield PrismTest.from_parent(self, name=case.name, case=case)


class PrismTest(pytest.Item):
    """One `test` block."""

    def __init__(self, *, case: Case, **more: Any) -> None:
        super().__init__(**more)
        self.case = case

    def runtest(self) -> None:
        """Run it on the CPU. Raises PrismFailure."""
        from prismc.driver.testing.run import Running, run_case

        file = self.parent
        assert isinstance(file, PrismFile)
        running = Running(
            schedules=self.config.getoption("prism_schedules"),
            seed=self.config.getoption("prism_seed"),
        )
        verdict = run_case(file.session_of_prismc, self.case, running, file.compiled)
        if verdict.printed:
            self.add_report_section("call", "print", verdict.printed)
        if verdict.failures:
            raise PrismFailure("\n".join(verdict.failures))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A failure as prismc tells it; the interpreter's own calls are of no interest."""
        if isinstance(excinfo.value, PrismFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test stands: the file, its line from 0, its name."""
        at = self.case.test.node.header
        return self.path, self.case.file.position(at.start).line - 1, self.name

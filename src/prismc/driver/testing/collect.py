"""The tests of Prism files: found, checked, chosen by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from prismc.diagnostics.text import render_problems
from prismc.driver.compiling import Compiled, compiled_file
from prismc.driver.kernels import RunError
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.hardware.targets import TARGETS, Target
from prismc.source.files import SourceFile
from prismc.source.record import Record, replace

if TYPE_CHECKING:
    from prismc.checker.host.facts import HostTest
    from prismc.checker.results import CheckedProgram


class Case(Record):
    """A test of a file, and the target that it is to be compiled for."""

    file: SourceFile
    test: HostTest
    options: Options

    @property
    def name(self) -> str:
        return self.test.name


def testing_options(options: Options) -> Options:
    """Options under which tests are compiled: what a kernel asserts and assumes is watched."""
    return replace(options, asserts=True, assumptions=True)


def collect(
    session: Session, files: Iterable[SourceFile], target: Target | None = None
) -> tuple[Case, ...]:
    """The tests of files, in their order; what is wrong with a file goes to the session's sink.

    Without a target each file is tested for the least one, from that of the session's options on,
    that has what its kernels need.
    """
    found: list[Case] = []
    for file in files:
        found += _cases(session, file, _candidates(session.options.target, target))
    return tuple(found)


def _candidates(usual: Target, target: Target | None) -> list[Target]:
    """The targets to try, in order."""
    if target is not None:
        return [target]
    known = list(TARGETS.values())
    return known[known.index(usual) :]


def _cases(session: Session, file: SourceFile, candidates: Sequence[Target]) -> list[Case]:
    """The tests of a file for the first target that it is right for; none after a problem, which
    is that of the first target."""
    first: Session | None = None
    for target in candidates:
        options = replace(session.options, target=target)
        own = session.branch(options)
        checked: CheckedProgram | None = run_stages(own, file, CHECKS)
        first = first or own
        if checked is not None and not own.sink.has_errors():
            _report(session, own)
            return [Case(file=file, test=test, options=options) for test in checked.tests]
        if checked is None:
            break
    if first is not None:
        _report(session, first)
    return []


def _report(session: Session, own: Session) -> None:
    for problem in own.problems:
        session.sink.report(problem)


def compiled_case(session: Session, case: Case) -> Compiled:
    """The file of a test, compiled. Raises RunError where it cannot be."""
    own = session.branch(case.options)
    compiled = compiled_file(own, case.file)
    if compiled is None or own.exit_code:
        raise RunError("\n" + render_problems(own.problems, own.files))
    return compiled

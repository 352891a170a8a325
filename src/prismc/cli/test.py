"""`prismc test`: the tests of Prism files, run and reported."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prismc.cli.options import (
    Presentation,
    cache_option,
    compiler_options,
    finite,
    jobs_option,
    program_options,
    schedules_option,
)
from prismc.cli.render import progress, show_problems, write
from prismc.diagnostics.problem import Severity
from prismc.driver.inputs import root_files
from prismc.driver.session import Session
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS

if TYPE_CHECKING:
    from prismc.driver.testing.collect import Case
    from prismc.driver.testing.run import Verdict


@click.command("test", short_help="Run the tests of programs.")
@click.argument("paths", metavar="[PATH...]", nargs=-1)
@click.option(
    "-k", "wanted", metavar="TEXT", default="",
    help="Run only tests whose `FILE: NAME` holds TEXT, in any case.",
)  # fmt: skip
@click.option(
    "--device", type=click.Choice(["cpu", "gpu"]), default="cpu", show_default=True,
    help="Run kernels on the CPU, watched for faults, or on this machine's GPU.",
)  # fmt: skip
@schedules_option(default=2)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True,
    help="For random arrays and schedules.",
)  # fmt: skip
@click.option(
    "--time-limit", metavar="SECONDS", type=float, default=None, callback=finite,
    help="Give a test up after so much processor time, in each order.",
)  # fmt: skip
@click.option("--junit", metavar="FILE.xml", help="Write the results as JUnit XML too.")
@click.option("--list", "lists", is_flag=True, help="Name the tests, run none.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text",
    help="How results are written to standard output.",
)  # fmt: skip
@click.option(
    "--target", metavar="sm_XX", type=click.Choice(list(TARGETS)), default=None,
    help=f"The architecture to compile for; without it, {DEFAULT_TARGET} or the least above it "
    "that a file's kernels need.",
)  # fmt: skip
@jobs_option
@cache_option
@program_options
def test(paths: tuple[str, ...], **options: Any) -> int:
    """Run the `test` blocks of the files and folders PATH, or of this folder.

    Exit code 1 when a test fails or a program is wrong, 2 when there is nothing to run.
    """
    # numpy and the machine are needed by this command only.
    from prismc.driver.kernels import RunError

    try:
        return _Testing(paths or (".",), options).go()
    except RunError as error:
        raise click.ClickException(str(error)) from error


class _Testing:
    """One command line, step by step."""

    def __init__(self, paths: tuple[str, ...], options: dict[str, Any]) -> None:
        from prismc.driver.testing.collect import testing_options

        self.paths = paths
        self.options = options
        target = TARGETS.get(options["target"] or "", DEFAULT_TARGET)
        compiling = compiler_options(target, options["defines"], options["include"])
        self.session = Session(testing_options(compiling), cache=options["cache"])

    def go(self) -> int:
        """The exit code."""
        from prismc.driver.testing.collect import collect
        from prismc.driver.testing.report import junit, record_of, summary

        options, session = self.options, self.session
        files = root_files(session, self.paths)
        target = TARGETS.get(options["target"] or "")
        cases = [case for case in collect(session, files, target) if self._is_wanted(case)]
        shown = Presentation(
            format="text", color=options["color"], max_errors=options["max_errors"]
        )
        show_problems(session, shown, sys.stderr)
        if not cases:
            if options["junit"] and session.problems:
                self._save(options["junit"], junit([], self._errors()))
            return session.exit_code or self._nothing()
        if options["lists"]:
            write(sys.stdout, "".join(f"{case.file.name}: {case.name}\n" for case in cases))
            return session.exit_code
        start = time.monotonic()
        results = self._run(cases)
        if options["format_"] == "json":
            write(sys.stdout, json.dumps(record_of(results), indent=2) + "\n")
        else:
            write(sys.stdout, summary(results, time.monotonic() - start))
        if options["junit"]:
            self._save(options["junit"], junit(results, self._errors()))
        failed = not all(verdict.is_passed for _, verdict in results)
        return max(session.exit_code, int(failed))

    def _errors(self) -> dict[str, list[str]]:
        """The errors of programs as text, by the files that they are in."""
        from prismc.diagnostics.text import render_problems

        found: dict[str, list[str]] = {}
        for problem in self.session.problems:
            if problem.severity is Severity.ERROR and problem.at.file:
                text = render_problems([problem], self.session.files)
                found.setdefault(problem.at.file, []).append(text)
        return found

    def _is_wanted(self, case: Case) -> bool:
        wanted: str = self.options["wanted"]
        return wanted.casefold() in f"{case.file.name}: {case.name}".casefold()

    def _nothing(self) -> int:
        what = f" that holds `{self.options['wanted']}`" if self.options["wanted"] else ""
        raise click.ClickException(f"no test{what} in {', '.join(self.paths)}")

    def _run(self, cases: list[Case]) -> list[tuple[Case, Verdict]]:
        """All verdicts, each shown as soon as those before it are."""
        from prismc.driver.testing.run import Running, run_tests

        options = self.options
        running = Running(
            device=options["device"],
            schedules=options["schedules"],
            seed=options["seed"],
            time_limit=options["time_limit"],
        )
        done: dict[int, Verdict] = {}
        shown = 0
        with progress(len(cases), "testing", "ran") as bar:
            for number, verdict in run_tests(self.session, cases, running, options["jobs"]):
                done[number] = verdict
                bar.step(cases[number].name)
                while shown in done:
                    self._show(cases, shown, done[shown])
                    shown += 1
        return [(case, done[number]) for number, case in enumerate(cases)]

    def _show(self, cases: list[Case], number: int, verdict: Verdict) -> None:
        from prismc.driver.testing.report import line_of

        if self.options["format_"] == "json":
            return
        case = cases[number]
        if number == 0 or cases[number - 1].file is not case.file:
            write(sys.stdout, f"{case.file.name}\n")
        write(sys.stdout, verdict.printed)
        write(sys.stdout, line_of(case, verdict))

    def _save(self, path: str, content: bytes) -> None:
        try:
            Path(path).write_bytes(content)
        except OSError as error:
            message = f"`{path}` cannot be written: {error.strerror or error}"
            raise click.ClickException(message) from error

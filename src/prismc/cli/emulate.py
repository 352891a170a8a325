"""`prismc run`: a kernel executed on the CPU and watched for faults."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prismc.cli.options import (
    Presentation,
    asserts_option,
    compile_options,
    compiler_options,
    extents,
    finite,
    footprints_option,
    named_values,
    schedules_option,
    sync_option,
    user_cache,
)
from prismc.cli.render import Progress, progress, show_problems, write
from prismc.driver.inputs import open_root
from prismc.driver.session import Session
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS
from prismc.source.record import replace

if TYPE_CHECKING:
    from prismc.driver.expectations import Judgement
    from prismc.driver.kernels import Kernel
    from prismc.driver.running import Outcome
    from prismc.emulator.findings import Finding

KINDS = (
    "race", "order", "lifetime", "uninit", "bounds", "align", "overflow", "perspective", "exit",
    "count", "phase", "deadlock", "trap", "call",
)  # fmt: skip


@click.command("run", short_help="Run a kernel on the CPU and watch for faults.")
@click.argument("file", metavar="FILE", required=False)
@click.option("--ptx", metavar="FILE", help="Run a kernel of a PTX file instead.")
@click.option("--kernel", metavar="NAME", help="Which kernel, where there are several.")
@click.option("--grid", metavar="N[,N[,N]]", required=True, callback=extents, help="The blocks.")
@click.option(
    "--block", metavar="N[,N[,N]]", callback=extents,
    help="The threads of a block; Prism kernels fix them.",
)  # fmt: skip
@click.option("--cluster", type=click.IntRange(1, 16), default=None, help="Blocks of a cluster.")
@click.option(
    "--dynamic-shared", metavar="BYTES", type=click.IntRange(min=0), default=None,
    help="Dynamic shared memory of a block.",
)  # fmt: skip
@click.option(
    "--arg", "arguments", metavar="NAME=VALUE", multiple=True, callback=named_values,
    help="An argument: a number, @FILE.npy, or zeros(..), ones(..), empty(..), arange(..), "
    "rand(..), randn(..), randint(low, high, ..), full(value, ..) with the array's shape; "
    "later ones may use earlier ones. With --ptx, parameters are called a0, a1 .., and a0:i32=.. "
    "tells an array's type.",
)  # fmt: skip
@click.option(
    "--expect", "expectations", metavar='"C ~ A @ B"', multiple=True,
    help="What an array must be in the end, in terms of the arguments: `~` nearly, `==` exactly. "
    "Functions are NumPy's: `y == x.max(axis=1)`.",
)  # fmt: skip
@click.option(
    "--rtol",
    type=float,
    default=1e-3,
    show_default=True,
    callback=finite,
    help="How near `~` is, relative to the largest magnitude expected.",
)
@click.option(
    "--save", "saves", metavar="NAME=FILE.npy", multiple=True, callback=named_values,
    help="Write an array's final content.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True,
    help="For random arguments and schedules.",
)  # fmt: skip
@schedules_option(default=1)
@click.option(
    "--resident", metavar="N", type=click.IntRange(min=1), default=None,
    help="How many blocks run at a time; others start when some have ended. Default: all.",
)  # fmt: skip
@click.option("--no-checks", is_flag=True, help="Only compute; watch for nothing but bounds.")
@click.option(
    "--ignore", "ignored", type=click.Choice(KINDS), multiple=True, help="Do not report a kind.",
)  # fmt: skip
@click.option(
    "--time-limit", metavar="SECONDS", type=float, default=None, callback=finite,
    help="Give up after so much processor time, for all schedules.",
)  # fmt: skip
@click.option("--profile", "profiles", is_flag=True, help="Show what each source line costs.")
@click.option(
    "--profile-html", "page", metavar="FILE.html",
    help="Write the source with its costs as a heat map.",
)  # fmt: skip
@click.option(
    "--target", metavar="sm_XX", type=click.Choice(list(TARGETS)), default=DEFAULT_TARGET.name,
    show_default=True, help="The architecture to compile for.",
)  # fmt: skip
@asserts_option
@click.option(
    "--drop-sync", "dropped_sync", metavar="N", type=click.IntRange(min=0), multiple=True,
    help="For tests: leave out operation N of `prismc dump --after plan` (repeatable).",
)  # fmt: skip
@sync_option
@footprints_option
@compile_options
def emulate(**options: Any) -> int:
    """Run a kernel of FILE on the CPU: the PTX that ships is executed and watched for faults.

    Exit code 1 when a fault is found or an expectation fails.
    """
    # numpy and the machine are needed by this command only.
    from prismc.driver.kernels import RunError

    try:
        return _Run(options).go()
    except RunError as error:
        raise click.ClickException(str(error)) from error


class _Run:
    """One command line, step by step."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = options
        self.shown = Presentation(
            format=options["format_"], color=options["color"], max_errors=options["max_errors"]
        )
        compiling = compiler_options(
            TARGETS[options["target"]],
            options["defines"],
            options["include"],
            "nvrtc",
            options["dropped_sync"],
            options["asserts"],
            options["placement"],
            options["footprints"],
        )
        self.session = Session(replace(compiling, assumptions=True), cache=user_cache())

    def go(self) -> int:
        """The exit code."""
        from prismc.driver.arguments import make_arguments
        from prismc.driver.expectations import judge
        from prismc.driver.running import bind, new_findings

        kernel = self._kernel()
        if kernel is None:
            show_problems(self.session, self.shown, sys.stderr)
            return self.session.exit_code
        options = self.options
        arguments, poisoned = make_arguments(kernel, options["arguments"], options["seed"])
        bound = bind(kernel, arguments, poisoned)
        outcomes = self._outcomes(bound)
        findings = new_findings(outcomes)
        self._write_page(kernel, outcomes[0])
        judgements = [
            judge(text, arguments, outcome.arrays, options["rtol"])
            for text in options["expectations"]
            for outcome in outcomes
        ]
        self._save(outcomes[-1])
        self._show(kernel, outcomes, findings, judgements)
        return 1 if findings or not all(j.holds for j in judgements) else 0

    def _kernel(self) -> Kernel | None:
        """The kernel to run; None after a problem."""
        from prismc.driver.compiling import kernels_of
        from prismc.driver.kernels import RunError, choose, kernels_of_ptx
        from prismc.emulator.ptx.tree import PtxError

        options = self.options
        if (options["file"] is None) == (options["ptx"] is None):
            raise click.UsageError("name one FILE, or a PTX file with `--ptx`")
        if options["ptx"] is not None:
            root = open_root(self.session, options["ptx"])
            if root is None:
                return None
            try:
                return choose(kernels_of_ptx(root.text, root.name), options["kernel"])
            except PtxError as error:
                raise RunError(str(error)) from error
        root = open_root(self.session, options["file"])
        kernels = () if root is None else kernels_of(self.session, root)
        return None if self.session.exit_code else choose(kernels, options["kernel"])

    def _outcomes(self, bound: Any) -> list[Outcome]:
        """One run for each schedule, with progress on a terminal."""
        from prismc.driver.running import Launch, run
        from prismc.emulator.api import NO_CHECKS, Checks
        from prismc.emulator.findings import Kind
        from prismc.emulator.schedule import adversaries

        options = self.options
        off = frozenset(Kind[name.upper()] for name in options["ignored"])
        checks = NO_CHECKS if options["no_checks"] else Checks(off=off)
        launch = Launch(
            grid=options["grid"],
            block=options["block"],
            dynamic_shared=options["dynamic_shared"],
            cluster=options["cluster"] or 0,
        )
        plans = tuple(
            replace(plan, resident=options["resident"] or 0)
            for plan in adversaries(options["schedules"], options["seed"])
        )
        found = []
        blocks = prod(options["grid"])
        with progress(len(plans) * blocks, "running", "ran", least=1) as bar:
            ticks = _Ticks(bar)
            for outcome in run(
                bound,
                launch,
                plans,
                checks=checks,
                time_limit=options["time_limit"],
                profile=options["profiles"] or options["page"] is not None,
                on_tick=ticks.tell,
            ):
                found.append(outcome)
        return found

    def _write_page(self, kernel: Kernel, outcome: Outcome) -> None:
        """The profile as an HTML page, if one is wanted."""
        from prismc.driver.kernels import RunError
        from prismc.emulator.profile_report import page_of_profile

        path, profile = self.options["page"], outcome.result.profile
        if path is None or profile is None:
            return
        page = page_of_profile(profile, f"{kernel.name}: where the work goes", self._lines)
        try:
            Path(path).write_text(page, encoding="utf-8")
        except OSError as error:
            raise RunError(f"`{path}` cannot be written: {error.strerror}") from error

    def _lines(self, name: str) -> list[str] | None:
        """The lines of a source file; None if it cannot be read."""
        text = self.session.files.known(name).text
        if not text:
            try:
                text = Path(name).read_text(encoding="utf-8")
            except (OSError, ValueError):
                return None
        return text.splitlines()

    def _save(self, outcome: Outcome) -> None:
        import numpy as np

        from prismc.driver.kernels import RunError

        for name, path in self.options["saves"]:
            if name not in outcome.arrays:
                raise RunError(f"`--save {name}`: no such array")
            try:
                np.save(Path(path), outcome.arrays[name])
            except OSError as error:
                raise RunError(f"`{path}` cannot be written: {error.strerror}") from error

    def _show(
        self,
        kernel: Kernel,
        outcomes: Sequence[Outcome],
        findings: tuple[Finding, ...],
        judgements: Sequence[Judgement],
    ) -> None:
        from prismc.emulator.profile_report import record_of_profile, text_of_profile
        from prismc.emulator.report import records_of, text_of_findings

        if self.shown.format == "json":
            entry = {
                "version": 1,
                "kernel": kernel.name,
                "schedules": len(outcomes),
                "findings": records_of(findings, kernel.module),
                "expectations": [
                    {"text": j.text, "holds": j.holds, "message": j.message} for j in judgements
                ],
                "statistics": _statistics(outcomes),
            }
            if self.options["profiles"] and outcomes[0].result.profile is not None:
                entry["profile"] = record_of_profile(outcomes[0].result.profile)
            write(sys.stdout, json.dumps(entry, indent=2) + "\n")
            return
        for outcome in outcomes[:1]:
            write(sys.stdout, outcome.result.printed)
        if findings:
            text = text_of_findings(findings, kernel.module, self.session.files)
            write(sys.stdout, text + "\n")
        for text in dict.fromkeys(j.message for j in judgements if not j.holds):
            write(sys.stdout, text + "\n")
        if self.options["profiles"] and outcomes[0].result.profile is not None:
            write(sys.stdout, text_of_profile(outcomes[0].result.profile) + "\n")
        write(sys.stdout, _summary(outcomes, findings, judgements))


class _Ticks:
    """Blocks that end, as steps of a progress bar."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._before = 0

    def tell(self, finished: int, total: int, instructions: int) -> None:
        """`finished` of `total` blocks of the present run have ended."""
        done = f"{finished} of {total} blocks, {_count(instructions)} thread instructions"
        self._bar.step(done, finished - self._before)
        self._before = 0 if finished == total else finished


def _statistics(outcomes: Sequence[Outcome]) -> dict[str, float]:
    statistics = [outcome.result.statistics for outcome in outcomes]
    return {
        "thread_instructions": sum(s.thread_instructions for s in statistics),
        "seconds": round(sum(s.seconds for s in statistics), 3),
        "blocks": statistics[0].blocks,
    }


def _count(number: int) -> str:
    """A count to read: `768`, `12.3 k`, `4.2 M`."""
    if number < 1_000:
        return str(number)
    return f"{number / 1e3:.1f} k" if number < 1_000_000 else f"{number / 1e6:.1f} M"


def _summary(
    outcomes: Sequence[Outcome], findings: tuple[Finding, ...], judgements: Sequence[Judgement]
) -> str:
    """The last line: what was run, and how it went."""
    numbers = _statistics(outcomes)
    ran = f"{len(outcomes)} schedule{'s' if len(outcomes) > 1 else ''}"
    ran += f", {_count(int(numbers['thread_instructions']))} thread instructions"
    ran += f" in {numbers['seconds']:.2f} s"
    failed = sum(not j.holds for j in judgements)
    parts = [f"{len(findings)} finding{'s' if len(findings) != 1 else ''}"]
    if judgements:
        parts.append("values differ" if failed else "values agree")
    return f"{ran}: {', '.join(parts)}\n"

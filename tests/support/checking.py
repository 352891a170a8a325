"""Run the compiler in this process over texts, as `prismc check` and `prismc build` would."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from prismc.diagnostics.problem import Problem
from prismc.driver.build import Emit, build_file
from prismc.driver.options import Options
from prismc.driver.pipeline import check_file
from prismc.driver.session import Session
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS, Target


def check_texts(texts: Mapping[str, str], root: str, flags: str = "") -> Session:
    """Check `root` among the files `texts` (name: text); `flags` are command-line options."""
    targets, defines, builds, races = _read_flags(flags)
    session = Session(Options(defines=defines))
    for name, text in texts.items():
        session.files.overlay(name, text)
    for target in targets:
        session.options = Options(target=TARGETS[target], defines=defines, verify=True, races=races)
        file = session.files.known(root)
        if builds:
            build_file(session, file, (TARGETS[target],), (Emit.CUBIN,), _anywhere)
        else:
            check_file(session, file)
    return session


def _anywhere(target: Target, kind: Emit) -> Path:
    """Outputs stay in memory."""
    return Path(f"{target.name}{kind.suffix}")


def all_words(problem: Problem) -> str:
    """Everything a problem says, one part a line."""
    parts = [problem.shown_message(), problem.shown_label(), problem.shown_help(), *problem.notes]
    return "\n".join(parts + [related.message for related in problem.related])


def _read_flags(flags: str) -> tuple[list[str], tuple[tuple[str, str], ...], bool, str]:
    words = shlex.split(flags)
    targets: list[str] = []
    defines: list[tuple[str, str]] = []
    builds = False
    races = "warn"
    while words:
        word = words.pop(0)
        if word == "--target":
            targets.append(words.pop(0))
        elif word == "-D":
            name, _, value = words.pop(0).partition("=")
            defines.append((name, value))
        elif word == "--races":
            races = words.pop(0)
        elif word == "--build":
            builds = True
        else:
            raise ValueError(f"unknown flag {word!r} in a test program")
    return targets or [DEFAULT_TARGET.name], tuple(defines), builds, races

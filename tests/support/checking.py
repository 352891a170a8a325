"""Run the compiler in this process over texts, as `prismc check` and `prismc build` would."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from prismc.diagnostics.problem import Problem
from prismc.driver.build import Emit, build_file
from prismc.driver.options import Options
from prismc.driver.pipeline import check_file
from prismc.driver.session import Session
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS, Target


def check_texts(texts: Mapping[str, str], root: str, flags: str = "") -> Session:
    """Check `root` among the files `texts` (name: text); `flags` are command-line options."""
    read = _read_flags(flags)
    session = Session(Options(defines=read.defines))
    for name, text in texts.items():
        session.files.overlay(name, text)
    for target in read.targets:
        session.options = Options(
            target=TARGETS[target],
            defines=read.defines,
            verify=True,
            races=read.races,
            asserts=read.asserts,
            placement=read.placement,
            footprints=read.footprints,
            ptx_version=read.ptx_version,
        )
        file = session.files.known(root)
        if read.builds:
            build_file(session, file, (TARGETS[target],), (Emit.CUBIN, Emit.HEADER), _anywhere)
        else:
            check_file(session, file)
    return session


def _anywhere(target: Target | None, kind: Emit) -> Path:
    """Outputs stay in memory."""
    return Path(f"{target or 'all'}{kind.suffix}")


def all_words(problem: Problem) -> str:
    """Everything a problem says, one part a line."""
    parts = [problem.shown_message(), problem.shown_label(), problem.shown_help(), *problem.notes]
    return "\n".join(parts + [related.message for related in problem.related])


class _Flags(NamedTuple):
    targets: tuple[str, ...]
    defines: tuple[tuple[str, str], ...]
    builds: bool
    races: str
    asserts: bool
    placement: str
    footprints: str
    ptx_version: str


def _read_flags(flags: str) -> _Flags:
    words = shlex.split(flags)
    targets: list[str] = []
    defines: list[tuple[str, str]] = []
    builds, races, asserts = False, "warn", False
    placement, footprints, ptx_version = "fewest", "evaluated", "least"
    while words:
        word = words.pop(0)
        if word == "--target":
            targets.append(words.pop(0))
        elif word == "-D":
            name, _, value = words.pop(0).partition("=")
            defines.append((name, value))
        elif word == "--races":
            races = words.pop(0)
        elif word == "--sync":
            placement = words.pop(0)
        elif word == "--footprints":
            footprints = words.pop(0)
        elif word == "--ptx-version":
            ptx_version = words.pop(0)
        elif word == "--asserts":
            asserts = True
        elif word == "--build":
            builds = True
        else:
            raise ValueError(f"unknown flag {word!r} in a test program")
    named = tuple(targets) or (DEFAULT_TARGET.name,)
    return _Flags(named, tuple(defines), builds, races, asserts, placement, footprints, ptx_version)

"""What a prismc says of many programs: `answers.py RESULT` writes it as JSON, by program.

Diagnostics, plans and CUDA of the examples, of the standard library's modules and of the programs
of tests/spec, docs and the explanations. Those who compare run it with each prismc.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from prismc.checker.sync.show import show_plan
from prismc.diagnostics.record import render_json
from prismc.driver.build import Emit, build_file
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.source.resources import explain_folder, stdlib_folder
from support.checking import check_texts
from support.spec_page import Case, read_cases

ROOT = Path(__file__).resolve().parents[2]


def programs() -> Iterator[Case]:
    """All programs; a file that is no page is a program of its own."""
    for path in (*sorted((ROOT / "examples").glob("*.prism")), *sorted(stdlib_folder().iterdir())):
        texts = {"main.prism": path.read_text(encoding="utf-8")}
        yield Case(path.name, "", 0, texts, "main.prism", "", None, [], None)
    for folder in (ROOT / "tests" / "spec", ROOT / "docs", explain_folder()):
        for page in sorted(folder.glob("*.md")):
            yield from read_cases(page)


def answers(case: Case) -> list[str]:
    """The diagnostics, and of what is accepted the plan and the CUDA."""
    said = check_texts(case.texts, case.root, case.flags)
    # Each has its own copy of the library.
    found = [render_json(said.problems, said.files).replace(str(stdlib_folder()), "stdlib")]
    if said.has_errors():
        return found
    session = Session(said.options)
    for name, text in case.texts.items():
        session.files.overlay(name, text)
    file = session.files.known(case.root)
    if checked := run_stages(session, file, CHECKS):
        target = said.options.target
        found.append(show_plan(checked.program, checked.plan, session.files, target))
    built = build_file(session, file, (said.options.target,), (Emit.CUDA,), lambda *_: Path("k.cu"))
    return [*found, *((one.content.decode() for one in built.outputs) if built else ())]


def main() -> None:
    """Writes the answers of all programs."""
    found = {f"{number} {case.name}": answers(case) for number, case in enumerate(programs())}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()

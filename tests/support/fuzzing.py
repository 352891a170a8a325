"""What fuzzing asks of prismc: one function for each part, which raises where it fails.

`benchmarks/fuzz.py` and `benchmarks/fuzz_guided.py` call them with as many inputs as one likes,
`tests/fuzz` with the inputs that were kept.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

from prismc.diagnostics.problem import Problem
from prismc.diagnostics.text import render_problems
from prismc.driver.build import Emit, build_file
from prismc.driver.formatting import format_file
from prismc.driver.options import Options
from prismc.driver.pipeline import check_file
from prismc.driver.session import Session
from prismc.hardware.targets import DEFAULT_TARGET
from prismc.lsp.analysis import analyse
from prismc.lsp.completion import completions
from prismc.lsp.documents import Document
from prismc.lsp.edits import formatting_edits
from prismc.lsp.hints import inlay_hints
from prismc.lsp.hover import hover_at
from prismc.lsp.navigation import CannotRename, references, rename, target_at
from prismc.lsp.outline import folds, outline
from prismc.lsp.problems import diagnostics_by_file, fix_actions, fix_all_action
from prismc.lsp.signatures import signature_at
from prismc.lsp.tokens import semantic_tokens
from prismc.source.files import SourceFile, UnreadableFile
from support.fences import read_fences

ROOT = Path(__file__).resolve().parents[2]
NAME = "fuzz.prism"
# Between the texts that a document has one after the other.
EDIT = "\x1e"
PLACES = 5

Target = Callable[[bytes], tuple[Problem, ...]]


def programs() -> dict[str, str]:
    """The texts of `examples/` and `stdlib/` by file name."""
    folders = (ROOT / "examples", ROOT / "stdlib")
    files = sorted(path for folder in folders for path in folder.glob("*.prism"))
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def page_programs() -> Iterator[str]:
    """The programs of the pages under `tests/spec`."""
    for page in sorted((ROOT / "tests" / "spec").glob("*.md")):
        yield from (fence.text for fence in read_fences(page) if fence.language == "prism")


def check(content: bytes) -> tuple[Problem, ...]:
    """Everything up to the sync plan; what is told has a place and can be shown."""
    session, file = opened(content)
    if file is not None:
        check_file(session, file)
        judge(session)
    return session.problems


def build(content: bytes) -> tuple[Problem, ...]:
    """Everything, to a cubin that is thrown away; what checks is no fault to a CUDA compiler."""
    session, file = opened(content)
    if file is not None:
        build_file(session, file, (DEFAULT_TARGET,), (Emit.CUBIN,), lambda target, emit: Path(NAME))
        judge(session)
        refused = [each.shown_message() for each in session.problems if each.code == "P0702"]
        assert not refused, f"the CUDA compiler refuses it: {refused[0]}"
    return session.problems


def fmt(content: bytes) -> tuple[Problem, ...]:
    """A formatted file is formatted: a second pass changes nothing."""
    session, file = opened(content)
    once = None if file is None else format_file(session, file)
    if once is not None:
        again, formatted = opened(once.text.encode("utf-8"))
        assert formatted is not None
        twice = format_file(again, formatted)
        assert twice is not None
        assert twice.text == once.text
    return session.problems


def lsp(content: bytes) -> tuple[Problem, ...]:
    """A document that has the texts of `content` one after the other, and all there is to ask.

    The questions are the same for the same input.
    """
    random = Random(zlib.crc32(content))
    texts = content.decode("utf-8", "replace").split(EDIT)
    document = Document(f"file:///fuzz/{NAME}", texts[0], 1, "utf-16")
    analysed(document)
    for version, text in enumerate(texts, 1):
        if version > 1:
            document.change(text, version)
        for is_analysed in (False, True):
            if is_analysed and version > 1:
                analysed(document)
            for _ in range(PLACES):
                ask_at(document, random.randrange(len(text) + 1))
            ask_all(document)
    assert document.latest is not None
    return document.latest.problems


TARGETS: dict[str, Target] = {"check": check, "build": build, "fmt": fmt, "lsp": lsp}


def opened(content: bytes) -> tuple[Session, SourceFile | None]:
    """A session with `content` as its file; None where it is no UTF-8."""
    session = Session(Options(verify=True))
    with suppress(UnreadableFile):
        return session, session.files.overlay_bytes(NAME, content)
    return session, None


def judge(session: Session) -> None:
    """Every problem has a place in its file and can be shown."""
    for problem in session.problems:
        assert problem.at.file, f"without a place: {problem.code}"
        text = session.files.known(problem.at.file).text
        assert 0 <= problem.at.start <= problem.at.end <= len(text), problem.code
    render_problems(session.problems, session.files, max_errors=50)


def analysed(document: Document) -> None:
    """Check the document and show what is found, as the server does."""
    texts = {document.name: document.text}
    found = analyse(document.name, document.version, texts, Options())
    document.learn(found)
    diagnostics_by_file(found.problems, found.files, document.name, document.encoding)


def ask_at(document: Document, offset: int) -> None:
    """The questions about a place."""
    hover_at(document, offset)
    completions(document, offset, Options(), {})
    signature_at(document, offset, Options(), {})
    target = target_at(document, offset)
    if target is not None:
        references(target, [target.view.analysis])
    with suppress(CannotRename):
        rename(document, offset, "fresh", Options())


def ask_all(document: Document) -> None:
    """The questions about the file."""
    end = len(document.text)
    outline(document)
    folds(document)
    semantic_tokens(document)
    formatting_edits(document)
    fix_all_action(document)
    inlay_hints(document, 0, end)
    fix_actions(document, 0, end)

"""Fuzz `check` or `fmt`, guided by coverage: inputs that reach new code are changed further.

    pip install '.[fuzz]'
    python benchmarks/fuzz_guided.py check --seconds 3600 [--corpus FOLDER]
    python benchmarks/fuzz_guided.py fmt --seconds 600

The start is every program of `examples/`, `stdlib/`, `tests/fuzz/seeds/` and the pages under
`tests/spec`. An exception, a file that takes more than 20 s, or a formatted file that formats
differently ends the run: the input is written to the corpus folder as `crash-..` or `timeout-..`;
put it into `tests/fuzz/seeds/` when it is mended. Libfuzzer prints what it covers (`cov`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

with atheris.instrument_imports(include=["prismc"]):
    # What the stages import when they run is instrumented only if it is imported here.
    import prismc.checker.check
    import prismc.frontend.format
    import prismc.frontend.modules  # noqa: F401
    from prismc.diagnostics.text import render_problem
    from prismc.driver.formatting import format_file
    from prismc.driver.options import Options
    from prismc.driver.pipeline import check_file
    from prismc.driver.session import Session
    from prismc.source.files import SourceFile

from support.fences import read_fences  # noqa: E402
from support.mutations import mutate  # noqa: E402

LONGEST = 20_000
SECONDS_A_FILE = 20
# The fuzzer runs in the first thread, whose stack is the usual 8 MB.
MOST_FRAMES = 8_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=Path, default=None)
    options = parser.parse_args()
    corpus = options.corpus or Path(tempfile.mkdtemp(prefix="prismc-fuzz-"))
    corpus.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(start()):
        (corpus / f"start-{number}").write_text(text, encoding="utf-8")
    sys.setrecursionlimit(MOST_FRAMES)
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={options.seconds}",
            f"-timeout={SECONDS_A_FILE}",
            f"-max_len={LONGEST}",
            "-rss_limit_mb=2000",
            f"-artifact_prefix={corpus}/",
            str(corpus),
        ],
        TARGETS[options.target],
        custom_mutator=changed,
    )
    atheris.Fuzz()


def start() -> list[str]:
    """The programs that the fuzzer begins with."""
    folders = (ROOT / "examples", ROOT / "stdlib", ROOT / "tests" / "fuzz" / "seeds")
    files = sorted(path for folder in folders for path in folder.glob("*.prism"))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    for page in sorted((ROOT / "tests" / "spec").glob("*.md")):
        texts += [fence.text for fence in read_fences(page) if fence.language == "prism"]
    return texts


def changed(data: bytes, longest: int, seed: int) -> bytes:
    """An input with words, lines or brackets exchanged; now and then with single bytes."""
    if seed % 8 == 0:
        return bytes(atheris.Mutate(data, longest))
    return mutate(data.decode("utf-8", "replace"), seed)[:longest]


def check(data: bytes) -> None:
    """Everything up to the sync plan; what is told has a place and can be shown."""
    session, file = opened(data)
    if file is None:
        return
    check_file(session, file)
    for problem in session.problems[:20]:
        assert problem.at.file
        render_problem(problem, session.files)


def fmt(data: bytes) -> None:
    """A formatted file is formatted: a second pass changes nothing."""
    session, file = opened(data)
    if file is None:
        return
    once = format_file(session, file)
    if once is None:
        return
    again, formatted = opened(once.text.encode("utf-8"))
    assert formatted is not None
    twice = format_file(again, formatted)
    assert twice is not None
    assert twice.text == once.text


def opened(data: bytes) -> tuple[Session, SourceFile | None]:
    """A session with the input as its file; None where it is no UTF-8."""
    session = Session(Options())
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return session, None
    return session, session.files.overlay("fuzz.prism", text)


TARGETS: dict[str, Callable[[bytes], None]] = {"check": check, "fmt": fmt}

if __name__ == "__main__":
    main()

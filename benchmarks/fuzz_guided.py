"""Fuzz a part of prismc, guided by coverage: inputs that reach new code are changed further.

    pip install '.[fuzz]'
    python benchmarks/fuzz_guided.py check|fmt|lsp --seconds 3600 [--corpus FOLDER]

The start is every program of `examples/`, `stdlib/`, `tests/fuzz/seeds/` and the pages under
`tests/spec`. For `lsp` an input is the texts that a document has one after the other. An input at
which prismc raises, or that formats differently a second time, is written to the corpus folder as
`fault-..`, the first of each kind; an input that takes two minutes ends the run as `timeout-..`.
Put them into `tests/fuzz/seeds/` when they are mended. Libfuzzer prints what it covers (`cov`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
import zlib
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

with atheris.instrument_imports(include=["prismc"]):
    # What the stages import when they run is instrumented only if it is imported here.
    import prismc.checker.check
    import prismc.frontend.format
    import prismc.frontend.modules  # noqa: F401
    from support.fuzzing import EDIT, TARGETS, page_programs, programs

from support.mutations import mutate  # noqa: E402

LONGEST = 20_000
MOST_EDITS = 4
SECONDS_AN_INPUT = 120
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
    for number, content in enumerate(start()):
        (corpus / f"start-{number}").write_bytes(content)
    sys.setrecursionlimit(MOST_FRAMES)
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={options.seconds}",
            f"-timeout={SECONDS_AN_INPUT}",
            f"-max_len={LONGEST}",
            "-rss_limit_mb=2000",
            f"-artifact_prefix={corpus}/",
            str(corpus),
        ],
        Judge(options.target, corpus).judge,
        custom_mutator=edited if options.target == "lsp" else changed,
    )
    atheris.Fuzz()


def start() -> list[bytes]:
    """The programs that the fuzzer begins with."""
    texts = [text.encode() for text in (*programs().values(), *page_programs())]
    return texts + [path.read_bytes() for path in sorted((ROOT / "tests/fuzz/seeds").iterdir())]


class Judge:
    """Runs a target and keeps the first input of each fault, so that the run goes on."""

    def __init__(self, target: str, corpus: Path) -> None:
        self.target, self.corpus = target, corpus
        self.known: set[str] = set()

    def judge(self, content: bytes) -> None:
        try:
            TARGETS[self.target](content)
        except Exception as fault:  # noqa: BLE001 - this is what fuzzing looks for
            frame = traceback.extract_tb(fault.__traceback__)[-1]
            kind = f"{type(fault).__name__} {frame.filename}:{frame.lineno}"
            if kind not in self.known:
                self.known.add(kind)
                path = self.corpus / f"fault-{self.target}-{zlib.crc32(content):08x}"
                path.write_bytes(content)
                print(f"FAULT {kind} {path}", traceback.format_exc(limit=-8), flush=True)


def changed(data: bytes, longest: int, seed: int) -> bytes:
    """An input with words, lines or brackets exchanged; now and then with single bytes."""
    if seed % 8 == 0:
        return bytes(atheris.Mutate(data, longest))
    return mutate(data.decode("utf-8", "replace"), seed)[:longest]


def edited(data: bytes, longest: int, seed: int) -> bytes:
    """An input with one text more, made from one of the others, or with one text changed."""
    texts = data.decode("utf-8", "replace").split(EDIT)
    chosen = seed % len(texts)
    new = mutate(texts[chosen], seed).decode("utf-8", "replace")
    if len(texts) <= MOST_EDITS and seed % 3:
        texts.append(new)
    else:
        texts[chosen] = new
    result = EDIT.join(texts).encode()
    return result if len(result) <= longest else new.encode()[:longest]


if __name__ == "__main__":
    main()

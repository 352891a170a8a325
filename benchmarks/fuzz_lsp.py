"""Edit many programs at random and ask the language server's parts about them all the while.

    python benchmarks/fuzz_lsp.py --count 1000 [--extremes]

A session opens a program of `examples/` or `stdlib/`, changes it four times by the mutations of
`tests/support/mutations.py`, each on top of the last or of the original, and asks everything there
is to ask at random places, before and after the check of each text. The same for the same seed.
Exit code 1 when anything raises, or takes more than 5 s of processor time.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from prismc.cli.entry import RECURSION_LIMIT, STACK_SIZES  # noqa: E402
from prismc.driver.options import Options  # noqa: E402
from prismc.lsp.analysis import analyse  # noqa: E402
from prismc.lsp.completion import completions  # noqa: E402
from prismc.lsp.documents import Document  # noqa: E402
from prismc.lsp.edits import formatting_edits  # noqa: E402
from prismc.lsp.hints import inlay_hints  # noqa: E402
from prismc.lsp.hover import hover_at  # noqa: E402
from prismc.lsp.navigation import CannotRename, references, rename, target_at  # noqa: E402
from prismc.lsp.outline import folds, outline  # noqa: E402
from prismc.lsp.problems import diagnostics_by_file, fix_actions, fix_all_action  # noqa: E402
from prismc.lsp.signatures import signature_at  # noqa: E402
from prismc.lsp.tokens import semantic_tokens  # noqa: E402
from support.mutations import extremes, mutate  # noqa: E402

SECONDS = 5
CHANGES, PLACES = 4, 5
OPTIONS = Options()


class Slowest(NamedTuple):
    """The question that took longest, in seconds of processor time."""

    seconds: float
    what: str


class Asker:
    """Asks about one document and keeps the slowest answer."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.slowest = Slowest(0.0, "")

    def timed(self, what: str, ask: Callable[[], object]) -> None:
        started = time.thread_time()
        ask()
        self.slowest = max(self.slowest, Slowest(time.thread_time() - started, what))

    def check(self) -> None:
        document = self.document
        texts = {document.name: document.text}
        found = analyse(document.name, document.version, texts, OPTIONS)
        document.learn(found)
        diagnostics_by_file(found.problems, found.files, document.name, document.encoding)

    def at(self, offset: int) -> None:
        """The questions about a place."""
        document = self.document
        self.timed("hover", lambda: hover_at(document, offset))
        self.timed("completion", lambda: completions(document, offset, OPTIONS, {}))
        self.timed("signature", lambda: signature_at(document, offset, OPTIONS, {}))
        target = target_at(document, offset)
        if target is not None:
            self.timed("references", lambda: references(target, [target.view.analysis]))
        self.timed("rename", lambda: renamed(document, offset))

    def everywhere(self) -> None:
        """The questions about the file."""
        document, end = self.document, len(self.document.text)
        for ask in (outline, folds, semantic_tokens, formatting_edits, fix_all_action):
            self.timed(ask.__name__, lambda ask=ask: ask(document))
        self.timed("hints", lambda: inlay_hints(document, 0, end))
        self.timed("fixes", lambda: fix_actions(document, 0, end))


def renamed(document: Document, offset: int) -> None:
    with suppress(CannotRename):
        rename(document, offset, "fresh", OPTIONS)


def session(name: str, source: str, seed: int) -> Slowest:
    """One program that is edited."""
    random = Random(seed)
    document = Document(f"file:///fuzz/{name}", source, 1, "utf-16")
    asker = Asker(document)
    asker.check()
    for version in range(2, 2 + CHANGES):
        before = document.text if random.random() < 0.5 else source
        document.change(mutate(before, random.randrange(1 << 30)).decode(errors="replace"), version)
        for _ in range(2):
            for _ in range(PLACES):
                asker.at(random.randrange(len(document.text) + 1))
            asker.everywhere()
            asker.check()
    return asker.slowest


def extreme(name: str) -> Slowest:
    """A file that is all of one kind."""
    text = extremes()[name].decode(errors="replace")
    asker = Asker(Document(f"file:///fuzz/{name}.prism", text, 1, "utf-16"))
    asker.check()
    for place in (0, len(text) // 2, len(text)):
        asker.at(place)
    asker.everywhere()
    return asker.slowest


def run(options: argparse.Namespace, faults: list[str]) -> None:
    paths = [
        *sorted((ROOT / "examples").glob("*.prism")),
        *sorted((ROOT / "stdlib").glob("*.prism")),
    ]
    work: list[tuple[str, Callable[[], Slowest]]] = []
    for seed in range(options.first, options.first + options.count):
        path = paths[seed % len(paths)]
        text = path.read_text(encoding="utf-8")
        work.append(
            (f"{path.name} seed {seed}", lambda p=path, t=text, s=seed: session(p.name, t, s))
        )
    if options.extremes:
        work += [(name, lambda n=name: extreme(n)) for name in extremes()]
    slowest = (Slowest(0.0, ""), "")
    for name, ask in work:
        try:
            took = ask()
        except Exception:  # noqa: BLE001 - this is what fuzzing looks for
            faults.append(f"{name}\n{traceback.format_exc(limit=-8)}")
            continue
        slowest = max(slowest, (took, name))
        if took.seconds > SECONDS:
            faults.append(f"{name}: {took.what} took {took.seconds:.1f} s")
    seconds, what = slowest[0]
    print(f"{len(work)} sessions; slowest answer {seconds:.2f} s: {what}, {slowest[1]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100, help="how many sessions")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--extremes", action="store_true", help="files all of one kind, too")
    options = parser.parse_args()
    faults: list[str] = []
    # As in the server, whose checks run in threads with this much stack.
    sys.setrecursionlimit(RECURSION_LIMIT)
    threading.stack_size(STACK_SIZES[-1])
    thread = threading.Thread(target=run, args=(options, faults))
    thread.start()
    thread.join()
    for fault in faults[:20]:
        print(f"--- {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""The state of a server: the open files, their analyses, and when the next is due.

One analysis runs at a time, in a thread of its own, so that questions are answered meanwhile from
the last. What is typed during it makes it stale: it is kept for questions, and not shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from prismc.driver.options import Options
from prismc.frontend.errors import MissingModule
from prismc.lsp.analysis import Analysis, analyse
from prismc.lsp.documents import Document

DELAY = 0.12  # seconds of rest before a changed file is checked


class Workspace:
    """The open files by URI. `told` is called with a document that learnt something new about its
    text of now, `failed` with what a check raised, which is a defect of ours."""

    def __init__(
        self,
        options: Options,
        told: Callable[[Document], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self.options = options
        self.encoding = "utf-16"
        self.documents: dict[str, Document] = {}
        self._told = told
        self._failed = failed
        self._resting: dict[str, asyncio.TimerHandle] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="prismc-check")

    def texts(self) -> Mapping[str, str]:
        """The texts of the open files by the compiler's names for them."""
        return {document.name: document.text for document in self.documents.values()}

    def by_name(self, name: str) -> Document | None:
        """The open file that the compiler calls `name`."""
        return next((d for d in self.documents.values() if d.name == name), None)

    def analyses(self) -> Iterator[Analysis]:
        """The newest analysis of each open file."""
        for document in self.documents.values():
            if document.latest is not None:
                yield document.latest

    # ------------------------------------------------------------------ changes

    def open(self, uri: str, text: str, version: int) -> None:
        """A file was opened."""
        document = self.documents[uri] = Document(uri, text, version, self.encoding)
        self._schedule(uri)
        self._check_importers(document)

    def change(self, uri: str, text: str, version: int) -> None:
        """The text of an open file is another now: it is checked, and what imports it."""
        document = self.documents.get(uri)
        if document is None:
            return
        document.change(text, version)
        self._schedule(uri)
        self._check_importers(document)

    def close(self, uri: str) -> None:
        """A file was closed: the disk has its text again."""
        document = self.documents.pop(uri, None)
        self._forget(uri)
        if document is not None:
            self._check_importers(document)

    def _check_importers(self, document: Document) -> None:
        for other in self.documents.values():
            if other is not document and _may_import(other, document.name):
                self._schedule(other.uri)

    def check_all(self) -> None:
        """Files appeared, vanished or changed on the disk: any import may be affected."""
        for uri in self.documents:
            self._schedule(uri)

    def stop(self) -> None:
        """No more checks."""
        for uri in list(self._resting):
            self._forget(uri)
        self._worker.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------------ checking

    def _schedule(self, uri: str) -> None:
        """Check a file when it has rested for a while: each change begins the rest anew."""
        self._forget(uri)
        loop = asyncio.get_running_loop()
        self._resting[uri] = loop.call_later(DELAY, self._start, uri)

    def _forget(self, uri: str) -> None:
        rest = self._resting.pop(uri, None)
        if rest is not None:
            rest.cancel()

    def _start(self, uri: str) -> None:
        del self._resting[uri]
        task = asyncio.get_running_loop().create_task(self._check(self.documents[uri]))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _check(self, document: Document) -> None:
        loop = asyncio.get_running_loop()
        version, texts = document.version, self.texts()
        try:
            analysis = await loop.run_in_executor(
                self._worker, self._analysis, document, version, texts
            )
        except Exception as error:  # noqa: BLE001 - a defect of ours must not end the session
            self._failed(error)
            return
        if analysis is not None and self.documents.get(document.uri) is document:
            document.learn(analysis)
            if version == document.version:
                self._told(document)

    def _analysis(
        self, document: Document, version: int, texts: Mapping[str, str]
    ) -> Analysis | None:
        """In the worker: the check, unless the text changed again while it waited its turn."""
        if document.version != version:
            return None
        return analyse(document.name, version, texts, self.options)


def _may_import(document: Document, name: str) -> bool:
    """Whether a file's program has another file in it, as it was last seen, or lacks one."""
    latest = document.latest
    if latest is None:
        return False  # its first check is still to come
    lacks = any(isinstance(problem, MissingModule) for problem in latest.problems)
    return lacks or latest.module_of(name) is not None

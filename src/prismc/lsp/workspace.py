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
        self._pending: dict[str, asyncio.Task[None]] = {}
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
        task = self._pending.pop(uri, None)
        if task is not None:
            task.cancel()
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
        for task in self._pending.values():
            task.cancel()
        self._worker.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------------ checking

    def _schedule(self, uri: str) -> None:
        waiting = self._pending.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._pending[uri] = asyncio.get_running_loop().create_task(self._check(uri))

    async def _check(self, uri: str) -> None:
        await asyncio.sleep(DELAY)
        document = self.documents[uri]
        loop = asyncio.get_running_loop()
        try:
            analysis = await loop.run_in_executor(
                self._worker,
                analyse,
                document.name,
                document.version,
                self.texts(),
                self.options,
            )
        except Exception as error:  # noqa: BLE001 - a defect of ours must not end the session
            self._failed(error)
            return
        if self.documents.get(uri) is document:
            document.learn(analysis)
            if analysis.version == document.version:
                self._told(document)


def _may_import(document: Document, name: str) -> bool:
    """Whether a file's program has another file in it, as it was last seen, or lacks one."""
    latest = document.latest
    if latest is None:
        return False  # its first check is still to come
    lacks = any(isinstance(problem, MissingModule) for problem in latest.problems)
    return lacks or latest.module_of(name) is not None

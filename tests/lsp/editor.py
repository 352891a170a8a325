"""An editor for tests: pygls' client, which speaks the protocol to `prismc lsp` over pipes.

It runs in an event loop of its own, which stands still between calls.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

T = TypeVar("T")
PATIENCE = 90  # seconds


class Editor:
    """A client and its open files. Diagnostics are kept as they come, by URI."""

    def __init__(self, folder: Path, encodings: list[str] | None = None, **options: Any) -> None:
        self.folder = folder
        self.client = LanguageClient("tests", "1")
        self.loop = asyncio.new_event_loop()
        self.diagnostics: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.log: list[str] = []
        self._versions: dict[str, int] = {}
        self._arrived = asyncio.Event()
        self._listen()
        self.do(self.client.start_io(sys.executable, "-m", "prismc", "lsp"))
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        rename = types.RenameClientCapabilities(prepare_support=True)
        snippets = types.ClientCompletionItemOptions(snippet_support=True)
        completion = types.CompletionClientCapabilities(completion_item=snippets)
        texts = types.TextDocumentClientCapabilities(rename=rename, completion=completion)
        capabilities = types.ClientCapabilities(general=general, text_document=texts)
        params = types.InitializeParams(
            capabilities=capabilities, root_uri=folder.as_uri(), initialization_options=options
        )
        self.server = self.do(self.client.initialize_async(params)).capabilities
        self.client.initialized(types.InitializedParams())

    def _listen(self) -> None:
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = params
            self._arrived.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def logged(params: types.LogMessageParams) -> None:
            self.log.append(params.message)
            self._arrived.set()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a request."""
        return self.loop.run_until_complete(asyncio.wait_for(work, PATIENCE))

    def stop(self) -> int | None:
        """End the session as the protocol has it; returns the server's exit code."""
        self.do(self.client.shutdown_async(None))
        self.client.exit(None)
        process = self.client._server
        assert process is not None
        code = self.do(process.wait())
        errors = self.do(process.stderr.read()) if process.stderr is not None else b""
        assert b"Traceback" not in errors, errors.decode()
        self.do(self.client.stop())
        self.loop.close()
        return code

    # ------------------------------------------------------------------ files

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str, text: str) -> list[types.Diagnostic]:
        """Open a file; returns the diagnostics of its text."""
        uri = self.uri(name)
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, "prism", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return self.checked(name)

    def change(self, name: str, text: str, *, wait: bool = True) -> list[types.Diagnostic]:
        """Replace the text of a file; returns the diagnostics of the new one."""
        uri = self.uri(name)
        self._versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self._versions[uri], uri=uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        return self.checked(name) if wait else []

    def close(self, name: str) -> None:
        self._versions.pop(self.uri(name), None)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document(name)))

    def checked(self, name: str) -> list[types.Diagnostic]:
        """Wait for the diagnostics of the newest text of a file."""
        uri, version = self.uri(name), self._versions[self.uri(name)]
        return self.wait(lambda: self._current(uri, version))

    def _current(self, uri: str, version: int) -> list[types.Diagnostic] | None:
        params = self.diagnostics.get(uri)
        if params is None or params.version != version:
            return None
        return list(params.diagnostics)

    def wait(self, found: Any) -> Any:
        """Wait until a function of what has arrived returns something that is not None."""

        async def until() -> Any:
            while (value := found()) is None:
                assert not self.log, self.log
                self._arrived.clear()
                await self._arrived.wait()
            return value

        return self.do(until())

    # ------------------------------------------------------------------ questions

    def hover(self, name: str, at: types.Position) -> str:
        """The hover text at a place, "" without one."""
        params = types.HoverParams(self.document(name), at)
        found = self.do(self.client.text_document_hover_async(params))
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def labels(self, name: str, at: types.Position) -> list[str]:
        """The completions at a place, in the order in which an editor shows them."""
        items = sorted(self.items(name, at), key=lambda i: i.sort_text or i.label)
        return [item.label for item in items]

    def items(self, name: str, at: types.Position) -> list[types.CompletionItem]:
        params = types.CompletionParams(self.document(name), at)
        found = self.do(self.client.text_document_completion_async(params))
        assert isinstance(found, types.CompletionList)
        return list(found.items)


def place(text: str, needle: str, after: int = 0, nth: int = 0) -> types.Position:
    """Where the nth `needle` of a text starts, `after` characters on; the text is ASCII."""
    offset = -1
    for _ in range(nth + 1):
        offset = text.index(needle, offset + 1)
    offset += after
    return types.Position(text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1))


def applied(text: str, edits: Any) -> str:
    """A text after edits, which are those of one answer; the text is ASCII."""
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    spans = sorted(
        (lines[e.range.start.line] + e.range.start.character,
         lines[e.range.end.line] + e.range.end.character, e.new_text)
        for e in edits
    )  # fmt: skip
    for start, end, new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text

"""The language server: what the protocol asks, handed to the module that answers it.

Texts come whole with each change: a Prism file is small, and the answer to an edit is a whole check
anyway. Places go through `positions.py` alone.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from typing import Any, Protocol

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from prismc.driver.options import Options
from prismc.lsp.board import Board
from prismc.lsp.completion import completions, without_snippet
from prismc.lsp.documents import Document, file_name, file_uri
from prismc.lsp.edits import edits_within, formatting_edits
from prismc.lsp.hints import inlay_hints
from prismc.lsp.hover import hover_at
from prismc.lsp.navigation import (
    CannotRename,
    references,
    references_on_disk,
    rename,
    rename_spans,
    target_at,
)
from prismc.lsp.outline import folds, outline
from prismc.lsp.positions import Places
from prismc.lsp.problems import FIX_ALL, diagnostics_by_file, fix_actions, fix_all_action
from prismc.lsp.settings import with_settings
from prismc.lsp.signatures import signature_at
from prismc.lsp.tokens import LEGEND, semantic_tokens
from prismc.lsp.workspace import Workspace
from prismc.source.files import Files, UnreadableFile
from prismc.source.span import Span
from prismc.source.version import VERSION


class At(Protocol):
    """A request about a place."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


class Server(LanguageServer):
    """One session with an editor. `options` may be changed by the client's initialization options:
    `target`, `races`, `include`, `defines`."""

    def __init__(self, options: Options) -> None:
        super().__init__("prismc", VERSION, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.files = Workspace(options, self.show, self.tell_defect)
        self.board = Board()
        self.is_shut_down = False
        self.takes_snippets = False

    # ------------------------------------------------------------------ to the client

    def show(self, document: Document) -> None:
        """Publish what a check found."""
        assert document.latest is not None
        found = diagnostics_by_file(
            document.latest.problems, document.latest.files, document.name, self.files.encoding
        )
        self.publish(self.board.put(document.name, found))

    def publish(self, names: list[str]) -> None:
        """Send the diagnostics of some files."""
        for name in names:
            document = self.files.by_name(name)
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    uri=self.uri_of(name),
                    diagnostics=self.board.shown(name),
                    version=document.version if document is not None else None,
                )
            )

    def tell_defect(self, error: Exception) -> None:
        """A check raised: the client's log gets the details."""
        details = "".join(traceback.format_exception(error, limit=-20))
        message = f"prismc {VERSION}: internal error, a defect of prismc:\n{details}"
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    def warn(self, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    # ------------------------------------------------------------------ places

    def uri_of(self, name: str) -> str:
        """The client's URI of an open file, or that of its path."""
        document = self.files.by_name(name)
        return document.uri if document is not None else file_uri(name)

    def find(self, params: At) -> tuple[Document, int] | None:
        """The document and the place that a request names."""
        document = self.files.documents.get(params.text_document.uri)
        return None if document is None else (document, document.places.offset(params.position))

    def location(self, span: Span) -> types.Location:
        """A span in the text of now: of an open file the editor's, else the disk's."""
        document = self.files.by_name(span.file)
        if document is not None:
            view = next(document.views(), None)
            moved = view.shift.span_to_new(span.start, span.end) if view is not None else None
            range_ = document.places.range(*(moved or (span.start, span.end)))
            return types.Location(document.uri, range_)
        try:
            text = Files().read(span.file).text
        except UnreadableFile:
            text = ""
        places = Places(text, self.files.encoding)
        return types.Location(file_uri(span.file), places.range(span.start, span.end))

    def folders(self) -> list[str]:
        """The folders of the client's workspace."""
        root = self.workspace.root_path
        named = [file_name(folder.uri) for folder in self.workspace.folders.values()]
        return named or ([root] if root else [])

    # ------------------------------------------------------------------ options

    def configure(self, settings: object) -> None:
        """Take the options that a client gives; what is wrong with them is shown to the user."""
        self.files.options = with_settings(
            self.files.options, settings, lambda message: self.warn(f"prismc: {message}")
        )


def make_server(options: Options) -> Server:
    """A server with all that it can do."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_defect)
    server = Server(options)
    _life_cycle(server)
    _reading(server)
    _names(server)
    _writing(server)
    _looks(server)
    return server


# --------------------------------------------------------------------------- life cycle


def _life_cycle(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.files.encoding = _text(server.workspace.position_encoding)
        item = get_capability(params.capabilities, "text_document.completion.completion_item")
        server.takes_snippets = bool(item is not None and item.snippet_support)
        server.configure(params.initialization_options)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.files.stop()
        server.is_shut_down = True

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        given = params.text_document
        server.files.open(given.uri, given.text, given.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        for change in params.content_changes[-1:]:
            server.files.change(params.text_document.uri, change.text, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        document = server.files.documents.get(params.text_document.uri)
        server.files.close(params.text_document.uri)
        if document is not None:
            server.publish(server.board.put(document.name, {}))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def on_disk(_: types.DidChangeWatchedFilesParams) -> None:
        server.files.check_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        server.configure(settings.get("prismc") if isinstance(settings, Mapping) else None)
        server.files.check_all()


# --------------------------------------------------------------------------- reading


def _reading(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        found = server.find(params)
        told = hover_at(*found) if found is not None else None
        if found is None or told is None:
            return None
        return types.Hover(
            contents=types.MarkupContent(types.MarkupKind.Markdown, told.text),
            range=None if told.span is None else found[0].places.range(*told.span),
        )

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = server.files.documents.get(params.text_document.uri)
        return outline(document) if document is not None else []

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        document = server.files.documents.get(params.text_document.uri)
        return folds(document) if document is not None else []


# --------------------------------------------------------------------------- names


def _names(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        found = server.find(params)
        target = target_at(*found) if found is not None else None
        return server.location(target.span) if target is not None else None

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def uses(params: types.ReferenceParams) -> list[types.Location]:
        found = server.find(params)
        target = target_at(*found) if found is not None else None
        if target is None or target.symbol is None:
            return []
        files = server.files
        spans = references(target, [target.view.analysis, *files.analyses()])
        spans += references_on_disk(target, server.folders(), files.texts(), files.options)
        if not params.context.include_declaration:
            spans = [span for span in spans if span != target.span]
        return [server.location(span) for span in spans]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        found = server.find(params)
        target = target_at(*found) if found is not None else None
        if found is None or target is None or target.symbol is None:
            return []
        spans = references(target, [target.view.analysis])
        own = [span for span in spans if span.file == found[0].name]
        return [types.DocumentHighlight(server.location(span).range) for span in own]

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: types.PrepareRenameParams) -> types.Range | None:
        found = server.find(params)
        if found is None:
            return None
        document, offset = found
        try:
            spans = rename_spans(document, offset)
        except CannotRename as refusal:
            raise _refused(refusal) from refusal
        here = [span for span in spans if span.start <= offset <= span.end]
        return document.places.range(here[0].start, here[0].end) if here else None

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        found = server.find(params)
        if found is None:
            return None
        document, offset = found
        try:
            spans = rename(document, offset, params.new_name, server.files.options)
        except CannotRename as refusal:
            raise _refused(refusal) from refusal
        edits = [
            types.TextEdit(document.places.range(span.start, span.end), params.new_name)
            for span in spans
        ]
        return types.WorkspaceEdit(changes={document.uri: edits})


def _is_defect(record: logging.LogRecord) -> bool:
    """Whether what the protocol's library logs is more than a refusal, which is no defect."""
    return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcException)


def _refused(refusal: CannotRename) -> JsonRpcException:
    """A well-formed request that is not carried out; editors show the text."""
    return JsonRpcException(str(refusal), types.LSPErrorCodes.RequestFailed)


# --------------------------------------------------------------------------- writing


def _writing(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=[".", "@"]),
    )
    def complete(params: types.CompletionParams) -> types.CompletionList:
        found = server.find(params)
        items = (
            completions(*found, server.files.options, server.files.texts())
            if found is not None
            else []
        )
        if not server.takes_snippets:
            items = [without_snippet(item) for item in items]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        types.SignatureHelpOptions(trigger_characters=["(", ","]),
    )
    def signature(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        found = server.find(params)
        if found is None:
            return None
        return signature_at(*found, server.files.options, server.files.texts())

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        document = server.files.documents.get(params.text_document.uri)
        return formatting_edits(document) if document is not None else []

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    def formatted_range(params: types.DocumentRangeFormattingParams) -> list[types.TextEdit]:
        document = server.files.documents.get(params.text_document.uri)
        if document is None:
            return []
        return edits_within(formatting_edits(document), params.range)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.files.documents.get(params.text_document.uri)
        if document is None:
            return []
        start = document.places.offset(params.range.start)
        end = document.places.offset(params.range.end)
        found = fix_actions(document, start, end)
        all_at_once = fix_all_action(document)
        if all_at_once is not None:
            found.append(all_at_once)
        wanted = params.context.only
        return [a for a in found if wanted is None or _is_wanted(a.kind, wanted)]


def _is_wanted(kind: str | None, wanted: Any) -> bool:
    """Whether a kind is one of those asked for, or below one (`source` has `source.fixAll`)."""
    return any(kind == each or str(kind).startswith(f"{each}.") for each in map(_text, wanted))


def _text(kind: Any) -> str:
    return str(getattr(kind, "value", kind))


# --------------------------------------------------------------------------- looks


def _looks(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens:
        document = server.files.documents.get(params.text_document.uri)
        return semantic_tokens(document) if document is not None else types.SemanticTokens(data=[])

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.files.documents.get(params.text_document.uri)
        if document is None:
            return []
        start = document.places.offset(params.range.start)
        return inlay_hints(document, start, document.places.offset(params.range.end))

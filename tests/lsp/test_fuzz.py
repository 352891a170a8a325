"""Random edits and random questions: the server answers every one, and its checks never fail."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from lsprotocol import types

from lsp.editor import Editor
from support.mutations import mutate

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("histogram", "bf16_matmul", "row_softmax")
EDITS = 12


@pytest.mark.parametrize("name", PROGRAMS)
def test_random_edits(editor: Editor, name: str) -> None:
    source = (ROOT / "examples" / f"{name}.prism").read_text(encoding="utf-8")
    random = Random(name)
    file = f"{name}.prism"
    editor.open(file, source)
    for seed in range(EDITS):
        text = mutate(source, seed).decode("utf-8", "replace")
        editor.change(file, text, wait=seed % 3 == 0)
        lines = text.count("\n") + 2
        for _ in range(3):
            at = types.Position(random.randrange(lines), random.randrange(60))
            ask_all(editor, file, at)
    assert editor.change(file, source) == []


def ask_all(editor: Editor, file: str, at: types.Position) -> None:
    """Every request there is; an error in the answer raises here."""
    client, document = editor.client, editor.document(file)
    everything = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    options = types.FormattingOptions(tab_size=4, insert_spaces=True)
    context = types.CodeActionContext(diagnostics=[])
    editor.hover(file, at)
    editor.items(file, at)
    for work in (
        client.text_document_definition_async(types.DefinitionParams(document, at)),
        client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(True), document, at)
        ),
        client.text_document_signature_help_async(types.SignatureHelpParams(document, at)),
        client.text_document_document_symbol_async(types.DocumentSymbolParams(document)),
        client.text_document_folding_range_async(types.FoldingRangeParams(document)),
        client.text_document_formatting_async(types.DocumentFormattingParams(document, options)),
        client.text_document_code_action_async(
            types.CodeActionParams(document, everything, context)
        ),
        client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document)),
        client.text_document_inlay_hint_async(types.InlayHintParams(document, everything)),
    ):
        editor.do(work)

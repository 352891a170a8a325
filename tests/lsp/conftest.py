"""One server for the tests of a module; each test opens files of its own names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lsp.editor import Editor


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    editor = Editor(tmp_path_factory.mktemp("lsp"))
    yield editor
    assert editor.stop() == 0

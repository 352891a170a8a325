"""How Sphinx makes the site of the pages that `build.py` has put together."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from prism_lexer import PrismLexer

from prismc.source.version import VERSION

project = "prismc"
author = "the prismc authors"
version = release = VERSION
html_title = f"prismc {VERSION}"
extensions = ["myst_parser"]
html_theme = "furo"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
myst_heading_anchors = 4  # headings have the anchors that GitHub gives them
nitpicky = True


def setup(app: Sphinx) -> None:
    """Teach Pygments the language of the fences."""
    app.add_lexer("prism", PrismLexer)

"""The site: every page is reached, every link leads somewhere, nothing comes from the network."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urldefrag

import pytest

from prismc.driver.catalog import codes

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "docs" / "site" / "build.py"
_LINK = re.compile(r"\[[^\[\]]*\]\((?!\w+:)([^()\s]+)\)")


def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_build", BUILD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    collected: dict[str, str] = builder().collect()
    return collected


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    heads = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


def test_pages(pages: dict[str, str]) -> None:
    assert {f"errors/{code}.md" for code in codes()} <= set(pages)
    assert all(code in pages["errors/index.md"] for code in codes())
    for module in (ROOT / "stdlib").glob("*.prism"):
        text = pages[f"stdlib/{module.stem}.md"]
        offered = re.findall(r"^(?:unsafe )?def ([a-z]\w*)", module.read_text(), re.MULTILINE)
        assert [name for name in offered if f"\n## {name}\n" not in text] == []
    assert "## prismc check\n" in pages["commands.md"]


def test_links_lead_to_pages(pages: dict[str, str]) -> None:
    broken = []
    for name, text in pages.items():
        for link in _LINK.findall(re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)):
            path, anchor = urldefrag(link)
            place = Path(name).parent / path if path else Path(name)
            target = str(Path(*place.parts))
            is_schema = target.endswith(".json") and (ROOT / "docs" / target).is_file()
            is_page = target in pages and (not anchor or anchor in anchors(pages[target]))
            if not is_schema and not is_page:
                broken.append(f"{name}: {link}")
    assert broken == []


class Links(HTMLParser):
    """What a page points to, and the places in it that others may point to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.links.append((tag, value))
            elif key in ("id", "name") and value:
                self.ids.add(value)


@pytest.mark.nightly
def test_site(tmp_path: Path) -> None:
    command = [sys.executable, str(BUILD), "-o", str(tmp_path)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")
    html = tmp_path / "html"
    found = {file: Links(file.read_text()) for file in html.rglob("*.html")}
    assert len(found) > 250
    broken = []
    for file, page in found.items():
        for tag, link in page.links:
            if re.match(r"\w+:", link):
                assert tag == "a", f"{file.name} loads {link}"
                continue
            path, anchor = urldefrag(unquote(link))
            path = path.partition("?")[0]  # a version, against stale caches
            target = (file.parent / path).resolve() if path else file
            is_there = target.is_file() or (target / "index.html").is_file()
            if not is_there or (anchor and target in found and anchor not in found[target].ids):
                broken.append(f"{file.relative_to(html)}: {link}")
    assert broken == []

"""Verdicts on tests as text, as JUnit XML, as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from prismc.driver.testing.collect import Case
from prismc.driver.testing.run import Verdict

Results = Sequence[tuple[Case, Verdict]]

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def line_of(case: Case, verdict: Verdict) -> str:
    """One test's line, and below it what is at fault."""
    word = "ok  " if verdict.is_passed else "FAIL"
    lines = [f"  {word}  {case.name}  {verdict.seconds:.2f} s"]
    for failure in verdict.failures:
        lines += [f"        {row}".rstrip() for row in failure.strip("\n").split("\n")]
    return "\n".join(lines) + "\n"


def summary(results: Results, seconds: float) -> str:
    """`2 passed, 1 failed in 1.2 s`."""
    failed = sum(not verdict.is_passed for _, verdict in results)
    parts = [f"{len(results) - failed} passed"] + ([f"{failed} failed"] if failed else [])
    return f"{', '.join(parts)} in {seconds:.1f} s\n"


def record_of(results: Results) -> dict[str, Any]:
    """All verdicts as a JSON object."""
    return {
        "version": 1,
        "passed": sum(verdict.is_passed for _, verdict in results),
        "failed": sum(not verdict.is_passed for _, verdict in results),
        "tests": [
            {
                "file": case.file.name,
                "name": case.name,
                "target": case.options.target.name,
                "passed": verdict.is_passed,
                "seconds": verdict.seconds,
                "failures": list(verdict.failures),
                "printed": verdict.printed,
            }
            for case, verdict in results
        ],
    }


def junit(results: Results, errors: Mapping[str, Sequence[str]]) -> bytes:
    """All verdicts as JUnit XML: a suite for each file. `errors` are those that keep files from
    being tested, by the file that each is in; they stand there as a test which has not run."""
    root = ElementTree.Element("testsuites", name="prismc")
    for file, texts in errors.items():
        suite = ElementTree.SubElement(
            root, "testsuite", name=_xml(file), tests="1", failures="0", errors="1", time="0.000"
        )
        entry = ElementTree.SubElement(suite, "testcase", classname=_xml(file), name="check")
        _tell(entry, "error", "\n".join(texts))
    for file in dict.fromkeys(case.file.name for case, _ in results):
        own = [(case, verdict) for case, verdict in results if case.file.name == file]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=_xml(file),
            tests=str(len(own)),
            failures=str(sum(not verdict.is_passed for _, verdict in own)),
            errors="0",
            time=f"{sum(verdict.seconds for _, verdict in own):.3f}",
        )
        for case, verdict in own:
            _add_case(suite, case, verdict)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add_case(suite: ElementTree.Element, case: Case, verdict: Verdict) -> None:
    entry = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_xml(case.file.name),
        name=_xml(case.name),
        time=f"{verdict.seconds:.3f}",
    )
    for failure in verdict.failures:
        _tell(entry, "failure", failure)
    if verdict.printed:
        ElementTree.SubElement(entry, "system-out").text = _xml(verdict.printed)


def _tell(entry: ElementTree.Element, kind: str, text: str) -> None:
    """What is at fault, under its first line."""
    head = text.strip().partition("\n")[0]
    ElementTree.SubElement(entry, kind, message=_xml(head)).text = _xml(text)


def _xml(text: str) -> str:
    """Text without the characters that XML 1.0 cannot hold (2.2, "Characters")."""
    return _NO_XML.sub("\ufffd", text)

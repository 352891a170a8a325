"""The record of a measurement as a Markdown table and a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FORMAT = "prismc-gpu/1"


def markdown(record: Mapping[str, Any], plot: str = "") -> str:
    """A page: what was measured on, a table, and the plot's file where there is one."""
    return "\n".join(_lines(record, plot)) + "\n"


def _lines(record: Mapping[str, Any], plot: str) -> Iterator[str]:
    device, versions = record["device"], record["versions"]
    yield f"# Examples on {device['name']}"
    yield ""
    yield (
        f"Compute capability {device['capability'] / 10:.1f}, driver for CUDA {device['driver']}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + f". Medians of {record['runs']} launches with random data, after warm-up; the L2 is "
        "overwritten before each. In parentheses the time between which eight of ten lie."
    )
    yield ""
    yield "| example | sizes | ms | speed | others | ms | Prism's time over theirs |"
    yield "|---|---|---:|---:|---|---:|---:|"
    for one in record["results"]:
        yield from _rows(one)
    wrong = [one for one in record["results"] if one["wrong"]]
    if wrong:
        yield from ("", "## Wrong values", "")
        yield from (f"- `{one['name']}`: {one['wrong']}" for one in wrong)
    for heading, found in (("Failed", record["failed"]), ("Left out", record["left_out"])):
        if found:
            yield from ("", f"## {heading}", "")
            yield from (f"- {name}: {why}" for name, why in found.items())
    if plot:
        yield from ("", f"![Speed beside the best library]({plot})")


def _rows(one: Mapping[str, Any]) -> Iterator[str]:
    sizes = " x ".join(map(str, one["sizes"]))
    cells = [f"`{one['name']}`", sizes, _time(one), f"{one['speed']:.3g} {one['unit']}"]
    others = one["others"] or {"": None}
    for label, other in others.items():
        compared = [label, "", ""]
        if other is not None:
            compared = [label, _time(other), f"{one['ms'] / other['ms']:.2f}"]
        yield "| " + " | ".join([*cells, *compared]) + " |"
        cells = [""] * len(cells)


def _time(one: Mapping[str, Any]) -> str:
    low, high = one["spread"]
    return f"{one['ms']:.3f} ({low:.3f} to {high:.3f})"


def shares(record: Mapping[str, Any]) -> dict[str, float]:
    """For each example that others do too, the time of the fastest of them over Prism's."""
    return {
        one["name"]: min(other["ms"] for other in one["others"].values()) / one["ms"]
        for one in record["results"]
        if one["others"]
    }


def draw(record: Mapping[str, Any], path: Path) -> bool:
    """A bar for each example beside the fastest library, as SVG; whether there is one."""
    found = shares(record)
    if not found:
        return False
    try:
        import matplotlib
    except ImportError:
        return False

    matplotlib.use("svg")
    # The same record gives the same bytes.
    matplotlib.rcParams["svg.hashsalt"] = FORMAT
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 0.35 * len(found) + 1.2), layout="constrained")
    axes.barh(list(found), [100 * share for share in found.values()], color="#4878a8")
    axes.axvline(100, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlabel("speed in % of the fastest library's")
    axes.set_title(record["device"]["name"])
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True

"""Examples on a GPU: values against NumPy's, times beside those of libraries (`make gpu`).

    make gpu                                       # everything, into build/gpu/
    PYTHONPATH=benchmarks:tests python -m on_gpu --only sgemm
    PYTHONPATH=benchmarks:tests python -m on_gpu --report build/gpu/results.json

Where no GPU can be used it says so, and ends well. The exit code is 1 where a value is wrong or
an example failed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from on_gpu.cases import CASES
from on_gpu.device import Device, NoDevice
from on_gpu.libraries import installed
from on_gpu.measure import Measurement
from on_gpu.report import FORMAT, draw, markdown

ROOT = Path(__file__).resolve().parents[2]


def versions(modules: Mapping[str, Any]) -> dict[str, str]:
    """Of all that takes part."""
    found = {"Python": platform.python_version()}
    for name in ("prismc", "numpy", "cuda-bindings", "nvidia-cuda-nvrtc"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {name: module.__version__ for name, module in modules.items()}


def keep(record: Mapping[str, Any], folder: Path) -> None:
    """`results.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def write(record: Mapping[str, Any], folder: Path) -> None:
    """`results.json`, `results.md`, and `results.svg` where a library was there to compare with."""
    keep(record, folder)
    plot = folder / "results.svg"
    page = markdown(record, plot.name if draw(record, plot) else "")
    (folder / "results.md").write_text(page, encoding="utf-8")
    print(page)


def main(arguments: list[str] | None = None, device: Device | None = None) -> int:
    """Measure, or write the pages of an earlier record anew; 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="on_gpu", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "gpu", help="a folder")
    parser.add_argument("--only", default="", help="examples whose name holds this text")
    parser.add_argument("--runs", type=int, default=30, help="launches to time, at least 20")
    parser.add_argument("--report", type=Path, help="a record to make the pages of, no launches")
    options = parser.parse_args(arguments)
    if options.report:
        write(json.loads(options.report.read_text(encoding="utf-8")), options.output)
        return 0
    if options.runs < 20:
        parser.error("--runs: a median of fewer than 20 launches says little")
    try:
        device = device or Device()
    except NoDevice as reason:
        print(f"skipped, no GPU can be used: {reason}")
        return 0
    modules, description = installed(), device.description()
    cases = [case for case in CASES if options.only in case.name]
    measurement = Measurement(device, modules, options.runs)
    record = {
        "format": FORMAT, "device": description, "versions": versions(modules),
        "runs": options.runs, "results": measurement.results, "left_out": measurement.left_out,
        "failed": measurement.failed,
    }  # fmt: skip
    for line in measurement.run(cases, description["capability"]):
        print(line, flush=True)
        keep(record, options.output)  # whatever ends this process later
    write(record, options.output)
    return int(not measurement.is_right)


if __name__ == "__main__":
    sys.exit(main())

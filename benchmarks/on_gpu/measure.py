"""Every example once against NumPy at ragged and at large sizes, then timed beside libraries."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from on_gpu.cases import Case
from on_gpu.device import Device
from on_gpu.libraries import competitors

import prismc
from examples.launches import Launch
from prismc.hardware.targets import TARGETS


class Measurement:
    """Measures cases on a device. `modules` are the libraries to compare with, by name."""

    def __init__(self, device: Device, modules: Mapping[str, Any], runs: int) -> None:
        self._device = device
        self._modules = modules
        self._runs = runs
        self.results: list[dict[str, Any]] = []
        self.left_out: dict[str, str] = {}
        self.failed: dict[str, str] = {}

    def run(self, cases: Sequence[Case], capability: int) -> Iterator[str]:
        """Measure the cases that the device can run, and note why others are left out. A line after
        each; what fails, in whatever way, loses nothing of the rest."""
        for case in cases:
            if not _is_for(case.target, capability):
                self.left_out[case.name] = f"it is for {case.target}"
                continue
            try:
                self._measure(case)
            except Exception as error:  # noqa: BLE001 - one failure loses nothing else
                self.failed[case.name] = _told(error)
            yield self._line(case)

    @property
    def is_right(self) -> bool:
        """Whether all that ran came to its end with the right values."""
        return not self.failed and not any(one["wrong"] for one in self.results)

    def _line(self, case: Case) -> str:
        if case.name in self.failed:
            return f"{case.name}: {self.failed[case.name]}"
        one = self.results[-1]
        beside = ", ".join(f"{label} {other['ms']:.3f}" for label, other in one["others"].items())
        end = f"; {one['wrong']}" if one["wrong"] else ""
        return f"{case.name}: {one['ms']:.3f} ms, {one['speed']:.3g} {one['unit']}; {beside}{end}"

    def _measure(self, case: Case) -> None:
        own = case.target if case.target.endswith("a") else None
        program = prismc.load(case.program, target=own)
        wrong = self._checked(program, case, case.launch(case.ragged()))
        launch = case.launch(case.sizes)
        wrong = wrong or self._checked(program, case, launch)
        with self._device.uploaded(launch.arguments) as arguments:
            zeroed = [arguments[name] for name in case.zeroed]
            times = self._device.times(
                lambda: _start(program, case, launch, arguments), zeroed, self._runs
            )
            others = self._others(case, arguments)
        found = _summary(times)
        self.results.append(
            {
                "name": case.name, "sizes": list(case.sizes), "blocks": launch.blocks, **found,
                "speed": case.speed(launch, found["ms"]), "unit": case.unit, "wrong": wrong,
                "others": others,
            }
        )  # fmt: skip

    def _others(self, case: Case, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The times of the libraries that can do it; for the others the record tells why not."""
        found: dict[str, Any] = {}
        for label, prepare in competitors(case.name, arguments, self._modules):
            try:
                found[label] = _summary(self._device.times(prepare(), [], self._runs))
            except Exception as error:  # noqa: BLE001 - one failure loses nothing else
                self.left_out[f"{case.name} by {label}"] = _told(error)
        return found

    def _checked(self, program: Any, case: Case, launch: Launch) -> str:
        """What is wrong with the values of one launch, or nothing."""
        with self._device.uploaded(launch.arguments) as arguments:
            _start(program, case, launch, arguments)
            found = self._device.download(arguments[launch.output], launch.arguments[launch.output])
        return launch.wrong(found)


def _start(program: Any, case: Case, launch: Launch, arguments: Mapping[str, Any]) -> None:
    getattr(program, launch.kernel or _only(program, case))[launch.blocks](**arguments)


def _only(program: Any, case: Case) -> str:
    """The kernel's name where an example has one kernel."""
    names = [name for name in dir(program) if name.startswith(case.name)]
    assert len(names) == 1, f"which kernel of {case.name}? {names}"
    return names[0]


def _is_for(target: str, capability: int) -> bool:
    """Code for a target with an `a` runs on that one only, other code on all above."""
    wanted = TARGETS[target]
    number = int(wanted.name.removeprefix("sm_").rstrip("a"))
    return number == capability if wanted.name.endswith("a") else number <= capability


def _told(error: Exception) -> str:
    """The first line of what an exception says, with its kind."""
    said = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _summary(times: Sequence[float]) -> dict[str, Any]:
    deciles = statistics.quantiles(times, n=10)
    return {"ms": statistics.median(times), "spread": [deciles[0], deciles[-1]]}

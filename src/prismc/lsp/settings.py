"""What a client sets, as options of the compiler, and what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from prismc.diagnostics.suggest import did_you_mean
from prismc.driver.options import Options
from prismc.hardware.targets import TARGETS
from prismc.source.record import replace

RACES = ("deny", "warn", "off")


def with_settings(options: Options, settings: object, complain: Callable[[str], None]) -> Options:
    """`options` with what a client sets: `target`, `races`, `include`, `defines`.

    What is null stays as it is; what is wrong or unknown is complained of and stays as it is.
    """
    if settings is None:
        return options
    if not isinstance(settings, Mapping):
        complain(f"the options are an object of {_names()}, not {settings!r}")
        return options
    changes: dict[str, Any] = {}
    for name, value in settings.items():
        reader = _READERS.get(name)
        if reader is None:
            advice = did_you_mean(str(name), _READERS, f"there are {_names()}")
            complain(f"no option `{name}`: {advice}")
        elif value is not None:
            try:
                changes[name] = reader(value)
            except ValueError as error:
                complain(str(error))
    return replace(options, **changes)


def _target(value: object) -> object:
    if isinstance(value, str) and value in TARGETS:
        return TARGETS[value]
    raise ValueError(f"no target {value!r}; there are {', '.join(TARGETS)}")


def _races(value: object) -> str:
    if isinstance(value, str) and value in RACES:
        return value
    raise ValueError(f"`races` is one of {', '.join(RACES)}, not {value!r}")


def _include(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(folder, str) for folder in value):
        return tuple(map(os.path.abspath, value))
    raise ValueError(f"`include` is a list of folders, not {value!r}")


def _defines(value: object) -> tuple[tuple[str, str], ...]:
    if isinstance(value, Mapping):
        return tuple((str(name), str(text)) for name, text in value.items())
    raise ValueError(f"`defines` is an object of constants and their values, not {value!r}")


_READERS: Mapping[str, Callable[[object], object]] = {
    "target": _target,
    "races": _races,
    "include": _include,
    "defines": _defines,
}


def _names() -> str:
    return ", ".join(f"`{name}`" for name in _READERS)

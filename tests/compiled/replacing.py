"""A plugin for the suite on the compiled wheel: tests that replace its functions are left out, and
those that derive classes from its own.

Compiled code calls functions and classes of compiled modules directly; what a test puts under their
names in the module is not asked. Numbers of a module are looked up, so tests may change them.
"""

from __future__ import annotations

from collections.abc import Generator
from importlib.util import find_spec
from typing import Any

import pytest

_DERIVED = "interpreted classes cannot inherit from compiled"
_replace = pytest.MonkeyPatch.setattr


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """Runs a test, which is left out once it makes an instance of such a class."""
    try:
        yield
    except TypeError as error:
        if str(error) == _DERIVED:
            pytest.skip(_DERIVED)
        raise


def _replace_or_skip(self: pytest.MonkeyPatch, target: Any, *rest: Any, **options: Any) -> None:
    if isinstance(target, str):
        module, _, name = target.rpartition(".")
        is_function = True
    else:
        module, name = getattr(target, "__module__", None) or target.__name__, rest[0]
        is_function = callable(getattr(target, name, None))
    if is_function and _is_compiled(module):
        pytest.skip(f"`{name}` of {module} is compiled")
    _replace(self, target, *rest, **options)


def _is_compiled(module: str) -> bool:
    spec = find_spec(module) if module.startswith("prismc.") else None
    return spec is not None and not (spec.origin or ".py").endswith(".py")


pytest.MonkeyPatch.setattr = _replace_or_skip  # type: ignore[method-assign]

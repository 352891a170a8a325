"""The passes over the IR, in order: the whole pipeline on one page."""

from __future__ import annotations

from collections.abc import Callable

from prismc.ir.core import Module
from prismc.ir.passes.base import Pass
from prismc.ir.passes.drop_dead import DropDead
from prismc.ir.passes.fold_constants import FoldConstants
from prismc.ir.passes.share_values import ShareValues
from prismc.ir.passes.simplify_control import SimplifyControl
from prismc.ir.passes.sink_values import SinkValues
from prismc.ir.verifier import verify_module

PASSES: tuple[Pass, ...] = (
    FoldConstants(),
    SimplifyControl(),
    ShareValues(),
    DropDead(),
    SinkValues(),
)


def check_order(passes: tuple[Pass, ...]) -> None:
    """See that every pass stands after those it names, and that names are unique.

    Raises ValueError.
    """
    earlier: list[type[Pass]] = []
    for each in passes:
        missing = [needed.name for needed in each.after if needed not in earlier]
        if missing:
            raise ValueError(f"{each.name} stands before {', '.join(missing)}")
        if any(other.name == each.name for other in earlier):
            raise ValueError(f"{each.name} is there twice")
        earlier.append(type(each))


check_order(PASSES)


def _ignore(name: str, module: Module) -> None:
    pass


def run_passes(
    module: Module,
    *,
    verify: bool = False,
    after: Callable[[str, Module], None] = _ignore,
) -> Module:
    """The module after all passes; `after` sees it after each, with the pass's name.

    With `verify`, raises InvalidIr where lowering or a pass left illegal IR.
    """
    if verify:
        verify_module(module)
    for each in PASSES:
        module = each.run(module)
        if verify:
            verify_module(module)
        after(each.name, module)
    return module

"""What a run must give: `C ~ A @ B`, `n == sum(x)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from prismc.driver.expressions import Array, EvaluationFailed, evaluate
from prismc.driver.kernels import RunError
from prismc.source.record import Record

_PARTS = re.compile(r"(?P<left>.+?)(?P<sign>==|~)(?P<right>.+)", re.DOTALL)


class Judgement(Record):
    """Whether an expectation holds, and what to say if it does not."""

    text: str
    holds: bool
    message: str


def judge(
    text: str, given: Mapping[str, Any], final: Mapping[str, Array], rtol: float
) -> Judgement:
    """Compares the left side, over final arrays, with the right side, over the arguments given.

    Raises RunError for a text that is no expectation.
    """
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise RunError(f"`{text}` is no expectation: write `C ~ A @ B` or `C == A + B`")
    after = {**given, **final}
    try:
        # What is infinite or no number shows in the comparison.
        with np.errstate(all="ignore"):
            found, wanted = evaluate(parts["left"], after), evaluate(parts["right"], given)
        found, wanted = np.asarray(found), np.asarray(wanted)
        wanted = np.broadcast_to(wanted, found.shape)
        wrong = np.asarray(_wrong(found, wanted, rtol if parts["sign"] == "~" else None))
    except (EvaluationFailed, ValueError, TypeError) as error:
        return Judgement(text=text, holds=False, message=f"`{text}`: {error}")
    if not wrong.any():
        return Judgement(text=text, holds=True, message="")
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = ""
    if at:
        first = ", ".join(map(str, at))
        place = f" at {int(wrong.sum())} of {wrong.size} elements, first at [{first}]"
    message = f"`{text}` fails{place}: found {found[at]}, expected {wanted[at]}"
    return Judgement(text=text, holds=False, message=message)


def _wrong(found: Array, wanted: Array, rtol: float | None) -> Array:
    """Which elements differ; near enough is relative to the largest magnitude expected."""
    if rtol is None:
        different: Array = found != wanted
        return different
    sizes = np.abs(wanted[np.isfinite(wanted)])
    scale = float(sizes.max()) if sizes.size else 0.0
    near = np.isclose(found, wanted, rtol=rtol, atol=rtol * scale, equal_nan=True)
    return ~near

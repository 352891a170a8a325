"""What the perspectives pass finds: how often each expression varies."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.hardware.groups import Bound, Perspective
from prismc.source.record import Record


class PerspectiveFacts(Record):
    """Facts keyed by the typed tree's ids.

    `varies` gives each expression's perspective (CONSTANT for what is known while compiling),
    `bounds` the bound at each statement. `refused` holds the symbols of instances with errors:
    later passes leave them alone.
    """

    varies: Mapping[int, Perspective]
    bounds: Mapping[int, Bound]
    refused: frozenset[str]

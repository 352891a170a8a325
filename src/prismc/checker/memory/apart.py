"""Where shared memory is plenty, scopes side by side have bytes of their own (decision 0191).

Bytes that are used again may cost a barrier: the second user waits for the first. They are worth
that only where memory is scarce. Up to `FREE_BYTES` for each thread of a block it is not: the
threads of blocks fill a multiprocessor before their arrays do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prismc.checker.memory.facts import MemoryFacts
from prismc.checker.types import typed
from prismc.hardware.groups import Level

# The scarcest has 64 bytes for each of its threads (sm_75: 64 KiB, 1,024 threads; CUDA C++
# Programming Guide, "Compute Capabilities"); three quarters stay for the first-level cache.
FREE_BYTES = 16


def kept_apart(
    program: typed.Program,
    least: MemoryFacts,
    lay_out: Callable[[frozenset[str]], MemoryFacts],
) -> MemoryFacts:
    """The layout in which no arrays share bytes that need not; `least` is the one with the fewest
    bytes, `lay_out` makes one in which the instances given share nothing.

    An instance that says `smem =` asks for the fewest bytes, its callees' too.
    """
    bodies = program.bodies
    apart = frozenset(bodies) - _reached(
        (s for s, body in bodies.items() if body.instance.declared_shared is not None), program
    )
    found = least
    while not apart.isdisjoint(found.sharing):
        found = lay_out(apart)
        over = [s for s in apart if found.need[s] > max(least.need[s], _free_bytes(bodies[s]))]
        if not over:
            break
        apart, found = apart - _reached(over, program), least
    return found


def _free_bytes(body: typed.Body) -> int:
    instance = body.instance
    is_part = instance.bound.code.level is Level.THREAD
    return FREE_BYTES * (
        instance.bound.code.size if is_part else instance.threads or instance.bound.thread
    )


def _reached(symbols: Iterable[str], program: typed.Program) -> frozenset[str]:
    """Instances, and all that they call."""
    waiting, seen = list(symbols), set[str]()
    while waiting:
        symbol = waiting.pop()
        if symbol in program.bodies and symbol not in seen:
            seen.add(symbol)
            body = program.bodies[symbol]
            waiting += [call.callee.symbol for call in body.calls]
    return frozenset(seen)

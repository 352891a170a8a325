"""How many operations a random kernel would have if they were inserted naively: everything is
complete, and told to all threads, before the next statement begins.

A statement that touches memory has a barrier behind it; in an arm, an mbarrier at which it arrives
and others wait. An asynchronous scope has, in front of its copies, what shows memory to engines,
and behind them whatever ends the group, the wait for it and a barrier. A pipeline is unrolled, as
it is compiled: first what is produced ahead, then a step for each slot. Where its warps take
different arms, each slot is handed over and given back at a pair of mbarriers.
"""

from __future__ import annotations

import re

from support.running import Compiled

# What stands around the copies of a scope, by what it calls.
_SCOPES = {
    "wgmma": 6,  # a fence of memory with a barrier, one of registers; a commit, a wait, a barrier
    "_load(": 6,  # an mbarrier's initialisation; a fence, a barrier; the bytes, a wait, a barrier
    "_store(": 5,  # a fence, a barrier; a commit, a wait, a barrier
    "cp_async": 3,  # a commit, a wait, a barrier
}
_TOLD = 3  # an mbarrier's initialisation, an arrival, a wait
_HANDOVER = 2 * _TOLD
_PLACES = re.compile(r"\b(thread|warp|warpgroup|block|grid)\[[^]]*\]")
_TOUCH = re.compile(r"\b(?!X\[|acc\[)\w+(\[\d\])?\[")
_SLOTS = re.compile(r"shared (\w+): \w+\[(\d+)\]\[")


def require_no_more(made: Compiled, text: str, functions: str) -> None:
    """Raise AssertionError if what `text` holds has more operations than it would have naively.
    It calls `functions`, which are compiled, too; what stands in these does not count."""
    names = set(re.findall(r"^(?:def|kernel) (\w+)", text, re.MULTILINE))
    bodies, plans = made.checked.program.bodies, made.checked.plan.instances
    planned = [plans[each] for each in plans if bodies[each].instance.name in names]
    count, most = sum(len(each.operations) for each in planned), naive_operations(text, functions)
    assert planned
    assert count <= most, f"{count} operations instead of {most}: {text}"


def naive_operations(text: str, functions: str) -> int:
    """How many stand in `text`, which calls `functions`."""
    text = re.sub(r"(?<=[(\[]) +| +(?=[)\]:])", "", text)  # as before counters got their names
    lines = [line for line in text.splitlines() if line.strip()]
    slots = {name: int(count) for name, count in _SLOTS.findall(text)}
    return 1 + _of(lines, slots, _called(functions))


def _called(functions: str) -> dict[str, int]:
    """What a call of each function has around it: a barrier, or what its copies need."""
    found = {}
    for name, body in re.findall(r"^def (\w+)((?:.+\n)+)", functions, re.MULTILINE):
        kinds = [weight for call, weight in _SCOPES.items() if call in body]
        found[name] = max([1, *kinds])
    return found


def _of(lines: list[str], slots: dict[str, int], called: dict[str, int], told: int = 1) -> int:
    """`told` counts what stands behind a statement."""
    count = at = 0
    while at < len(lines):
        line, end = lines[at].strip(), _end(lines, at)
        inside = lines[at + 1 : end]
        if line.startswith("pipeline "):
            ring = min(slots[name] for name in re.findall(r"(\w+) as ", line))
            count += _pipeline(inside, ring, slots, called)
        elif " async " in f" {line}" and line.endswith(":"):
            count += max(weight for call, weight in _scopes(called) if call in "\n".join(inside))
        elif line.startswith("case "):
            count += _of(inside, slots, called, told=_TOLD)
        else:
            count += told * _statement(line, called)
            end = at + 1
        at = end
    return count


def _scopes(called: dict[str, int]) -> list[tuple[str, int]]:
    return [*_SCOPES.items(), *((f"{name}(", weight) for name, weight in called.items())]


def _pipeline(lines: list[str], ring: int, slots: dict[str, int], called: dict[str, int]) -> int:
    at = next(index for index, line in enumerate(lines) if line.strip() == "consume:")
    produced, consumed = (_of(part, slots, called) for part in (lines[:at], lines[at + 1 :]))
    if any("split " in line for line in lines[:at]):
        return ring * (produced + consumed + _HANDOVER)
    return (2 * ring - 1) * produced + ring * consumed


def _statement(line: str, called: dict[str, int]) -> int:
    """A line alone: that of a scope only says what memory is called in it."""
    if line.startswith(("partition ", "claim ", "shared ", "@", "kernel ", "def ")):
        return 0
    calls = sum(weight for name, weight in called.items() if re.search(rf"\b{name}(\[|\()", line))
    return calls or int(_TOUCH.search(_PLACES.sub("", line)) is not None)


def _end(lines: list[str], at: int) -> int:
    """Behind the last line of a body."""
    depth = _depth(lines[at])
    behind = (index for index in range(at + 1, len(lines)) if _depth(lines[index]) <= depth)
    return next(behind, len(lines))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())

"""What a kernel costs: registers, shared bytes, spills from ptxas; barriers from the PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.compilation import Compilation
from prismc.hardware.occupancy import resident_blocks
from prismc.hardware.targets import TARGETS
from prismc.source.record import Value


class BarrierCounts(Value):
    """Synchronising instructions in the PTX of one kernel (PTX ISA, "Parallel Synchronization").

    `full` waits for the whole block (`bar.sync a`), `named` for a stated number of threads
    (`bar.sync a, b`), `warp` for lanes of a warp; `arrives` and `mbarrier_arrives` do not wait.
    """

    full: int = 0
    named: int = 0
    arrives: int = 0
    warp: int = 0
    cluster: int = 0
    mbarrier_arrives: int = 0
    mbarrier_waits: int = 0


class KernelReport(Value):
    """One kernel on one target. Bytes of stack and spills are per thread, shared per block.

    `shared_bytes` is static and dynamic shared memory together, without what the driver keeps for
    itself. `resident` blocks are on a multiprocessor at once, as far as these resources allow it.
    """

    kernel: str
    target: str
    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_stores: int
    spill_loads: int
    resident: int
    barriers: BarrierCounts


_ENTRY = re.compile(r"Compiling entry function '(\w+)'")
_PROPERTIES = re.compile(r"Function properties for (\w+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")

_PTX_ENTRY = re.compile(r"\.entry\s+(\w+)")
_BRACE = re.compile("[{}]")
# Inline assembly may put several instructions on one line, and a guard before each.
_BARRIER = re.compile(
    r"(?:^|[\s;{}])"
    r"(?P<name>bar\.warp\.sync|barrier\.cluster\.(?:arrive|wait)"
    r"|bar(?:rier)?(?:\.cta)?\.(?:sync|red|arrive)"
    r"|mbarrier\.(?:arrive|arrive_drop|test_wait|try_wait))"
    r"[.\w:]*(?P<operands>[^;]*);"
)


def kernel_reports(compilation: Compilation, module: CudaModule) -> tuple[KernelReport, ...]:
    """One report for each kernel of `module`, in its order."""
    costs = _costs(compilation.log)
    bodies = dict(_bodies(compilation.ptx or ""))
    reports = []
    for kernel in module.kernels:
        cost = costs.get(kernel.name, {})
        registers = cost.get("registers", 0)
        shared = cost.get("shared", 0) + kernel.dynamic_shared
        used = (registers, shared, cost.get("barriers", 0))
        reports.append(
            KernelReport(
                kernel=kernel.name,
                target=compilation.target,
                registers=registers,
                shared_bytes=shared,
                stack_bytes=cost.get("stack", 0),
                spill_stores=cost.get("stores", 0),
                spill_loads=cost.get("loads", 0),
                resident=resident_blocks(TARGETS[compilation.target], kernel.threads, *used),
                barriers=count_barriers(bodies.get(kernel.name, "")),
            )
        )
    return tuple(reports)


def count_barriers(body: str) -> BarrierCounts:
    """The synchronising instructions in a piece of PTX."""
    counts = dict.fromkeys(BarrierCounts.__fields__, 0)
    for line in body.splitlines():
        if "bar" not in line:  # as nearly all
            continue
        code = line.split("//")[0]
        for match in _BARRIER.finditer(code):
            counts[_category(match["name"], match["operands"])] += 1
    return BarrierCounts(**counts)


def _category(name: str, operands: str) -> str:
    if name == "bar.warp.sync":
        return "warp"
    if name.startswith("barrier.cluster"):
        return "cluster" if name.endswith("wait") else "arrives"
    if name.startswith("mbarrier"):
        return "mbarrier_waits" if name.endswith("_wait") else "mbarrier_arrives"
    if name.endswith("arrive"):
        return "arrives"
    # `bar.red` has its result and its predicate around the barrier and the count.
    has_count = operands.count(",") + 1 > (3 if name.endswith("red") else 1)
    return "named" if has_count else "full"


def _costs(log: str) -> dict[str, dict[str, int]]:
    """Each entry function's figures in the output of `ptxas -v`."""
    costs: dict[str, dict[str, int]] = {}
    entry = described = ""
    for line in log.splitlines():
        if match := _ENTRY.search(line):
            entry = match[1]
            costs[entry] = {}
        elif match := _PROPERTIES.search(line):
            described = match[1]
        elif (match := _STACK.search(line)) and described == entry:
            stack, stores, loads = map(int, match.groups())
            costs.setdefault(entry, {}).update(stack=stack, stores=stores, loads=loads)
        elif match := _REGISTERS.search(line):
            shared, barriers = _SHARED.search(line), _BARRIERS.search(line)
            costs.setdefault(entry, {}).update(
                registers=int(match[1]),
                shared=int(shared[1]) if shared else 0,
                barriers=int(barriers[1]) if barriers else 0,
            )
    return costs


def _bodies(ptx: str) -> Iterator[tuple[str, str]]:
    """Name and text of each entry function, to the brace that closes it: inline assembly may have
    some of its own."""
    for match in _PTX_ENTRY.finditer(ptx):
        depth, end = 0, len(ptx)
        for brace in _BRACE.finditer(ptx, match.end()):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                end = brace.start()
                break
        yield match[1], ptx[match.end() : end]

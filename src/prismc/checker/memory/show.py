"""Shared memory as people read it: a table for each instance that needs any."""

from __future__ import annotations

from prismc.checker.memory.facts import MemoryFacts, copies
from prismc.checker.types import typed


def show_memory(program: typed.Program, facts: MemoryFacts) -> str:
    """One block of lines for each instance: its need, then its arrays by place."""
    lines: list[str] = []
    for symbol, body in program.bodies.items():
        need, alignment = facts.need.get(symbol, 0), facts.alignment.get(symbol, 1)
        lines.append(f"{symbol}: {need} bytes, aligned {alignment}")
        for statement in body.all_statements:
            if not isinstance(statement, typed.DeclareShared):
                continue
            array = facts.arrays.get(statement.variable.id)
            if array is not None:
                number = copies(array.replicas)
                each = f", {number} copies" if number > 1 else ""
                end = array.offset + array.size
                lines.append(f"  {array.offset:6} .. {end:6}  {array.variable.name}{each}")
    return "\n".join(lines) + "\n"

"""Plans of programs given as text, in lines and words that tests can state."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import NamedTuple

from prismc.checker.memory.bounds import bound_memory
from prismc.checker.names.resolve import resolve_names
from prismc.checker.perspectives.check import check_perspectives
from prismc.checker.sync.plan import SyncPlan
from prismc.checker.sync.synchronise import plan_synchronisation
from prismc.checker.types.elaborate import elaborate_program
from prismc.checker.types.typed import Program
from prismc.checker.types.walk import statements_in
from prismc.diagnostics.sink import Sink
from prismc.frontend.modules import load_program
from prismc.hardware.targets import DEFAULT_TARGET
from prismc.source.files import Files


class Result(NamedTuple):
    """`operations` are lines like `f: before 5 block barrier block[1]`; `problems` lines like
    `5 P0601`."""

    operations: list[str]
    problems: list[str]
    plan: SyncPlan
    program: Program
    files: Files
    sink: Sink


def planned(text: str) -> Result:
    """The plan of a program; lines count from the first line of `text` that is not blank."""
    files, sink = Files(), Sink()
    file = files.overlay("test.prism", dedent(text).lstrip("\n"))
    graph = load_program((file,), (), files, sink)
    program = elaborate_program(graph, resolve_names(graph, sink), {}, sink)
    perspectives = check_perspectives(program, sink)
    memory = bound_memory(program, perspectives, DEFAULT_TARGET, sink)
    plan = plan_synchronisation(program, perspectives, memory, sink)
    lines = {
        statement.id: files.position(statement.span).line
        for body in program.bodies.values()
        for statement in statements_in(body.statements)
    }
    operations = [
        f"{symbol}: {operation.position.where.value} {lines[operation.position.anchor]} "
        f"{operation.kind.value} {operation.participants.perspective}"
        for symbol, instance in plan.instances.items()
        for operation in instance.operations
    ]
    problems = [f"{files.position(p.at).line} {p.code}" for p in sink.problems()]
    return Result(operations, problems, plan, program, files, sink)


def in_block(body: str, threads: int = 64) -> str:
    """A function `f` of one block; its body's first line is line 3."""
    head = (
        f"@requires(block[1], thread[{threads}])\ndef f(n: int, x: ptr(f32), y: ptr(const f32)):\n"
    )
    return head + indent(dedent(body).strip("\n"), "    ")


def barriers(body: str, threads: int = 64) -> list[str]:
    """The operations of a block's body that is accepted without any problem: `before 5`."""
    result = planned(in_block(body, threads))
    assert result.problems == []
    return [operation.removeprefix("f: ") for operation in result.operations]

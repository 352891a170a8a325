"""The texts of graph and plan."""

from __future__ import annotations

from checker.sync.plans import planned
from prismc.checker.memory.bounds import bound_memory
from prismc.checker.perspectives.check import check_perspectives
from prismc.checker.sync.show import show_graph, show_plan
from prismc.checker.sync.synchronise import build_graphs
from prismc.diagnostics.sink import Sink
from prismc.hardware.targets import DEFAULT_TARGET

PROGRAM = """
    @requires(thread[64])
    def swap_ends(s: ptr(f32)):
        l: int @ thread[1] = id()
        partition s as e @ thread[1] at l:
            e[0] = 1.0
        v: f32 @ thread[1] = s[63 - l]

    @requires(block[1], thread[128])
    def f(n: int):
        shared S: f32[128]
        g: int @ thread[64] = id()
        t: int @ thread[1] = id()
        for k in range(n):
            partition S as s @ thread[64] at g * 64:
                swap_ends(s)
            if k > 1:
                partition S as e @ thread[1] at t:
                    group thread[1]:
                        for j in range(2):
                            e[0] += f32(j)
"""


PLAN = """\
swap_ends: 1 operation
  #0 before line 6: named barrier of thread[64] (bar.sync barrier, count), \
from barrier 1, 64 threads each
      RAW s: line 5 by threads 0 -> line 6 by threads 63
f: 1 operation
  #1 before line 16: named barrier of thread[64] (bar.sync barrier, count), \
from barrier 1, 64 threads each
      WAR S: line 15 by threads 0 -> line 20 by threads 63
      WAR S: line 15 by threads 0 -> line 15 by threads 63, around the loop of line 13
"""

GRAPH = """\
swap_ends: thread[64], threads 0..63
  5: write s[[0, 1, .. 63]]
  6: read s[[63, 62, .. 0]]
f: block[1], threads 0..127
  13: loop
    15: call, with a barrier(write S[[0, 1, .. 127]]; read S[[63, 62, .. 64]])
    16: if
      18: thread[1] for threads 0..127
        19: loop
          20: read S[[0, 1, .. 127]]; write S[[0, 1, .. 127]]
"""


def test_the_plan_tells_where_who_and_why() -> None:
    result = planned(PROGRAM)
    assert result.problems == []
    assert show_plan(result.program, result.plan, result.files, DEFAULT_TARGET) == PLAN


def test_the_graph_tells_what_each_line_touches() -> None:
    result = planned(PROGRAM)
    perspectives = check_perspectives(result.program, Sink())
    memory = bound_memory(result.program, perspectives, DEFAULT_TARGET, Sink())
    graphs = build_graphs(result.program, perspectives, memory)
    assert show_graph(graphs, result.files) == GRAPH

"""Who arrives for bulk loads, and how many arrivals their mbarriers count."""

from __future__ import annotations

from prismc.checker.sync.plan import SyncKind, SyncPlan
from prismc.driver.pipeline import CHECKS, run_stages
from support.checking import check_texts

HEAD = """\
from std.copy import bulk_load

@requires(grid[1], block[1], thread[128])
@launch(threads = 128)
@assume(aligned(X, 16))
kernel sums(n: int, X: ptr(const i32), Y: ptr(i32)):
    partition Y as y @ block[1]:
        group block[1]:
            shared S: i32[3][128]
            sum: i32 @ thread[1] = 0
            t: int @ thread[1] = id()
"""
TAIL = """
            partition y as own @ thread[1] at t:
                own[0] = sum
"""


def _plan(body: str) -> SyncPlan:
    lines = "\n".join("            " + line for line in body.strip("\n").split("\n"))
    session = check_texts({"sums.prism": HEAD + lines + TAIL}, "sums.prism", "--target sm_90")
    assert session.problems == ()
    checked = run_stages(session, session.files.known("sums.prism"), CHECKS)
    plan: SyncPlan = checked.plan
    return plan


def _arrivals(plan: SyncPlan) -> tuple[set[tuple[tuple[int, int], ...]], set[int]]:
    """The threads of the code that arrive for loads (none: all), and what mbarriers count."""
    (instance,) = (one for symbol, one in plan.instances.items() if one.completions)
    expecting = (one for one in instance.operations if one.kind is SyncKind.EXPECT_BYTES)
    return {one.part for one in expecting}, {one.arrivals for one in plan.mbarriers.values()}


def test_in_a_pipeline_the_thread_that_issues_the_loads_arrives() -> None:
    """The condition that an iteration exists is the block's; one thread of it issues."""
    plan = _plan("""
pipeline k in range(n) through S as s:
    produce:
        claim s as async d @ thread[1]:
            first thread[1]:
                bulk_load(d, 0, X, k * 128, 512)
    consume:
        sum += s[127 - t]
""")
    assert _arrivals(plan) == ({((0, 1),)}, {1})


def test_a_thread_of_each_warp_issues_a_part() -> None:
    plan = _plan("""
for k in range(n):
    async S[0] as s:
        if k % 3 != 1:
            partition s as part @ thread[32] at id(thread[32]) * 32:
                group thread[32]:
                    claim part as d @ thread[1]:
                        first thread[1]:
                            bulk_load(d, 0, X, k * 128, 128)
    sum += S[0][127 - t]
""")
    assert _arrivals(plan) == ({((0, 1), (32, 33), (64, 65), (96, 97))}, {4})


def test_different_threads_issue_into_the_same_memory() -> None:
    """As many have to arrive each time: all of the scopes' code."""
    plan = _plan("""
for k in range(n):
    claim S[0] as async d @ thread[1]:
        first thread[1]:
            bulk_load(d, 0, X, k * 128, 512)
    sum += S[0][127 - t]
    claim S[0] as async d @ thread[1]:
        split thread:
            case 1:
                pass
            case 1:
                bulk_load(d, 0, X, k * 128, 512)
    sum += S[0][t]
""")
    assert _arrivals(plan) == ({()}, {128})


def test_loads_for_code_of_different_threads_are_told_once() -> None:
    """The array is waited for by the block, its halves by their warps: not two mistakes."""
    body = """
w: int @ warp[2] = id()
claim S[0] as async d @ thread[1]:
    first thread[1]:
        bulk_load(d, 0, X, 0, 512)
sum += S[0][127 - t]
partition S[0] as h @ warp[2] at w * 64:
    group warp[2]:
        u: int @ thread[1] = id()
        claim h as async d @ thread[1]:
            first thread[1]:
                bulk_load(d, 0, X, 0, 256)
        sum += h[63 - u]
"""
    lines = "\n".join("            " + line for line in body.strip("\n").split("\n"))
    text = HEAD + lines + TAIL
    session = check_texts({"sums.prism": text}, "sums.prism", "--target sm_90")
    (problem,) = session.problems
    assert problem.code == "P0630"
    assert text[problem.at.start : problem.at.end] == "sum += h[63 - u]"

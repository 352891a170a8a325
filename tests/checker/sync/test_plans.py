"""Where barriers stand in whole programs, and where they do not."""

from __future__ import annotations

import pytest

from checker.sync.plans import barriers, in_block, planned

BLOCK = "block barrier block[1]"
WARP = "warp barrier thread[32]"


def test_own_elements_need_nothing() -> None:
    assert (
        barriers("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        partition S as s @ thread[1] at t:
            s[0] = 1.0
        v: f32 @ thread[1] = S[t]
    """)
        == []
    )


def test_a_neighbour_needs_a_barrier() -> None:
    assert barriers("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        partition S as s @ thread[1] at t:
            s[0] = 1.0
        v: f32 @ thread[1] = S[63 - t]
    """) == [f"before 7 {BLOCK}"]


def test_an_index_from_memory_may_be_any() -> None:
    assert barriers("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        partition S as s @ thread[1] at t:
            s[0] = 1.0
        e: int @ thread[1] = i32(y[t])
        v: f32 @ thread[1] = S[e]
    """) == [f"before 8 {BLOCK}"]


def test_exclusive_or_is_evaluated() -> None:
    assert (
        barriers("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        partition S as s @ thread[1] at t ^ 5:
            s[0] = 1.0
        v: f32 @ thread[1] = S[t ^ 5]
    """)
        == []
    )


def test_an_expression_function_is_evaluated() -> None:
    result = planned("""
        def scattered(i: int) -> int:
            return i * 5 % 64

        @requires(block[1], thread[64])
        def f():
            t: int @ thread[1] = id()
            shared S: f32[64]
            partition S as s @ thread[1] at scattered(t):
                s[0] = 1.0
            v: f32 @ thread[1] = S[scattered(t)]
            w: f32 @ thread[1] = S[t]
    """)
    assert result.problems == []
    assert result.operations == [f"f: before 11 {BLOCK}"]


def test_a_condition_keeps_threads_apart() -> None:
    assert (
        barriers("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        partition S as s @ thread[1] at t:
            group thread[1]:
                if t < 32:
                    s[0] = 1.0
        v: f32 @ thread[1] = S[t + 32] if t < 32 else 0.0
    """)
        == []
    )


def test_slots_are_different_memory() -> None:
    assert (
        barriers("""
        t: int @ thread[1] = id()
        shared S: f32[2][64]
        partition S[0] as s @ thread[1] at t:
            s[0] = 1.0
        v: f32 @ thread[1] = S[1][63 - t]
    """)
        == []
    )


def test_warps_that_stay_among_themselves_need_not_wait_for_others() -> None:
    assert barriers("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        partition S as s @ thread[1] at t:
            s[0] = 1.0
        v: f32 @ thread[1] = S[t ^ 31]
    """) == ["before 7 warp barrier thread[32]"]


def test_a_barrier_for_other_reasons_serves_warps_too() -> None:
    assert barriers("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        shared R: f32[64]
        partition S as s @ thread[1] at t, R as r @ thread[1] at t:
            s[0] = 1.0
            r[0] = 2.0
        v: f32 @ thread[1] = S[t ^ 31]
        w: f32 @ thread[1] = R[63 - t]
    """) == [f"before 9 {BLOCK}"]


def test_arms_that_keep_their_memory_need_nothing_between_them() -> None:
    assert (
        barriers("""
        shared S: f32[32]
        claim S as s @ thread[32]:
            first thread[32]:
                l: int @ thread[1] = id()
                partition s as u @ thread[1] at l:
                    u[0] = 1.0
        claim S as s @ thread[32]:
            first thread[32]:
                l: int @ thread[1] = id()
                partition s as u @ thread[1] at l:
                    u[0] += 1.0
    """)
        == []
    )


def test_one_arm_hands_over_to_itself_in_a_warp() -> None:
    assert barriers("""
        shared S: f32[32]
        claim S as s @ thread[32]:
            first thread[32]:
                l: int @ thread[1] = id()
                partition s as u @ thread[1] at l:
                    u[0] = 1.0
        claim S as s @ thread[32]:
            first thread[32]:
                l: int @ thread[1] = id()
                partition s as u @ thread[1] at 31 - l:
                    u[0] += 1.0
    """) == ["before 10 warp barrier thread[32]"]


# --------------------------------------------------------------------------- loops


def test_pieces_of_a_row_are_apart_in_all_iterations() -> None:
    assert (
        barriers("""
        t: int @ thread[1] = id()
        shared S: f32[1024]
        for j in range(16):
            partition S as s @ thread[1] at j * 64 + t:
                s[0] = 1.0
    """)
        == []
    )


def test_a_stride_of_the_block_is_apart_in_all_iterations() -> None:
    assert (
        barriers("""
        t: int @ thread[1] = id()
        for k in range(0, n, 64):
            partition x as p @ thread[1] at k + t:
                p[0] = 1.0
    """)
        == []
    )


def test_a_loop_over_tiles_is_apart_whatever_its_step() -> None:
    assert (
        barriers("""
        t: int @ thread[1] = id()
        for tile in range(0, n, n / 7):
            partition x as p @ thread[1] at tile * 64 + t:
                p[0] = 1.0
    """)
        == []
    )


OWN_STEPS = """
    shared S: f32[1024]
    t: int @ thread[1] = id()
    partition S as s @ thread[1] at t:
        group thread[1]:
            for i in range(t, n, 64):
                s[i - t] = 0.0
    partition S as s @ thread[1] at {place}:
        group thread[1]:
            for i in range({start}, n / 2, {step}):
                s[i - ({place})] += 1.0
"""


@pytest.mark.parametrize(
    ("place", "start", "step", "barriers"),
    [
        ("t", "t", "64", 0),
        ("t", "t", "128", 0),
        ("t + 64", "t + 64", "64", 0),
        ("t", "t", "32", 1),
        ("t + 1", "t + 1", "64", 1),
        ("t", "t + n", "64", 1),
    ],
)
def test_loops_in_own_steps_keep_threads_apart(
    place: str, start: str, step: str, barriers: int
) -> None:
    body = OWN_STEPS.format(place=place, start=start, step=step)
    assert len(planned(in_block(body)).operations) == barriers


def test_calls_that_keep_threads_apart_need_nothing_between_them() -> None:
    result = planned("""
        from std.copy import copy, fill

        @requires(grid[1], block[1], thread[32])
        @launch(threads = 256)
        kernel k(x: ptr(const f32), y: ptr(f32), n: int):
            partition y as yb @ block[1] at id(block[1]) * 256:
                group block[1]:
                    shared S: f32[1024]
                    fill(S, 1024, 0.0)
                    copy(S, x, n)
                    t: int @ thread[1] = id()
                    partition yb as o @ thread[1] at t:
                        o[0] = S[255 - t]
    """)
    assert result.operations == ["k: before 13 block barrier block[1]"]


SET_LATER = """
    shared S: f32[256]
    t: int @ thread[1] = id()
    place: int @ thread[1] = 0
    {text}
    for k in range(n):
        partition S as s @ thread[1] at place:
            s[0] = f32(k)
        v: f32 @ thread[1] = S[place]
        {end}
"""


@pytest.mark.parametrize(
    ("text", "end", "barriers"),
    [
        ("place = t * 2", "", 0),
        ("group thread[8]:\n        place = id() + t / 8 * 8", "", 0),
        ("group thread[32]:\n        group thread[1]:\n            place = t", "", 0),
        ("place = t * 2", "place = t * 2 + 1", 2),
        ("place = place + t", "", 2),
        ("w: int @ thread[1] = place\n    place = t", "", 2),
        ("group thread[1]:\n        if t > 3:\n            place = t", "", 2),
        ("for j in range(n):\n        place = t", "", 2),
        ("split thread:\n        case 32:\n            place = t", "", 2),
        ("", "place = t", 2),
    ],
)
def test_a_number_that_is_set_before_it_is_read(text: str, end: str, barriers: int) -> None:
    result = planned(in_block(SET_LATER.format(text=text, end=end)))
    assert [problem for problem in result.problems if problem.endswith(("P0603", "P0602"))] == []
    assert len(result.operations) == barriers


TABLES = """
    w: int @ thread[1] = id() / 32
    lane: int @ thread[1] = id() % 32
    shared S: f32[4096]
    m: int = n / 2
    partition S as s @ thread[1] at w * m + lane:
        group thread[1]:
            for r in range(0, n - w, {rows}):
                for c in range(0, {length} - lane, {columns}):
                    s[r * m + c] = 1.0
    for r in range(n):
        partition S as s @ thread[1] at r * m + w * 32 + lane:
            group thread[1]:
                for c in range(w * 32 + lane, {length}, 64):
                    s[c - (w * 32 + lane)] += 1.0
"""


@pytest.mark.parametrize(
    ("rows", "columns", "length", "line"),
    [
        (2, 32, "m", 12),  # once, in front of the loop
        (2, 32, "m - 3", 12),
        (2, 16, "m", 12),
        (2, 32, "m + 1", 14),  # a row's last element may be the next one's first
        (2, 32, "n", 14),
    ],
)
def test_rows_of_a_table_are_apart_where_columns_end(
    rows: int, columns: int, length: str, line: int
) -> None:
    body = TABLES.format(rows=rows, columns=columns, length=length)
    assert planned(in_block(body)).operations == [f"f: before {line} {BLOCK}"]


def test_a_stride_below_the_block_is_not() -> None:
    operations = barriers("""
        t: int @ thread[1] = id()
        for k in range(0, n, 63):
            partition x as p @ thread[1] at k + t:
                p[0] = 1.0
    """)
    assert operations == [f"before 6 {BLOCK}"]


def test_a_length_that_is_not_known_is_no_row() -> None:
    operations = barriers("""
        t: int @ thread[1] = id()
        for j in range(4):
            partition x as p @ thread[1] at t * n + j:
                p[0] = 1.0
    """)
    assert operations == [f"before 6 {BLOCK}"]


def test_a_condition_proves_the_length_of_a_row() -> None:
    assert (
        barriers("""
        t: int @ thread[1] = id()
        for j in range(4):
            partition x as p @ thread[1] at t * n + j:
                group thread[1]:
                    if j < n:
                        p[0] = 1.0
    """)
        == []
    )


def test_rows_of_a_kernel_argument_do_not_overlap() -> None:
    result = planned("""
        @requires(grid[1], block[1], thread[64])
        @launch(threads = 64)
        kernel f(C: ptr(f32), n: int):
            partition C as c @ block[1] at id(block[1]) * n * 16:
                group block[1]:
                    t: int @ thread[1] = id()
                    for j in range(4):
                        e: int @ thread[1] = t * 4 + j
                        partition c as p @ thread[1] at e / 16 * n + e % 16:
                            p[0] = 1.0
    """)
    assert result.problems == []
    assert result.operations == []


def test_two_buffers_by_a_constant_loop_need_one_barrier_a_step() -> None:
    assert barriers("""
        t: int @ thread[1] = id()
        shared S: f32[128]
        acc: f32 @ thread[1] = 0
        for k in range(8):
            partition S as s @ thread[1] at k % 2 * 64 + t:
                s[0] = y[k * 64 + t]
            acc += S[k % 2 * 64 + 63 - t]
    """) == [f"before 9 {BLOCK}"]


def test_continue_takes_the_back_edge_too() -> None:
    result = planned(
        in_block("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        v: f32 @ thread[1] = 0
        for k in range(n):
            partition S as s @ thread[1] at t:
                s[0] = v
            if k > 5:
                continue
            v += S[63 - t]
    """)
    )
    assert result.operations == [f"f: before 8 {BLOCK}", f"f: before 11 {BLOCK}"]


def test_an_outer_loop_takes_the_barrier_of_an_inner_one_where_it_can() -> None:
    assert barriers("""
        t: int @ thread[1] = id()
        shared S: f32[64]
        v: f32 @ thread[1] = 0
        for i in range(n):
            partition S as s @ thread[1] at t:
                s[0] = v
            for j in range(n):
                v += S[(t + j) % 64]
    """) == [f"before 8 {BLOCK}", f"before 9 {BLOCK}"]


def test_swapped_pointers_change_what_they_name() -> None:
    result = planned("""
        @requires(block[1], thread[64])
        def scan(x: ptr(u32), buf: ptr(u32)) -> ptr(u32) @ block[1]:
            t: int @ thread[1] = id()
            stride: int @ block[1] = 1
            while stride < 64:
                partition buf as b @ thread[1] at t:
                    b[0] = x[t] + (x[t - stride] if t >= stride else 0)
                x, buf = buf, x
                stride *= 2
            return x
    """)
    assert result.problems == []
    assert result.operations == [f"scan: before 7 {BLOCK}"]


def test_a_neighbour_through_the_own_view_is_seen() -> None:
    operations = planned(
        in_block("""
        t: int @ thread[1] = id()
        shared S: f32[128]
        partition S as s @ thread[1] at t:
            v: f32 @ thread[1] = s[1]
            s[0] = 2.0
    """)
    ).operations
    assert operations == [f"f: before 7 {BLOCK}"]


# --------------------------------------------------------------------------- calls


ROTATE = """
@requires(block[1], thread[64])
def rotate(tmp: ptr(f32), v: f32 @ thread[1]) -> f32 @ thread[1]:
    t: int @ thread[1] = id()
    partition tmp as s @ thread[1] at t:
        s[0] = v
    r: f32 @ thread[1] = tmp[63 - t]
    return r
"""


def test_a_call_needs_what_its_own_barriers_do_not_give() -> None:
    result = planned(
        ROTATE
        + """
@requires(block[1], thread[64])
def f(v: f32 @ thread[1]):
    shared A: f32[64]
    shared B: f32[64]
    a: f32 @ thread[1] = rotate(A, v)
    b: f32 @ thread[1] = rotate(B, a)
    c: f32 @ thread[1] = rotate(A, b)
"""
    )
    assert result.problems == []
    # The barrier inside the second call lies between the two uses of A. `f` calls an instance with
    # the threads that it has.
    assert result.operations == [f"rotate: before 6 {BLOCK}", f"rotate_t64: before 6 {BLOCK}"]


SCRATCH = """
    @requires(block[1], thread[64])
    def rotate(v: f32 @ thread[1]) -> f32 @ thread[1]:
        t: int @ thread[1] = id()
        shared tmp: f32[64]
        partition tmp as s @ thread[1] at t:
            s[0] = v
        r: f32 @ thread[1] = tmp[63 - t]
        return r

    @requires(block[1], thread[64]{budget})
    def f(v: f32 @ thread[1]):
        {around}
            a: f32 @ thread[1] = rotate(v)
            b: f32 @ thread[1] = rotate(a)
            c: f32 @ thread[1] = rotate(b)
"""


@pytest.mark.parametrize(
    ("budget", "around", "barriers"),
    [
        ("", "group block[1]:", 0),
        (", smem = 256", "group block[1]:", 2),
        ("", "for k in range(3):", 0),
        (", smem = 256", "for k in range(3):", 3),
        ("", "static for k in range(2):", 5),
    ],
)
def test_calls_use_bytes_of_their_own_where_there_are_plenty(
    budget: str, around: str, barriers: int
) -> None:
    """1,024 bytes, 16 a thread, are plenty: the arrays of four calls, not of six."""
    result = planned(SCRATCH.format(budget=budget, around=around))
    own = [operation for operation in result.operations if operation.startswith("f: ")]
    assert len(own) == barriers


TURNS = """
    def mirror[N: int](t: int) -> int:
        static if N > 0:
            return N - 1 - t
        else:
            return t

    @requires({P})
    def there(v: f32 @ thread[1]) -> f32 @ thread[1]:
        shared one: f32[{size}]
        t: int @ thread[1] = id()
        partition one as own @ thread[1] at t:
            own[0] = v
        return one[mirror[{size}](t)]

    @requires({P})
    def back(v: f32 @ thread[1]) -> f32 @ thread[1]:
        shared two: {type}[{size}]
        t: int @ thread[1] = id()
        partition two as own @ thread[1] at mirror[{size}](t):
            own[0] = {type}(v)
        return f32(two[t])

    @requires(block[1], thread[64], smem = 512)
    def f(v: f32 @ thread[1]) -> f32 @ thread[1]:
        x: f32 @ thread[1] = v
        {group}
            x = {one}(x)
        {group}
            x = {other}(x)
        return x
"""
BLOCK_WISE = {"P": "block[1], thread[64]", "size": "64", "group": "group block[1]:"}
WARP_WISE = {"P": "thread[32]", "size": "32", "group": "group thread[32]:"}


@pytest.mark.parametrize(
    ("how", "one", "other", "type_", "between"),
    [
        (BLOCK_WISE, "there", "there", "f32", [BLOCK]),
        (BLOCK_WISE, "there", "back", "f32", []),  # all write what they have read themselves
        (BLOCK_WISE, "back", "there", "f32", []),
        (BLOCK_WISE, "there", "back", "f64", [BLOCK]),  # elements of other bytes
        (WARP_WISE, "there", "there", "f32", [WARP]),  # each warp has bytes of its own
        (WARP_WISE, "there", "back", "f32", []),
        (WARP_WISE, "there", "back", "f64", [BLOCK]),  # which are another warp's then
    ],
)
def test_arrays_on_the_same_bytes(
    how: dict[str, str], one: str, other: str, type_: str, between: list[str]
) -> None:
    text = TURNS.format(**how, one=one, other=other, type=type_)
    result = planned(text.replace("smem = 512", "smem = 256") if type_ == "f32" else text)
    assert result.problems == []
    own = [each.split(" ", 3)[3] for each in result.operations if each.startswith("f: ")]
    assert own == between


def test_a_callee_says_which_elements_it_touches() -> None:
    result = planned("""
        @requires(thread[1])
        def put(p: ptr(f32), i: int, v: f32):
            p[i] = v

        @requires(block[1], thread[64])
        def f():
            t: int @ thread[1] = id()
            shared S: f32[128]
            partition S as s @ thread[1] at t:
                put(s, 64, 1.0)
            own: f32 @ thread[1] = S[t + 64]
            other: f32 @ thread[1] = S[t ^ 1]
            neighbour: f32 @ thread[1] = S[64 + (t ^ 32)]
    """)
    assert result.problems == []
    assert result.operations == [f"f: before 13 {BLOCK}"]


def test_a_warp_function_runs_on_every_warp() -> None:
    result = planned("""
        @requires(thread[32])
        def lanes(p: ptr(f32)):
            l: int @ thread[1] = id()
            partition p as s @ thread[1] at l:
                s[0] = 1.0

        @requires(block[1], thread[64])
        def f():
            shared S: f32[64]
            w: int @ thread[32] = id()
            partition S as s @ thread[32] at w * 32:
                lanes(s)
            t: int @ thread[1] = id()
            own: f32 @ thread[1] = S[t]
            other: f32 @ thread[1] = S[63 - t]
    """)
    assert result.problems == []
    assert result.operations == [f"f: before 15 {BLOCK}"]


def test_a_pointer_result_is_its_argument() -> None:
    result = planned("""
        @requires(block[1], thread[64])
        def same(p: ptr(f32)) -> ptr(f32) @ block[1]:
            return p

        @requires(block[1], thread[64])
        def f():
            t: int @ thread[1] = id()
            shared S: f32[64]
            partition S as s @ thread[1] at t:
                s[0] = 1.0
            q: ptr(f32) @ block[1] = same(S)
            own: f32 @ thread[1] = q[t]
            other: f32 @ thread[1] = q[63 - t]
    """)
    assert result.problems == []
    assert result.operations == [f"f: before 13 {BLOCK}"]


# --------------------------------------------------------------------------- instructions


def test_groups_of_different_sizes_have_different_barriers() -> None:
    result = planned("""
        @requires(thread[64])
        def pair(p: ptr(f32)):
            l: int @ thread[1] = id()
            partition p as s @ thread[1] at l:
                s[0] = 1.0
            v: f32 @ thread[1] = p[63 - l]

        @requires(grid[1], block[1], thread[256])
        @launch(threads = 256)
        kernel k(n: int):
            group block[1]:
                shared S: f32[256]
                g: int @ thread[64] = id()
                partition S as s @ thread[64] at g * 64:
                    pair(s)
                h: int @ thread[128] = id()
                partition S as s @ thread[128] at h * 128:
                    group thread[128]:
                        l: int @ thread[1] = id()
                        partition s as e @ thread[1] at l:
                            e[0] = 2.0
                        v: f32 @ thread[1] = s[127 - l]
    """)
    assert result.problems == []
    assert [line for line in result.operations if line.startswith("k")] == [
        "k: before 18 named barrier thread[64]",
        "k: before 22 named barrier thread[128]",
    ]
    numbers = {
        (operation.count, operation.barrier)
        for instance in result.plan.instances.values()
        for operation in instance.operations
        if operation.barrier
    }
    assert numbers == {(128, 1), (64, 3)}


def test_more_groups_than_barriers_wait_at_mbarriers() -> None:
    result = planned(
        in_block(
            """
        shared S: f32[1024]
        g: int @ thread[64] = id()
        partition S as s @ thread[64] at g * 64:
            group thread[64]:
                l: int @ thread[1] = id()
                partition s as e @ thread[1] at l:
                    e[0] = 2.0
                v: f32 @ thread[1] = s[63 - l]
    """,
            threads=1024,
        )
    )
    assert result.problems == []
    assert result.operations == ["f: before 10 mbarrier thread[64]"]
    (mbarrier,) = result.plan.mbarriers.values()
    assert (mbarrier.copies, mbarrier.unit, mbarrier.arrivals) == (16, 64, 64)
    assert result.plan.areas == {}, "no kernel, no memory"


# --------------------------------------------------------------------------- blocks


def kernel(body: str) -> list[str]:
    head = (
        "@requires(grid[1], block[1], thread[64])\n@launch(threads = 64)\n"
        "kernel k(P: ptr(f32), Y: ptr(f32), n: int):\n    i: int @ thread[1] = id()\n"
    )
    return planned(head + body).problems


def test_blocks_that_read_their_own_part_are_accepted() -> None:
    assert (
        kernel("""
    partition P as p @ thread[1] at i:
        p[0] = 1.0
    partition Y as y @ thread[1] at i:
        y[0] = P[i]
""")
        == []
    )


def test_blocks_that_read_inside_their_block_are_accepted() -> None:
    assert (
        kernel("""
    b: int @ block[1] = id()
    partition P as p @ thread[1] at i:
        p[0] = 1.0
    partition Y as y @ thread[1] at i:
        y[0] = P[b * 64 + 63 - i % 64]
""")
        == []
    )


def test_an_index_that_is_not_known_may_be_another_block_s() -> None:
    assert kernel("""
    partition P as p @ thread[1] at i:
        p[0] = 1.0
    partition Y as y @ thread[1] at i:
        y[0] = P[i + n]
""") == ["9 P0601"]


def test_every_block_at_one_element_is_refused() -> None:
    assert kernel("""
    partition P as p @ thread[1] at i:
        p[0] = 1.0
    partition Y as y @ thread[1] at i:
        y[0] = P[0]
""") == ["9 P0601"]


def test_a_loop_around_a_partition_repeats_it_for_all_blocks() -> None:
    assert kernel("""
    for k in range(4):
        partition P as p @ thread[1] at i * 2 + k:
            p[0] = 1.0
""") == ["8 P0601", "8 P0602"]


def test_a_loop_that_keeps_blocks_apart_is_accepted() -> None:
    assert (
        kernel("""
    for k in range(4):
        partition P as p @ thread[1] at i * 4 + k:
            p[0] = 1.0
""")
        == []
    )


def test_operations_are_numbered_over_the_whole_program() -> None:
    plan = planned("""
        @requires(block[1], thread[64])
        def turn(S: ptr(f32)):
            t: int @ thread[1] = id()
            partition S as s @ thread[1] at t:
                s[0] = 1.0
            v: f32 @ thread[1] = S[63 - t]

        @requires(block[1], thread[64])
        def twice():
            shared A: f32[64]
            turn(A)
            turn(A)
    """).plan
    # `turn` by itself, `turn` as `twice` calls it, `twice`.
    assert plan.numbers() == (0, 1, 2)
    assert [len(each.operations) for each in plan.without({0}).instances.values()] == [0, 1, 1]
    assert plan.without({0}).numbers() == (1, 2)


# --------------------------------------------------------------------------- odd places


def test_a_loop_without_statements_reads_in_its_condition() -> None:
    result = planned("""
        @requires(thread[32])
        def f(S: ptr(i32)):
            t: int @ thread[1] = id()
            x: int = 0
            partition S as s @ thread[1] at t:
                s[0] = t
            while broadcast(S[0]) > 64:
                pass
            partition S as s @ thread[1] at t:
                s[0] = t
    """)
    assert result.problems == []
    assert result.operations == [f"f: before 7 {WARP}", f"f: before 10 {WARP}"]


def test_a_condition_that_a_loop_s_body_changes() -> None:
    result = planned("""
        @requires(thread[32])
        def f(n: int, S: ptr(i32)):
            t: int @ thread[1] = id()
            x: int = 0
            partition S as s @ thread[1] at t:
                s[0] = t
            while broadcast(S[0]) < n:
                partition S as s @ thread[1] at t:
                    s[0] = n
    """)
    assert result.problems == []
    assert result.operations == [
        f"f: before 7 {WARP}",
        f"f: before 9 {WARP}",
        f"f: after 8 {WARP}",
    ]


def test_a_barrier_that_has_no_place_is_refused() -> None:
    result = planned("""
        @requires(thread[32])
        def turn(p: ptr(i32), t: int @ thread[1]) -> int @ thread[32]:
            partition p as s @ thread[1] at t:
                s[0] = t
            return broadcast(p[31])

        @requires(thread[32])
        def f(n: int, S: ptr(i32)):
            t: int @ thread[1] = id()
            x: int = 0
            while turn(S, t) > 64:
                pass
    """)
    assert result.problems == ["11 P0605"]


def test_a_branch_reads_what_its_condition_s_other_side_leaves() -> None:
    result = planned("""
        @requires(thread[32])
        def f(n: int, S: ptr(i32)) -> int:
            t: int @ thread[1] = id()
            x: int = 0
            partition S as s @ thread[1] at t:
                s[0] = t
            if broadcast(S[n]) > 3:
                partition S as s @ thread[1] at t:
                    s[0] = 0
                return 1
            partition S as s @ thread[1] at t:
                s[0] = 2
            return 0
    """)
    assert result.problems == []
    assert result.operations == [
        f"f: before 7 {WARP}",
        f"f: before 9 {WARP}",
        f"f: before 12 {WARP}",
    ]


UNSAFE = """
@requires(thread[1])
@effects(reads(p))
unsafe def peek(p: ptr(const f32), i: int) -> f32:
    v: f32
    asm("ld.shared.f32 $0, [$1];", outs(v), ins(shared_address(p, i)))
    return v

@requires(block[1], thread[64])
def f():
    t: int @ thread[1] = id()
    shared S: f32[64]
    shared R: f32[64]
    partition S as s @ thread[1] at t, R as r @ thread[1] at t:
        s[0] = 1.0
        r[0] = 1.0
    v: f32 @ thread[1] = peek(S, 5)
    partition {name} as s @ thread[1] at t:
        s[0] = 2.0
"""


def test_declared_effects_are_what_unsafe_text_does() -> None:
    result = planned(UNSAFE.format(name="S"))
    assert result.problems == []
    assert result.operations == [f"f: before 16 {BLOCK}", f"f: before 18 {BLOCK}"]
    assert planned(UNSAFE.format(name="R")).operations == [f"f: before 16 {BLOCK}"]


def test_undeclared_effects_are_everything_the_arguments_name() -> None:
    result = planned(UNSAFE.format(name="S").replace("@effects(reads(p))\n", ""))
    assert result.operations == [f"f: before 15 {BLOCK}", f"f: before 17 {BLOCK}"]

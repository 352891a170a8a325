"""What `prismc sync` says of phases, of copies on their way, of memory that ends, of pipelines."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.sync.account import account_of
from prismc.driver.sync.html import show_html
from prismc.driver.sync.text import show_account
from support.checking import check_texts
from support.rings import AHEAD, APART

CLUSTER = Path(__file__).with_name("cluster_matmul.prism")


def _shown(text: str, flags: str = "") -> tuple[str, str]:
    """The account of a program as text and as a page."""
    session = check_texts({"words.prism": text}, "words.prism", flags)
    session.root = "words.prism"
    checked = run_stages(session, session.files.known("words.prism"), CHECKS)
    functions = account_of(session, checked)
    page = show_html(functions, session.files, session.root, None)
    return show_account(functions, session.files), page


def _require(text: str, *lines: str) -> None:
    shown = [line.strip() for line in text.splitlines()]
    for line in lines:
        assert line in shown, f"{line}\n\n{text}"


def test_copies_that_are_on_their_way() -> None:
    text, page = _shown(AHEAD.replace("SLOTS", "3"))
    pipeline = (
        "the pipeline of line 8 (3 slots, 2 iterations filled ahead) is unrolled: its steps are "
        "few and small (unrolled about 11 instructions, of 1000 at most)"
    )
    _require(
        text,
        "copies of line 11 may still be writing `S[0]` when line 13 reads it",
        "copies of line 11 may still be writing `S[0]` when line 13 reads it, in a later iteration",
        "cannot be left out: a wait counts groups, and this ends one",
        "cost: 2 of 5, waits for nobody: an arrival, a fence, the end of a group",
        pipeline,
    )
    assert pipeline in page
    assert all(one != other for one, other in pairwise(text.splitlines()))


def test_phases_are_no_memory() -> None:
    text, _ = _shown(APART.replace("SLOTS", "3"))
    _require(
        text,
        "PHASE content of S[1]: line 21 waits (threads 0..63), line 13 arrives (threads 64..95), "
        "around the loop of line 5",
        "thread 0 arrives for the next phase of `room in S[2]` (line 21) before thread 64 has "
        "waited for this one (line 13)",
        "the pipeline of line 5 (3 slots, filled by other warps, as far ahead as there is room) is "
        "unrolled: its steps are few and small (unrolled about 14 instructions, of 1000 at most)",
    )
    assert "updates" not in text


def test_memory_that_ends_and_its_mbarriers() -> None:
    text, _ = _shown(CLUSTER.read_text(encoding="utf-8"), "--target sm_90a")
    _require(
        text,
        "thread 256 waits at the mbarriers (line 54), not yet initialised (line 21)",
        "products of line 63 may still be writing `acc` when line 80 reads it",
        "products of line 63 may still be writing `acc` when that ends (line 90)",
        "bulk copies of line 87 may still be reading `C_s` when that ends (line 90)",
        "thread 0 may still arrive at mbarriers of other blocks (line 61) when that ends (line 90)",
        "END C_s: line 87 reads (threads 0, 128, 384, 512), line 90 is the end, forward",
        "thread 0 writes `C_s` (line 82), which the engine that reads it (line 87) may not see",
        "thread 256 arrives for the next phase of `content of A_s[*], B_s[*]` (line 54, in a later "
        "iteration) before thread 0 has waited for this one (line 61)",
    )
    # Behind a loop that is one step, any slot may be on its way.
    assert "END A_s[*]: line 63 reads" in text
    assert "A_s[0]" not in text
    # Registers are their thread's own: no arrival puts them in order.
    assert "thread 0 writes `acc`" not in text


def _instructions(text: str) -> set[str]:
    """The instructions that are told."""
    lines = (line.strip() for line in text.splitlines())
    return {line.removeprefix("instruction: ") for line in lines if line.startswith("instruction")}


def test_all_instructions_of_an_operation() -> None:
    text, _ = _shown(APART.replace("SLOTS", "3"))
    assert "bar.warp.sync 0xffffffff; mbarrier.arrive [mbarrier 0] by one lane of each warp" in (
        _instructions(text)
    )
    assert "fence.mbarrier_init" not in text, "no copy and no other block comes to these"
    text, _ = _shown(CLUSTER.read_text(encoding="utf-8"), "--target sm_90a")
    arrival = "mapa.shared::cluster, mbarrier.arrive.release.cluster [mbarrier 1, slot before]"
    assert _instructions(text) >= {
        "mbarrier.init [mbarrier 0], 1 (3 of them)",
        "mbarrier.init [mbarrier 1], 16 (3 of them); fence.mbarrier_init.release.cluster",
        "mbarrier.try_wait.parity.acquire.cluster [mbarrier 0, slot], phase",
        f"bar.warp.sync 0xffffffff; {arrival} (one for each of 2 blocks)",
    }

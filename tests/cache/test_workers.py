"""Work in several processes: all of it is done, whatever happens to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prismc.driver.workers import shared_work

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@pytest.mark.parametrize("jobs", [2, 3, 50])
def test_everything_is_done_once(jobs: int) -> None:
    done = dict(shared_work(lambda number: [number * number, b"x" * number], 20, jobs))
    assert done == {number: [number * number, b"x" * number] for number in range(20)}


def test_one_job_is_left_to_the_caller() -> None:
    assert list(shared_work(lambda number: number, 3, 1)) == [(0, None), (1, None), (2, None)]
    assert list(shared_work(lambda number: number, 1, 8)) == [(0, None)]


def test_large_answers() -> None:
    (first, second) = shared_work(lambda number: bytes([number]) * 3_000_000, 2, 2)
    assert {first[0], second[0]} == {0, 1}
    assert all(answer == bytes([number]) * 3_000_000 for number, answer in (first, second))


def test_what_raises_or_dies_is_left_to_the_caller() -> None:
    def work(number: int) -> str:
        if number == 3:
            raise ValueError("no")
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    answers = dict(shared_work(work, 12, 4))
    assert sorted(answers) == list(range(12))
    assert {number for number, answer in answers.items() if answer is None} == {3, 5}


def test_all_workers_may_die() -> None:
    answers = dict(shared_work(lambda number: os._exit(1), 5, 2))
    assert answers == dict.fromkeys(range(5))


# Tells the numbers of its workers, each of which is then busy or idle, and waits to be killed.
PARENT = r"""
import os, time
from prismc.driver.workers import shared_work

def work(number):
    os.write(1, f"{os.getpid()}\n".encode())
    if number == 1:
        time.sleep(0.5)
    return 0

for _ in shared_work(work, 2, 2):
    time.sleep(600)
"""


def test_workers_end_with_a_killed_parent() -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        parent.kill()
        parent.wait()
    for _ in range(5000):
        if not any(is_alive(worker) for worker in workers):
            return
        time.sleep(0.02)
    raise AssertionError("a worker outlived its parent")


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


# A process that imports for its workers, builds one file itself, and says what that imported.
IMPORTS = """
import sys
from prismc.cli.main import run
from prismc.driver.pipeline import EMITS, import_stages
import prismc.cli.build
import_stages(EMITS)
known = set(sys.modules)
assert run(["build", "--no-cache", sys.argv[1], "-o", sys.argv[2]]) == 0
print(*sorted(set(sys.modules) - known))
"""


def test_what_workers_import_is_there_before_they_are_forked(tmp_path: Path) -> None:
    example = str(Path(__file__).resolve().parents[2] / "examples" / "tf32_matmul.prism")
    command = [sys.executable, "-c", IMPORTS, example, str(tmp_path / "k.cu")]
    modules = subprocess.check_output(command, text=True).split()
    # Those of a file's tests are for the files that have some.
    parts = ("prismc.frontend", "prismc.checker", "prismc.ir", "prismc.backend")
    late = [each for each in modules if each.startswith(parts)]
    assert [each for each in late if not each.startswith("prismc.checker.host")] == []

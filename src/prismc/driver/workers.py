"""Work shared among processes that are forked from this one, where the system has `fork`."""

from __future__ import annotations

import marshal
import os
import select
import signal
import struct
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

_NUMBER = struct.Struct("<q")


def usual_jobs() -> int:
    """As many as there are processors for this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def shared_work(
    work: Callable[[int], Any], count: int, jobs: int
) -> Iterator[tuple[int, Any | None]]:
    """Each number below `count` with what `work` makes of it, in the order they are done.

    What `work` returns is plain data, as `marshal` takes it, and never None; None comes for what a
    process could not do, because it raised or was killed: the caller does it again and sees why.
    With one job, or without `fork`, everything is None's turn. Workers end with this process.
    """
    jobs = min(jobs, count)
    if jobs < 2 or not hasattr(os, "fork"):
        yield from ((number, None) for number in range(count))
        return
    workers: list[_Worker] = []
    try:
        for _ in range(jobs):
            workers.append(_forked(work, workers))
        yield from _shared_out(workers, count)
    finally:
        for worker in workers:
            worker.end()


def _shared_out(workers: list[_Worker], count: int) -> Iterator[tuple[int, Any | None]]:
    """Give each free worker the next number until all are done."""
    waiting = list(range(count - 1, -1, -1))
    busy: dict[int, tuple[_Worker, int]] = {}

    def give(worker: _Worker) -> None:
        if waiting:
            number = waiting.pop()
            busy[worker.answers] = (worker, number)
            with suppress(BrokenPipeError):  # it is dead, and its answers end here
                os.write(worker.orders, _NUMBER.pack(number))

    for worker in workers:
        give(worker)
    while busy:
        for ready in select.select(list(busy), [], [])[0]:
            worker, number = busy.pop(ready)
            answer = _received(ready)
            if answer is not None:
                give(worker)
            yield number, answer
    # Workers that died have left what nobody was given.
    yield from ((number, None) for number in reversed(waiting))


class _Worker(NamedTuple):
    """A child: its process, and the pipes to it and from it."""

    process: int
    orders: int
    answers: int

    def end(self) -> None:
        """The end of its orders ends the child."""
        os.close(self.orders)
        os.close(self.answers)
        with suppress(ChildProcessError):
            os.waitpid(self.process, 0)


def _forked(work: Callable[[int], Any], others: list[_Worker]) -> _Worker:
    orders, answers = os.pipe(), os.pipe()
    with warnings.catch_warnings():
        # Python warns of threads that a child would lack: it needs none of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        os.close(orders[0])
        os.close(answers[1])
        return _Worker(process, orders[1], answers[0])
    try:
        # Else an elder worker would not see that this process's parent is gone.
        for descriptor in (orders[1], answers[0], *(d for w in others for d in w[1:])):
            os.close(descriptor)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _serve(work, orders[0], answers[1])
    finally:
        os._exit(0)  # nothing of the parent's is to be flushed or cleaned up here


def _serve(work: Callable[[int], Any], orders: int, answers: int) -> None:
    """Do what is ordered until the orders end; whatever is raised ends the process."""
    while order := os.read(orders, _NUMBER.size):
        content = marshal.dumps(work(_NUMBER.unpack(order)[0]))
        _send(answers, _NUMBER.pack(len(content)) + content)


def _send(pipe: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _received(pipe: int) -> Any | None:
    """One answer; None where the worker has ended before it was complete."""
    head = _exactly(pipe, _NUMBER.size)
    content = head and _exactly(pipe, _NUMBER.unpack(head)[0])
    return marshal.loads(content) if content else None


def _exactly(pipe: int, size: int) -> bytes | None:
    pieces = []
    while size:
        piece = os.read(pipe, min(size, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)

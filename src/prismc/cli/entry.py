"""Where the process starts: a fast `--version`, a deep stack, and one message for our own bugs.

Exit codes: 0 fine, 1 the program is wrong, 2 the command line or the machine is wrong, 3 a defect
of prismc, 130 interrupted, 141 the reader of our output went away.
"""

from __future__ import annotations

import errno
import gc
import os
import sys

from prismc.source.version import VERSION

# Nested programs nest calls. The interpreter's own limit of 1,000 is for runaway recursion; what
# is deeper than this becomes an ordinary diagnostic in the driver.
RECURSION_LIMIT = 60_000
STACK_SIZES = (512 << 20, 64 << 20)

# Commands that serve or run for as long as it takes: they search for garbage that refers to itself
# after so many new objects. For all others a search costs a tenth of the time and finds little;
# with the interpreter's own 700 objects it is a tenth of a start-up, too.
LIVE_LONG = {"run", "test", "cpu-driver", "lsp"}
NEW_OBJECTS = 50_000

# Seconds that an interrupted run may still take, so that outputs being written become whole.
GRACE = 0.3

# What a write to standard output can fail with; all other files have names.
NOT_WRITTEN = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}

ENVIRONMENT_WRONG, OUR_BUG, INTERRUPTED, READER_GONE = 2, 3, 130, 141


def main() -> int:
    """Run the command line of this process; returns the exit code."""
    _have_streams()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"prismc {VERSION}\n")
        return 0
    if LIVE_LONG.intersection(arguments[:1]):
        gc.set_threshold(NEW_OBJECTS)
    else:
        gc.disable()
    try:
        return _with_deep_stack(arguments)
    finally:
        gc.freeze()  # else the interpreter's end would search everything once more


def _have_streams() -> None:
    """Standard streams that the caller has closed are None in Python: write to nowhere instead."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _with_deep_stack(arguments: list[str]) -> int:
    """Run in a thread, since only a thread's stack can be chosen by the program itself."""
    # Here and below: `--version` must not pay for these imports.
    import signal
    import threading

    answer: list[int] = []

    def work() -> None:
        answer.append(_guarded(arguments))

    sys.setrecursionlimit(RECURSION_LIMIT)
    for size in STACK_SIZES:
        threading.stack_size(size)
        thread = threading.Thread(target=work, name="prismc", daemon=True)
        try:
            thread.start()
            threading.stack_size(0)  # other threads (compilers) need no deep stack
            thread.join()
        except RuntimeError:  # not enough address space for this stack
            continue
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if thread.is_alive():
                thread.join(GRACE)
            show_cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # a progress bar hides it
            sys.stderr.write(f"{show_cursor}prismc: interrupted\n")
            sys.stderr.flush()
            # Not `return`: a CUDA compiler that is still at work crashes in the interpreter's end.
            os._exit(INTERRUPTED)
        return answer[0]
    threading.stack_size(0)
    sys.setrecursionlimit(5_000)
    return _guarded(arguments)


def _guarded(arguments: list[str]) -> int:
    """Run the command; whatever escapes is told once."""
    try:
        from prismc.cli.main import run

        code = run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        # Files that cannot be read or written are diagnostics long before; the rest has no name.
        if error.filename is not None:
            return _defect(error, arguments)
        return _stream_failed(error) if error.errno in NOT_WRITTEN else _system_failed(error)
    except Exception as error:  # noqa: BLE001 - the last line of defence: nobody sees a traceback
        return _defect(error, arguments)


def _stream_failed(error: OSError) -> int:
    """Standard output does not take what is written: its reader went away, its disk is full."""
    # The interpreter flushes standard output again at its end: give it somewhere to go.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    sys.stderr.write(f"prismc: standard output: {error.strerror}\n")
    return ENVIRONMENT_WRONG


def _system_failed(error: OSError) -> int:
    """The machine refuses what it must give, or this installation is not whole."""
    sys.stderr.write(f"prismc: {error.strerror or error}\n")
    return ENVIRONMENT_WRONG


def _defect(error: Exception, arguments: list[str]) -> int:
    from prismc.cli.crash import tell_crash

    tell_crash(error, arguments)
    return OUR_BUG

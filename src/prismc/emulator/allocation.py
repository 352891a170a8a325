"""Keeps freed memory for the next array.

An operation on 16,384 lanes of 64 bits makes arrays of 128 KiB and frees them at once. The C
library gives blocks of that size back to the system and asks for them again, and the system zeroes
every page anew: that cost two thirds of the time of fused f64 arithmetic and of `mma`.
"""

from __future__ import annotations

import ctypes
from functools import cache

# mallopt(3): blocks below the first size come from the heap, which keeps up to the second.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_LARGEST_FROM_HEAP = 32 << 20
_KEPT = 256 << 20


@cache
def keep_freed_memory() -> None:
    """Asks glibc to hold on to freed arrays, once a process. Elsewhere nothing happens."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    set_option(_MMAP_THRESHOLD, _LARGEST_FROM_HEAP)
    set_option(_TRIM_THRESHOLD, _KEPT)

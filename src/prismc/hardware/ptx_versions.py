"""Versions of PTX, and which CUDA release reads which (PTX ISA, "Release Notes")."""

from __future__ import annotations

Version = tuple[int, int]

# Nothing is told apart below: it is the first that has all that targets from sm_80 on need.
LEAST: Version = (7, 0)

# CUDA x.y reads PTX (x - 4).y; but 12.6 brought none of its own, and those behind it are one less.
_SKIPPED = (12, 6)


def version(text: str) -> Version:
    """`8.6` as numbers. Raises ValueError."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def version_text(number: Version) -> str:
    return f"{number[0]}.{number[1]}"


def cuda_of(ptx: Version) -> Version:
    """The first CUDA release that reads a version."""
    major, minor = ptx[0] + 4, ptx[1]
    return major, minor + (major == _SKIPPED[0] and minor >= _SKIPPED[1])


def newest_for(cuda: Version) -> Version:
    """The newest version that a CUDA release reads."""
    return cuda[0] - 4, cuda[1] - (cuda[0] == _SKIPPED[0] and cuda[1] >= _SKIPPED[1])

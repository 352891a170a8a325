"""Global memory between blocks: nothing orders them before the kernel ends.

Accesses of different blocks to one element, one of them a write, must be impossible, or it is an
error. Inside one execution of a narrowing each block is taken to keep to its own piece (the paper's
piece discipline), unless it certainly does not; everything else is compared by footprints, for all
pairs of different blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations_with_replacement
from typing import NamedTuple

from prismc.checker.sync.asked import Question, is_proved
from prismc.checker.sync.equations import Numbers
from prismc.checker.sync.footprints import Footprint
from prismc.checker.sync.forms import GRID_WIDE, Atom, Monomial
from prismc.checker.sync.graph import Access
from prismc.checker.sync.near import known_elements
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.tiles import are_alike, are_apart, common_element
from prismc.source.record import Record


class Witness(Record):
    """Two blocks that meet at an element: the first access in block `first`, the second in
    `second`. Each block adds `stride` to the index. The elements of a tensor have a number for each
    dimension, innermost last."""

    first: int
    second: int
    element: tuple[int, ...]
    stride: int


class Clash(Record):
    """Two accesses of different blocks that may meet; `witness` is None if that is not known.

    `in_pieces` holds if both go through one narrowing, whose pieces then certainly overlap. Where
    nothing reads the block's index, a narrowing is taken to be meant for a single block.
    """

    earlier: Access
    later: Access
    witness: Witness | None
    in_pieces: bool


def clashes(accesses: Iterable[Access], block: Atom | None) -> Iterator[Clash]:
    """Accesses to kernel arguments that different blocks may make at one element.

    `block` is the symbol of the block's index, None if nothing reads it.
    """
    shared = [access for access in accesses if any(root.is_global for root in access.roots)]
    written = {
        root for access in shared if access.kind is not AccessKind.READ for root in access.roots
    }
    touched = [access for access in shared if not written.isdisjoint(access.roots)]
    offsets = {access.footprint: _offsets(access.footprint) for access in touched}
    part_of = _parts(touched, block, offsets)
    for earlier, later in combinations_with_replacement(touched, 2):
        part = part_of.get(earlier)
        if part is not None and part is part_of.get(later):
            continue
        if earlier.kind is later.kind and earlier.kind is not AccessKind.WRITE:
            continue
        if set(earlier.roots).isdisjoint(later.roots):
            continue
        in_pieces = _in_own_piece(earlier, later)
        if earlier.roots[0].is_map and later.roots[0].is_map:
            yield from () if in_pieces else _of_tensor(earlier, later, block)
            continue
        if not in_pieces and _is_proved(earlier, later):
            continue
        for witness in _meet(earlier.footprint, later.footprint, block, offsets):
            if not in_pieces or (witness is not None and witness.stride):
                yield Clash(earlier=earlier, later=later, witness=witness, in_pieces=in_pieces)


def _of_tensor(earlier: Access, later: Access, block: Atom | None) -> Iterator[Clash]:
    """What blocks do to the array of a tensor map. Where nothing reads the block's index, the code
    is taken to be meant for a single block. Boxes that each block moves once, at places that differ
    by known numbers, are taken for pieces of its own tile unless they certainly meet."""
    first, second = earlier.footprint, later.footprint
    if block is None and all(map(_is_for_one_block, (first, second))):
        return
    if are_apart(first, second, _Blocks(block)):
        return
    found = None if block is None else common_element(first, second, block)
    witness = None
    if found is not None:
        witness = Witness(first=found[0], second=found[1], element=found[2], stride=0)
    are_pieces = (
        not earlier.loops and not later.loops and (earlier is later or are_alike(first, second))
    )
    if witness is not None or not are_pieces:
        yield Clash(earlier=earlier, later=later, witness=witness, in_pieces=False)


def _is_for_one_block(footprint: Footprint) -> bool:
    """Whether the places depend on arguments and counters of loops alone."""
    atoms = (atom for point in footprint.points for each in point.form for atom in each)
    return bool(footprint.points) and all(map(_is_of_arguments, atoms))


def _is_of_arguments(atom: Atom) -> bool:
    if atom.width >= GRID_WIDE or atom.origin is None:
        return atom.width >= GRID_WIDE or atom.step != 0
    inner = (one for form in atom.origin.operands for each in form for one in each)
    return bool(atom.origin.operands) and all(map(_is_of_arguments, inner))


class _Blocks(Numbers):
    """What is known of symbols that two different blocks read."""

    def __init__(self, block: Atom | None) -> None:
        self._block = block

    def is_same(self, atom: Atom) -> bool:
        return atom.width >= GRID_WIDE and not atom.loops

    def differs(self, atom: Atom) -> bool:
        return atom is self._block

    def later(self, counter: Atom) -> tuple[int, int] | None:
        return None

    def are_both(self, mine: Mapping[int, int], other: Mapping[int, int]) -> bool:
        return True


def _parts(
    accesses: Iterable[Access], block: Atom | None, offsets: Mapping[Footprint, _Offsets]
) -> dict[Access, list[Access]]:
    """Accesses that together stay in the block's own part, whichever two of them one takes: what
    unrolled code makes thousands of. An access is in one such list at most."""
    alike: dict[frozenset[tuple[Monomial, int]], list[Access]] = {}
    for access in accesses:
        footprint = access.footprint
        if footprint.threads and footprint.points and _stride(footprint, footprint, block):
            alike.setdefault(frozenset(footprint.common.items()), []).append(access)
    found: dict[Access, list[Access]] = {}
    for group in alike.values():
        first = group[0].footprint
        known = [offsets[access.footprint] for access in group]
        extent = max(each.high for each in known) - min(each.low for each in known)
        if extent < abs(_stride(first, first, block) or 0):
            found.update(dict.fromkeys(group, group))
    return found


def _is_proved(earlier: Access, later: Access) -> bool:
    """Whether a prover, if there is one, has shown that different blocks never meet there."""
    if earlier.asked is None or later.asked is None:
        return False
    question = Question(
        earlier=earlier.asked,
        later=later.asked,
        width=GRID_WIDE,
        ended=frozenset((*earlier.loops, *later.loops)),
        of_blocks=True,
    )
    return is_proved(question)


def _in_own_piece(earlier: Access, later: Access) -> bool:
    """Whether both go through one narrowing that is executed once, or whose pieces never meet."""
    return any(
        mine.view == other.view and (mine.is_disjoint or not mine.loops)
        for mine in earlier.views
        for other in later.views
    )


class _Offsets(NamedTuple):
    """The known parts of an index, in the order of the threads, with the least and the greatest."""

    all: dict[int, None]
    low: int
    high: int


def _meet(
    first: Footprint,
    second: Footprint,
    block: Atom | None,
    offsets: Mapping[Footprint, _Offsets],
) -> tuple[Witness | None, ...]:
    """One witness (None where none can be named) if the two may meet, nothing if they never do."""
    if not first.threads or not second.threads:
        return ()
    if not first.points or not second.points:
        return (None,)
    stride = _stride(first, second, block)
    if stride is None:
        return (None,)
    mine, other = offsets[first], offsets[second]
    witness: Witness | None = None
    if stride == 0:
        common = next((offset for offset in mine.all if offset in other.all), None)
        if common is not None:
            witness = Witness(first=0, second=1, element=(common,), stride=0)
    else:
        pair = _apart(mine, other, stride)
        if pair is not None:
            witness = _witness(*pair, stride)
    if witness is None:
        return ()
    is_named = first.is_certain and second.is_certain and first.common.keys() <= {(block,)}
    return (witness if is_named else None,)


def _stride(first: Footprint, second: Footprint, block: Atom | None) -> int | None:
    """What one block adds to the index; None if anything else is left that blocks differ in."""
    stride = 0
    monomials: dict[Monomial, None] = dict.fromkeys(
        (*first.common, *second.common, *first.varying, *second.varying)
    )
    for monomial in monomials:
        mine, other = first.common.get(monomial), second.common.get(monomial)
        if mine is None or mine != other:
            return None
        if block is not None and monomial == (block,):
            stride = mine
        elif any(atom.width < GRID_WIDE or atom.loops for atom in monomial):
            return None
    return stride


def _offsets(footprint: Footprint) -> _Offsets:
    found = known_elements(footprint)
    return _Offsets(all=found, low=min(found, default=0), high=max(found, default=0))


def _apart(mine: _Offsets, other: _Offsets, stride: int) -> tuple[int, int] | None:
    """Offsets that differ by a multiple of the stride, but not by 0: different blocks meet."""
    if max(mine.high, other.high) - min(mine.low, other.low) < abs(stride):
        return None  # the common case: all lie within one block's part
    by_rest: dict[int, list[int]] = {}
    for offset in other.all:
        by_rest.setdefault(offset % stride, []).append(offset)
    for offset in mine.all:
        for candidate in by_rest.get(offset % stride, ()):
            if candidate != offset:
                return offset, candidate
    return None


def _witness(mine: int, other: int, stride: int) -> Witness:
    # stride * first + mine = stride * second + other
    difference = (other - mine) // stride
    first, second = max(difference, 0), max(-difference, 0)
    element = stride * first + mine
    return Witness(first=first, second=second, element=(element,), stride=stride)

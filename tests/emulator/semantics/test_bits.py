"""Bit instructions against the loops of the PTX ISA, written out over Python integers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from emulator.semantics.harness import bound, compare, integers, pairs
from emulator.semantics.oracle import integer, wrap


def column(width: int, count: int = 300, seed: int = 0) -> list[int]:
    return integers(width, count, seed)


def bit(bits: int, place: int) -> int:
    return bits >> place & 1


@pytest.mark.parametrize("width", [32, 64])
def test_counts(width: int) -> None:
    values = [*column(width), *(1 << place for place in range(width))]
    values += [(1 << place) - 1 for place in range(width)]
    compare(f"popc.b{width}", lambda a: a.bit_count(), [values])
    compare(f"clz.b{width}", lambda a: width - a.bit_length(), [values])
    compare(f"brev.b{width}", lambda a: int(f"{a:0{width}b}"[::-1], 2), [values])


@pytest.mark.parametrize("type_name", ["u32", "s32", "u64", "s64"])
def test_bfind(type_name: str) -> None:
    width = int(type_name[1:])
    values = [*column(width), *(1 << place for place in range(width))]
    values += [wrap(-1 << place, width) for place in range(width)]

    def position(a: int) -> int:
        if type_name.startswith("s") and bit(a, width - 1):
            a = wrap(~a, width)
        return a.bit_length() - 1 if a else 0xFFFFFFFF

    def amount(a: int) -> int:
        found = position(a)
        return found if found == 0xFFFFFFFF else width - 1 - found

    compare(f"bfind.{type_name}", position, [values])
    compare(f"bfind.shiftamt.{type_name}", amount, [values])


def test_fns() -> None:
    generator = random.Random(4)
    masks = [0xAAAAAAAA] * 4 + column(32, 2000)
    bases = [3, 3, 2, 2] + [generator.randint(0, 31) for _ in masks[4:]]
    offsets = [1, -1, 1, -1] + [generator.randint(-33, 33) for _ in masks[4:]]

    def position(mask: int, base: int, offset: int) -> int:
        steps = integer(offset, "s32")
        if steps == 0:
            return base if bit(mask, base) else 0xFFFFFFFF
        count, place, step = abs(steps) - 1, base, 1 if steps > 0 else -1
        while 0 <= place < 32:
            if bit(mask, place):
                if count == 0:
                    return place
                count -= 1
            place += step
        return 0xFFFFFFFF

    compare("fns.b32", position, [masks, bases, [wrap(offset, 32) for offset in offsets]])


def field_operands(width: int, sources: int) -> list[list[int]]:
    """Positions and lengths around 0, 32, 64 and 256 in every combination."""
    places = [0, 1, 5, 8, 30, 31, 32, 33, 40, 62, 63, 64, 65, 127, 255, 256, 257, 0xFFFFFFFF]
    positions, lengths = (list(each) for each in pairs(places))
    repeated = 6
    operands = [column(width, repeated * len(positions), seed) for seed in range(sources)]
    return [*operands, positions * repeated, lengths * repeated]


@pytest.mark.parametrize("type_name", ["u32", "s32", "u64", "s64"])
def test_bfe(type_name: str) -> None:
    width = int(type_name[1:])

    def extract(a: int, position: int, length: int) -> int:
        start, count, top = position & 0xFF, length & 0xFF, width - 1
        signed = type_name.startswith("s") and count > 0
        sign = bit(a, min(start + count - 1, top)) if signed else 0
        result = 0
        for place in range(width):
            inside = place < count and start + place <= top
            result |= (bit(a, start + place) if inside else sign) << place
        return result

    compare(f"bfe.{type_name}", extract, field_operands(width, 1))


@pytest.mark.parametrize("width", [32, 64])
def test_bfi(width: int) -> None:
    def insert(a: int, b: int, position: int, length: int) -> int:
        start, count = position & 0xFF, length & 0xFF
        for place in range(count):
            if start + place < width:
                b = b & ~(1 << start + place) | bit(a, place) << start + place
        return b

    compare(f"bfi.b{width}", insert, field_operands(width, 2))


@pytest.mark.parametrize("type_name", ["u32", "s32"])
@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_szext(type_name: str, mode: str) -> None:
    def extended(a: int, count: int) -> int:
        if mode == "clamp" and count >= 32:
            return a
        n = count & 31
        low = a & (1 << n) - 1
        negative = type_name == "s32" and n > 0 and bit(low, n - 1)
        return wrap(low - (1 << n) if negative else low, 32)

    counts = [0, 1, 2, 7, 8, 31, 32, 33, 64, 65, 0xFFFFFFFF]
    values = column(32, 40)
    first = [value for value in values for _ in counts]
    compare(f"szext.{mode}.{type_name}", extended, [first, counts * len(values)])


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_bmsk(mode: str) -> None:
    def mask(a: int, b: int) -> int:
        a1, b1 = a & 31, b & 31
        low = wrap(-1 << a1, 32)
        total = a1 + b1
        high = wrap(-1 << total, 32)
        overflow = total >= 32
        if mode == "clamp" and a >= 32:
            low, overflow = 0, True
        if mode == "clamp" and b >= 32:
            overflow = True
        if overflow:
            high = 0
        elif b1 == 0:
            high = 0xFFFFFFFF
        return low & ~high

    places = [*range(34), 63, 64, 65, 0xFFFFFFFF]
    compare(f"bmsk.{mode}.b32", mask, pairs(places))


@pytest.mark.parametrize("width", [16, 32, 64])
def test_logic(width: int) -> None:
    operands = pairs(column(width, 20))
    compare(f"and.b{width}", lambda a, b: a & b, operands)
    compare(f"or.b{width}", lambda a, b: a | b, operands)
    compare(f"xor.b{width}", lambda a, b: a ^ b, operands)
    compare(f"not.b{width}", lambda a: wrap(~a, width), operands[:1])
    compare(f"cnot.b{width}", lambda a: int(a == 0), [[0, 1, *column(width)]])


def test_logic_on_predicates() -> None:
    operands = [[False, False, True, True], [False, True, False, True]]
    compare("and.pred", lambda a, b: a and b, operands)
    compare("or.pred", lambda a, b: a or b, operands)
    compare("xor.pred", lambda a, b: a != b, operands)
    compare("not.pred", lambda a: not a, operands[:1])


@pytest.mark.parametrize("table", range(256))
def test_lop3_of_every_table(table: int) -> None:
    """0xF0, 0xCC and 0xAA as operands give the table back; random words check every bit place."""

    def logic(a: int, b: int, c: int, _: int) -> int:
        result = 0
        for place in range(32):
            entry = bit(a, place) << 2 | bit(b, place) << 1 | bit(c, place)
            result |= bit(table, entry) << place
        return result

    operands = [[0xF0, *column(32, 8, seed)] for seed in range(3)]
    operands[1][0], operands[2][0] = 0xCC, 0xAA
    compare("lop3.b32", logic, [*operands, [table] * len(operands[0])])


@pytest.mark.parametrize("combine", ["and", "or"])
def test_lop3_with_a_predicate(combine: str) -> None:
    a, b, c = (column(32, 20, seed) for seed in range(3))
    a[:4], b[:4] = [0] * 4, [0] * 4
    q = [bool(place & 1) for place in range(len(a))]

    def logic(a: int, b: int, c: int, _: int, q: bool) -> tuple[int, bool]:
        result = a & b
        return result, (result != 0 and q) if combine == "and" else (result != 0 or q)

    compare(f"lop3.{combine}.b32", logic, [a, b, c, [0xC0] * len(a), q])


SHIFTS = [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1 << 31, (1 << 32) - 1]


def shift_operands(width: int) -> list[list[int]]:
    values = column(width, 30)
    return [[value for value in values for _ in SHIFTS], SHIFTS * len(values)]


@pytest.mark.parametrize("width", [16, 32, 64])
def test_shifts(width: int) -> None:
    operands = shift_operands(width)
    compare(f"shl.b{width}", lambda a, n: wrap(a << min(n, width), width), operands)
    for letter in "bu":
        compare(f"shr.{letter}{width}", lambda a, n: a >> min(n, width), operands)
    compare(
        f"shr.s{width}",
        lambda a, n: wrap(integer(a, f"s{width}") >> min(n, width), width),
        operands,
    )


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_funnel_shifts(mode: str) -> None:
    high, counts = shift_operands(32)
    low = column(32, len(high), seed=8)

    def amount(count: int) -> int:
        return min(count, 32) if mode == "clamp" else count & 31

    def left(a: int, b: int, count: int) -> int:
        return (b << 32 | a) << amount(count) >> 32 & 0xFFFFFFFF

    def right(a: int, b: int, count: int) -> int:
        return (b << 32 | a) >> amount(count) & 0xFFFFFFFF

    compare(f"shf.l.{mode}.b32", left, [low, high, counts])
    compare(f"shf.r.{mode}.b32", right, [low, high, counts])


def bytes_of(a: int, b: int) -> list[int]:
    return [(b << 32 | a) >> 8 * place & 0xFF for place in range(8)]


def joined(parts: list[int]) -> int:
    return sum(part << 8 * place for place, part in enumerate(parts))


def test_prmt() -> None:
    def permuted(a: int, b: int, control: int) -> int:
        found = []
        for place in range(4):
            selector = control >> 4 * place & 0xF
            chosen = bytes_of(a, b)[selector & 7]
            found.append((0xFF if chosen & 0x80 else 0) if selector & 8 else chosen)
        return joined(found)

    a, b, c = (column(32, 2000, seed) for seed in range(3))
    c[:6] = [0x3210, 0x7654, 0xFEDC, 0x8888, 0x5410, 0x7632]
    compare("prmt.b32", permuted, [a, b, c])


# How the PTX ISA describes each mode: bytes of {b, a} from a position on, forwards or backwards,
# one byte or one half for all, and clamped at the control from below or above.
MODES: dict[str, Callable[[int, int], int]] = {
    "f4e": lambda n, place: n + place,
    "b4e": lambda n, place: (n - place) % 8,
    "rc8": lambda n, place: n,
    "ecl": lambda n, place: max(n, place),
    "ecr": lambda n, place: min(n, place),
    "rc16": lambda n, place: 2 * (n % 2) + place % 2,
}


@pytest.mark.parametrize("mode", MODES)
def test_prmt_modes(mode: str) -> None:
    def permuted(a: int, b: int, control: int) -> int:
        return joined([bytes_of(a, b)[MODES[mode](control & 3, place)] for place in range(4)])

    a, b, c = (column(32, 200, seed) for seed in range(3))
    a[:4], b[:4], c[:4] = [0x33221100] * 4, [0x77665544] * 4, [0, 1, 2, 3]
    compare(f"prmt.{mode}.b32", permuted, [a, b, c])


def test_a_mode_may_follow_the_type() -> None:
    assert bound("prmt.b32.f4e")[0].has("f4e")

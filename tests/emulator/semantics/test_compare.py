"""Comparisons, selections and sign handling against Python's own ordering of exact values."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

from emulator.semantics import oracle
from emulator.semantics.harness import compare, integers, operand_columns, pairs, special_floats
from emulator.semantics.oracle import NAN, integer, value

RELATIONS: dict[str, Callable[..., bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
COMBINE: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda t, c: t and c,
    "or": lambda t, c: t or c,
    "xor": lambda t, c: t != c,
}


def real(bits: int, name: str) -> float | oracle.Fraction:
    number = value(bits, name)
    return float(number) if isinstance(number, str) else number


def related(relation: str, a: int, b: int, name: str) -> bool:
    unordered = NAN in (value(a, name), value(b, name))
    if relation in ("num", "nan"):
        return unordered == (relation == "nan")
    if unordered:
        return relation.endswith("u")
    return RELATIONS[relation.removesuffix("u")](real(a, name), real(b, name))


ORDERED = (*RELATIONS, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def flush(bits: int, name: str) -> int:
    layout = oracle.LAYOUTS[name]
    field = bits >> layout.fraction & (1 << layout.exponent) - 1
    return bits if field else bits & 1 << layout.width - 1


def predicates(count: int) -> list[bool]:
    return [bool(place % 3) for place in range(count)]


INTEGERS = ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64")


@pytest.mark.parametrize("type_name", INTEGERS)
def test_setp_on_integers(type_name: str) -> None:
    operands = pairs(integers(int(type_name[1:]), 22))
    names = list(RELATIONS) if type_name[0] == "s" else [*RELATIONS, *UNSIGNED_NAMES]
    for name in names[:2] if type_name[0] == "b" else names:
        relation = RELATIONS[UNSIGNED_NAMES.get(name, name)]

        def both(a: int, b: int, r: Callable[..., bool] = relation) -> tuple[bool, bool]:
            result = r(integer(a, type_name), integer(b, type_name))
            return result, not result

        compare(f"setp.{name}.{type_name}", both, operands)
        for combine, join in COMBINE.items():
            third = predicates(len(operands[0]))
            compare(
                f"setp.{name}.{combine}.{type_name}",
                lambda a, b, c, j=join, f=both: tuple(j(each, c) for each in f(a, b)),
                [*operands, third],
            )


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("relation", ORDERED)
def test_setp_on_floats(name: str, relation: str) -> None:
    operands = operand_columns(name, 2, count=20)
    for ftz in ("", ".ftz") if name in ("f16", "f32") else ("",):

        def both(a: int, b: int, flushing: str = ftz) -> tuple[bool, bool]:
            if flushing:
                a, b = flush(a, name), flush(b, name)
            result = related(relation, a, b, name)
            return result, not result

        compare(f"setp.{relation}{ftz}.{name}", both, operands)
        third = predicates(len(operands[0]))
        for combine, join in COMBINE.items() if relation in ("lt", "neu") else ():
            compare(
                f"setp.{relation}.{combine}{ftz}.{name}",
                lambda a, b, c, f=both, j=join: tuple(j(each, c) for each in f(a, b)),
                [*operands, third],
            )


def packed_columns(name: str) -> list[list[int]]:
    low = [column[::3] for column in operand_columns(name, 2, count=20, seed=1)]
    high = [column[::-1] for column in low]
    return [
        [x | y << 16 for x, y in zip(*both, strict=True)] for both in zip(low, high, strict=True)
    ]


@pytest.mark.parametrize("opcode", ["f16x2", "ftz.f16x2", "bf16x2"])
@pytest.mark.parametrize("relation", ORDERED)
def test_setp_and_set_on_pairs(opcode: str, relation: str) -> None:
    """p is the low half's result, q the high half's; `set` writes one half each."""
    type_name = opcode.rpartition(".")[2]
    name = type_name.removesuffix("x2")
    operands = packed_columns(name)

    def halves(a: int, b: int) -> tuple[bool, bool]:
        parts = [(a & 0xFFFF, b & 0xFFFF), (a >> 16, b >> 16)]
        if "ftz" in opcode:
            parts = [(flush(x, name), flush(y, name)) for x, y in parts]
        return related(relation, *parts[0], name), related(relation, *parts[1], name)

    compare(f"setp.{relation}.{opcode}", halves, operands)
    third = predicates(len(operands[0]))
    for combine, join in COMBINE.items():
        compare(
            f"setp.{relation}.{combine}.{opcode}",
            lambda a, b, c, j=join: tuple(j(each, c) for each in halves(a, b)),
            [*operands, third],
        )
    head, _, _ = opcode.rpartition(".")
    modifier = f".{head}" if head else ""
    for result, true in (("u32", 0xFFFF), ("s32", 0xFFFF), (type_name, one(name))):
        compare(
            f"set.{relation}{modifier}.{result}.{type_name}",
            lambda a, b, t=true: sum(t << 16 * i for i, each in enumerate(halves(a, b)) if each),
            operands,
        )
        for combine, join in COMBINE.items():
            compare(
                f"set.{relation}.{combine}{modifier}.{result}.{type_name}",
                lambda a, b, c, t=true, j=join: sum(
                    t << 16 * i for i, each in enumerate(halves(a, b)) if j(each, c)
                ),
                [*operands, third],
            )


def one(name: str) -> int:
    layout = oracle.LAYOUTS[name]
    return layout.bias << layout.fraction


def true_of(result: str) -> int:
    return one(result) if result in oracle.LAYOUTS else (1 << int(result[1:])) - 1


@pytest.mark.parametrize("result", ["u16", "s16", "u32", "s32", "f16", "bf16", "f32"])
@pytest.mark.parametrize("type_name", INTEGERS)
def test_set_on_integers(result: str, type_name: str) -> None:
    true = true_of(result)
    operands = [*pairs(integers(int(type_name[1:]), 12))]
    third = predicates(len(operands[0]))
    names = {name: name for name in RELATIONS} | UNSIGNED_NAMES
    for name, relation in names.items():
        if (type_name[0] == "b" and name not in ("eq", "ne")) or (
            type_name[0] == "s" and name in UNSIGNED_NAMES
        ):
            continue

        def holds(a: int, b: int, r: str = relation) -> bool:
            return RELATIONS[r](integer(a, type_name), integer(b, type_name))

        compare(
            f"set.{name}.{result}.{type_name}", lambda *x, h=holds: true if h(*x) else 0, operands
        )
        for combine, join in COMBINE.items() if name == "ne" else ():
            compare(
                f"set.{name}.{combine}.{result}.{type_name}",
                lambda a, b, c, h=holds, j=join: true if j(h(a, b), c) else 0,
                [*operands, third],
            )


@pytest.mark.parametrize("result", ["u16", "s16", "u32", "s32", "f16", "bf16", "f32"])
@pytest.mark.parametrize("form", ["f16", "ftz.f16", "bf16", "f32", "ftz.f32", "f64"])
def test_set_on_floats(result: str, form: str) -> None:
    head, _, name = form.rpartition(".")
    modifier = f".{head}" if head else ""
    true = true_of(result)
    operands = [column[::2] for column in operand_columns(name, 2, count=5)]
    third = predicates(len(operands[0]))
    for relation in ORDERED:

        def holds(a: int, b: int, r: str = relation) -> bool:
            return related(r, *(flush(x, name) if head else x for x in (a, b)), name)

        compare(
            f"set.{relation}{modifier}.{result}.{name}",
            lambda *x, h=holds: true if h(*x) else 0,
            operands,
        )
        for combine, join in COMBINE.items() if relation == "ltu" else ():
            compare(
                f"set.{relation}.{combine}{modifier}.{result}.{name}",
                lambda a, b, c, h=holds, j=join: true if j(h(a, b), c) else 0,
                [*operands, third],
            )


MOVABLE = ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64")


@pytest.mark.parametrize("type_name", MOVABLE)
def test_selections(type_name: str) -> None:
    """The selected operand is copied as it is, a NaN's payload included."""
    width = int(type_name[1:])
    a, b = (list(column) for column in pairs(integers(width, 20)))
    third = predicates(len(a))
    compare(f"selp.{type_name}", lambda a, b, c: a if c else b, [a, b, third])
    signs = integers(32, len(a))
    compare(
        f"slct.{type_name}.s32", lambda a, b, c: a if integer(c, "s32") >= 0 else b, [a, b, signs]
    )
    numbers = (special_floats("f32") * len(a))[: len(a)]

    def by_sign(a: int, b: int, c: int) -> int:
        return a if value(c, "f32") != NAN and real(c, "f32") >= 0 else b

    compare(f"slct.{type_name}.f32", by_sign, [a, b, numbers])
    compare(
        f"slct.ftz.{type_name}.f32", lambda a, b, c: by_sign(a, b, flush(c, "f32")), [a, b, numbers]
    )


PROPERTIES: dict[str, Callable[[oracle.Number, bool], bool]] = {
    "finite": lambda number, _: not isinstance(number, str),
    "infinite": lambda number, _: number in ("inf", "-inf"),
    "number": lambda number, _: number != NAN,
    "notanumber": lambda number, _: number == NAN,
    "normal": lambda number, small: not isinstance(number, str) and (number == 0 or not small),
    "subnormal": lambda number, small: not isinstance(number, str) and number != 0 and small,
}


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("wanted", PROPERTIES)
def test_testp(name: str, wanted: str) -> None:
    values = [*special_floats(name), *operand_columns(name, 1, count=50)[0]]

    def holds(a: int) -> bool:
        return PROPERTIES[wanted](value(a, name), flush(a, name) != a)

    compare(f"testp.{wanted}.{name}", holds, [values])


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_copysign(name: str) -> None:
    sign = 1 << oracle.LAYOUTS[name].width - 1
    compare(f"copysign.{name}", lambda a, b: a & sign | b & ~sign, pairs(special_floats(name)))


SIGN_FORMS = ["f32", "ftz.f32", "f64", "f16", "ftz.f16", "bf16"]


@pytest.mark.parametrize("form", SIGN_FORMS)
def test_abs_and_neg(form: str) -> None:
    name = form.rpartition(".")[2]
    sign = 1 << oracle.LAYOUTS[name].width - 1
    values = operand_columns(name, 1, count=50)

    def before(a: int) -> int:
        return flush(a, name) if "ftz" in form else a

    compare(f"abs.{form}", lambda a: before(a) & ~sign, values)
    compare(f"neg.{form}", lambda a: before(a) ^ sign, values)


@pytest.mark.parametrize("form", ["f16x2", "ftz.f16x2", "bf16x2"])
def test_abs_and_neg_of_pairs(form: str) -> None:
    name = form.rpartition(".")[2].removesuffix("x2")
    values = packed_columns(name)[:1]

    def before(a: int) -> int:
        return flush(a & 0xFFFF, name) | flush(a >> 16, name) << 16 if "ftz" in form else a

    compare(f"abs.{form}", lambda a: before(a) & 0x7FFF7FFF, values)
    compare(f"neg.{form}", lambda a: before(a) ^ 0x80008000, values)


def extreme(opcode: str, name: str, *operands: int) -> int:
    """The definition in the PTX ISA: a NaN gives way or wins, -0 < +0, abs and xorsign."""
    parts = opcode.split(".")
    width = oracle.LAYOUTS[name].width
    sign, canonical = 1 << width - 1, (1 << width - 1) - 1
    if "ftz" in parts:
        operands = tuple(flush(each, name) for each in operands)
    product_sign = (operands[0] ^ operands[1]) & sign
    sizes = [each & ~sign for each in operands] if "abs" in parts else list(operands)

    def rank(bits: int) -> tuple[object, int]:
        return real(bits, name), -(bits & sign)

    def of_two(a: int, b: int) -> int:
        nans = [value(each, name) == NAN for each in (a, b)]
        if all(nans) or ("NaN" in parts and any(nans)):
            return canonical
        if any(nans):
            return b if nans[0] else a
        return (min if parts[0] == "min" else max)(a, b, key=rank)

    result = sizes[0]
    for size in sizes[1:]:
        result = of_two(result, size)
    if "xorsign" in parts and value(result, name) != NAN:
        result |= product_sign
    return result


MODIFIERS = ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs")


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("opcode", ["min", "max"])
@pytest.mark.parametrize("modifier", MODIFIERS)
def test_extremes(name: str, opcode: str, modifier: str) -> None:
    for ftz in ("", ".ftz") if name != "bf16" else ("",):
        form = f"{opcode}{ftz}{modifier}.{name}"
        compare(
            form, lambda a, b, f=form: extreme(f, name, a, b), operand_columns(name, 2, count=30)
        )
    if name == "f32" and "xorsign" not in modifier:
        form = f"{opcode}{modifier}.abs.f32"
        compare(form, lambda *x: extreme(form, name, *x), operand_columns(name, 3, count=30))
    for ftz in {"f16": ("", ".ftz"), "bf16": ("",), "f32": ()}[name]:
        form = f"{opcode}{ftz}{modifier}"
        compare(
            f"{form}.{name}x2",
            lambda a, b, f=form: (
                extreme(f, name, a & 0xFFFF, b & 0xFFFF) | extreme(f, name, a >> 16, b >> 16) << 16
            ),
            packed_columns(name),
        )


@pytest.mark.parametrize("opcode", ["min", "max"])
def test_extremes_of_doubles(opcode: str) -> None:
    form = f"{opcode}.f64"
    compare(form, lambda a, b: extreme(form, "f64", a, b), operand_columns("f64", 2, count=30))

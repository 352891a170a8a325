"""Every public function of the library says what it does, and some program that runs calls it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = sorted((ROOT / "stdlib").glob("*.prism"))
# Names that programs put together, by the file that does.
COMPOSED = {
    "test_block_exchanges.py": (
        "load_transposed", "load_transposed_guarded", "load_warp_transposed",
        "load_warp_transposed_guarded", "store_blocked_vec", "store_transposed",
        "store_transposed_guarded", "store_warp_transposed", "store_warp_transposed_guarded",
    ),
    "test_mma.py": ("mma_m16n8k16_f16", "mma_m16n8k16_bf16", "mma_m16n8k32_i8"),
}  # fmt: skip

_DEFINITION = re.compile(
    r"(?P<comment>(?:^#.*\n)+)?(?P<decorators>(?:^@.*\n(?:^[ )].*\n)*)*)"
    r"^(?:unsafe )?def (?P<name>\w+)(?P<body>.*\n(?:^[ \t].*\n|^\n)*)",
    re.MULTILINE,
)


def _definitions() -> list[re.Match[str]]:
    return [
        found
        for path in LIBRARY
        for found in _DEFINITION.finditer(path.read_text(encoding="utf-8"))
    ]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _named_in_programs() -> set[str]:
    programs = [path for path in Path(__file__).parent.glob("*.py") if path != Path(__file__)]
    programs += [*(ROOT / "tests" / "spec").glob("*.md"), *(ROOT / "examples").glob("*.prism")]
    named = {word for path in programs for word in _words(path.read_text(encoding="utf-8"))}
    return named.union(*COMPOSED.values())


def test_every_definition_is_found() -> None:
    counted = sum(
        len(re.findall(r"^(?:unsafe )?def ", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in LIBRARY
    )
    assert len(_definitions()) == counted > 200


def test_every_public_function_has_a_comment() -> None:
    bare = [one["name"] for one in _definitions() if not one["comment"] and one["name"][0] != "_"]
    assert bare == []


def test_every_public_function_runs_somewhere() -> None:
    """Named in a program, or called by a function of the library that is."""
    bodies: dict[str, set[str]] = {}
    for one in _definitions():
        bodies.setdefault(one["name"], set()).update(_words(one["body"]))
    waiting = list(_named_in_programs() & set(bodies))
    reached = set(waiting)
    while waiting:
        called = bodies[waiting.pop()] & set(bodies) - reached
        reached |= called
        waiting += called
    assert [name for name in bodies if name not in reached and not name.startswith("_")] == []


def test_composed_names_are_those_of_functions() -> None:
    names = {one["name"] for one in _definitions()}
    assert {name for each in COMPOSED.values() for name in each} <= names

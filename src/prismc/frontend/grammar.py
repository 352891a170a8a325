"""The compiled grammar: built by Lark once, afterwards read from the user's cache.

Building takes a third of a second and importing Lark a tenth, reading the cache a few milliseconds.
A cache that is missing, unwritable, damaged or another grammar's means building again.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prismc.frontend.tables import END, LAYOUT_KINDS, Rule, Tables
from prismc.source.cache_folder import TABLES, cache_folder
from prismc.source.resources import grammar_file

if TYPE_CHECKING:
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef
    from lark.parsers.lalr_analysis import IntParseTable

_FORMAT = 1  # of the cache: counts changes of what is made of the same grammar
_START = "module"


@lru_cache(maxsize=1)
def load_tables() -> Tables:
    """The tables of the grammar, from the user's cache or built and left there."""
    return cached_tables(grammar_file().read_text("utf-8"), cache_folder())


def cached_tables(grammar: str, folder: Path) -> Tables:
    """The tables of the grammar text, from a file in `folder`, which is written if need be."""
    key = f"{_FORMAT} {sys.implementation.cache_tag}\n{grammar}".encode()
    path = folder / TABLES.replace("*", f"{zlib.crc32(key):08x}")
    tables = _read(path, key)
    if tables is None:
        tables = build_tables(grammar)
        _write(path, key, tables)
    return tables


def _read(path: Path, key: bytes) -> Tables | None:
    """The tables in the file: a checksum of the rest, the key, and the tables as `marshal` data."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    checksum, stored, data = content[:4], content[4 : 4 + len(key)], content[4 + len(key) :]
    if stored != key or checksum != _checksum(data):
        return None
    tables = Tables(*marshal.loads(data))
    return tables._replace(rules=[Rule(*rule) for rule in tables.rules])


def _write(path: Path, key: bytes, tables: Tables) -> None:
    """Leaves the tables in the file at once or not at all; without the right to, not at all."""
    fields = [[*map(tuple, field)] if field is tables.rules else field for field in tables]
    data = marshal.dumps(fields)
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(_checksum(data) + key + data)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink()


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def build_tables(grammar: str) -> Tables:
    """Compiles the text of a grammar.

    Raises lark.exceptions.GrammarError when it is not one, or has an LALR(1) conflict.
    """
    from lark.common import ParserConf
    from lark.load_grammar import GrammarBuilder
    from lark.parsers.lalr_analysis import LALR_Analyzer

    builder = GrammarBuilder(global_keep_all_tokens=True)
    builder.load_grammar(grammar, "prism.lark")
    terminals, rules, _ = builder.build().compile([_START], terminals_to_keep=())
    analyzer: Any = LALR_Analyzer(ParserConf(rules, {}, [_START]), strict=True)
    analyzer.compute_lalr()
    return _pack(terminals, rules, analyzer.parse_table)


def _pack(terminals: list[TerminalDef], rules: list[LarkRule], table: IntParseTable) -> Tables:
    """Lark's tables as plain lists, with numbers for terminals, symbols, rules and states."""
    names = [*LAYOUT_KINDS, *(terminal.name for terminal in terminals)]
    kinds = {name: kind for kind, name in enumerate(names)}
    literals = {t.name: t.pattern.value for t in terminals if t.pattern.type == "str"}
    symbols = {name: n for n, name in enumerate(dict.fromkeys(r.origin.name for r in rules))}
    numbers = {rule: number for number, rule in enumerate(rules)}
    actions: list[dict[int, int]] = []
    gotos: list[dict[int, int]] = []
    for state in range(len(table.states)):
        row = table.states[state]
        actions.append(
            {
                kinds[name]: ~numbers[target] if action.name == "Reduce" else target
                for name, (action, target) in row.items()
                if name in kinds
            }
        )
        gotos.append({symbols[name]: to for name, (_, to) in row.items() if name in symbols})
    accepting = table.end_states[_START]
    actions[accepting][END] = accepting  # Lark asks for the state; here END is shifted like a token
    return Tables(
        terminals=[literals.get(name, name) for name in names],
        words={text: kinds[name] for name, text in literals.items() if text[0].isalpha()},
        operators={text: kinds[name] for name, text in literals.items() if not text[0].isalpha()},
        patterns={t.name: t.pattern.value for t in terminals if t.pattern.type == "re"},
        actions=actions,
        gotos=gotos,
        rules=[_pack_rule(rule, symbols) for rule in rules],
        start=table.start_states[_START],
    )


def _pack_rule(rule: LarkRule, symbols: dict[str, int]) -> Rule:
    blanks = tuple(place for place, is_empty in enumerate(rule.options.empty_indices) if is_empty)
    return Rule(symbols[rule.origin.name], len(rule.expansion), rule.alias or "", blanks)

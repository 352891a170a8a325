"""A plan as JSON; `docs/sync.schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from prismc.driver.sync.account import COSTS, Function, Operation, Proof, Reason, Side, Witness
from prismc.driver.sync.text import path_words, without_words
from prismc.source.resources import portable_name

VERSION = 3

Json = dict[str, Any]


def render_record(functions: Sequence[Function], target: str, proof: Proof | None) -> str:
    """One JSON object; ends with a line end."""
    record: Json = {
        "version": VERSION,
        "target": target,
        "functions": [_function(each) for each in functions],
        "proof": None if proof is None else _proof(proof),
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _function(function: Function) -> Json:
    return {
        "symbol": function.symbol,
        "title": function.title,
        "file": portable_name(function.file),
        "first_line": function.first_line,
        "last_line": function.last_line,
        "operations": [_operation(each) for each in function.operations],
        "pipelines": [
            {
                "line": one.line,
                "slots": one.slots,
                "ahead": one.ahead,
                "one_step": one.is_one_step,
                "why": one.words,
                "instructions": one.instructions,
            }
            for one in function.pipelines
        ],
        "without_operation": [{"root": root, "why": why} for root, why in function.settled],
    }


def _operation(operation: Operation) -> Json:
    return {
        "number": operation.number,
        "kind": operation.kind,
        "threads": operation.threads,
        "instruction": operation.instruction,
        "cost": {"class": operation.cost.value, "meaning": COSTS[operation.cost]},
        "position": {"where": "after" if operation.is_after else "before", "line": operation.line},
        "orders": [_reason(each) for each in operation.merged],
        "needed_for": [
            {**_reason(each), "without_it": without_words(each), "witness": list(each.witness)}
            for each in operation.needed
        ],
        "witness": None if operation.witness is None else _witness(operation.witness),
    }


def _proof(proof: Proof) -> Json:
    return {
        "holds": proof.holds,
        "kernel": proof.kernel,
        "schedules": proof.schedules,
        "faults": [_witness(each) for each in proof.faults],
        "found_without": [number for number, witness in proof.witnesses if witness],
        "not_found_without": [
            number
            for number, witness in proof.witnesses
            if witness is None and number not in proof.no_verdict
        ],
        "no_verdict": [{"number": number, "why": why} for number, why in proof.no_verdict.items()],
        "not_reached": list(proof.not_reached),
    }


def _witness(witness: Witness) -> Json:
    """A finding of the emulator."""
    return {
        "kind": witness.kind,
        "message": witness.message,
        "place": witness.place,
        "schedule": witness.schedule,
    }


def _reason(reason: Reason) -> Json:
    return {
        "hazard": reason.hazard,
        "at_stake": reason.label,
        "earlier": _side(reason.earlier),
        "later": _side(reason.later),
        "path": path_words(reason),
        "loop_line": reason.loop or None,
    }


def _side(side: Side) -> Json:
    """An access; `threads` are ranges with their ends excluded, null for all threads."""
    return {
        "root": side.root,
        "does": side.deed.value,
        "file": portable_name(side.file),
        "line": side.line,
        "threads": [list(each) for each in side.threads] or None,
    }

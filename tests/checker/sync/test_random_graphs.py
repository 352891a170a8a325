"""Planned barriers against a happens-before machine: enough, none too many, the fewest."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import pytest

from checker.sync.graphs import Builder, places_of, plan, races
from checker.sync.random_graphs import Generator
from prismc.checker.sync.graph import Graph, Loop, Node, nodes_in


@pytest.mark.parametrize("seed", range(300))
def test_no_race_is_left_and_every_barrier_is_needed(seed: int) -> None:
    generator = Generator(seed)
    graph = generator.any(6)
    barriers = plan(graph)
    places = places_of(barriers)
    assert races(generator.builder, graph, places) == set()
    for barrier in barriers:
        rest = {key: units for key, units in places.items() if key != barrier.key}
        assert races(generator.builder, graph, rest), f"{barrier.key} is not needed"
        assert barrier.reasons


@pytest.mark.parametrize("seed", range(300))
def test_no_race_is_left_where_elements_move_with_a_loop(seed: int) -> None:
    generator = Generator(seed, moving=True)
    graph = generator.any(6)
    assert races(generator.builder, graph, places_of(plan(graph))) == set()


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.parametrize("form", ["straight", "one_loop"])
def test_the_number_of_barriers_is_the_least(seed: int, form: str) -> None:
    """Fewest inside the loop first, since those run again and again; then fewest in all."""
    generator = Generator(seed)
    graph: Graph = getattr(generator, form)(2 + seed % 4)
    assert cost(graph, [barrier.key for barrier in plan(graph)]) == fewest(generator.builder, graph)


Place = tuple[Node, bool]


def cost(graph: Graph, places: Iterable[Place]) -> tuple[int, int]:
    """Barriers inside loops, and all of them."""
    inside = {node for loop in graph.top.body if isinstance(loop, Loop) for node in loop.body}
    chosen = list(places)
    return sum(is_end or node in inside for node, is_end in chosen), len(chosen)


def fewest(builder: Builder, graph: Graph) -> tuple[int, int]:
    """The least cost of a set of places that leaves no race, by trying all sets."""
    places: list[Place] = []
    for node in nodes_in(graph.top.body):
        places.append((node, False))
        if isinstance(node, Loop):
            places.append((node, True))
    sets = [chosen for count in range(len(places) + 1) for chosen in combinations(places, count)]
    for chosen in sorted(sets, key=lambda chosen: cost(graph, chosen)):
        if not races(builder, graph, dict.fromkeys(chosen, (builder.everyone,))):
            return cost(graph, chosen)
    raise AssertionError("a barrier everywhere leaves races")

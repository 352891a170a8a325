"""Can the threads of a protocol block one another for ever? A check that knows nothing of programs.

A protocol is what teams of threads do at gates: arrive, wait, or both, in loops and choices. A gate
completes a phase when `count` threads have arrived; a team's n-th wait at a gate is for its n-th
phase. With a credit the first wait passes at once, and each further one is for the phase before.

Once loops and choices have decided, nothing in a protocol depends on speed: who can go on, can go
on in every order. So one order tells for all, and a cycle of waits without a token on it (the
marked-graph theorem) shows in a run that goes around each loop a few times. What depends on speed
is whether a phase is over before the next begins; that is checked with vector clocks.

Operations that a team has begun and not yet waited for may still use what one of its arrivals gives
free. They end in the order in which they began.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from enum import Enum
from random import Random

from prismc.source.record import Record, replace

MOST_TRIPS = 3
RUNS = 12


class Act(Enum):
    """At a gate threads arrive, wait, or both. At none they begin a group of asynchronous
    operations, and complete all but the newest groups."""

    ARRIVE = "arrive"
    WAIT = "wait"
    MEET = "meet"
    BEGIN = "begin"
    COMPLETE = "complete"


class Operation(Record):
    """What a team does at a gate. `place` names it for people; all that meet at a gate in one phase
    do so at one place, wherever others arrive. What begins `uses` what arrivals at these gates give
    free; of what has begun the newest `groups` may stay incomplete."""

    gate: Hashable
    act: Act
    place: str
    uses: tuple[Hashable, ...] = ()
    groups: int = 0


class Behind(Record):
    """An operation that is done where its next one stands: in the next iteration of the loop with
    this key, or behind it (`Drain`)."""

    loop: Hashable
    operation: Operation


class Drain(Record):
    """Does the last operation that a loop left behind, or `is_dropped`."""

    loop: Hashable
    place: str
    is_dropped: bool


class Repeat(Record):
    """A loop; teams with the same `key` go around it equally often, once at least if it `runs`."""

    key: Hashable
    body: Body
    runs: bool = False


class Either(Record):
    """A choice; teams with the same `key` choose alike."""

    key: Hashable
    arms: tuple[Body, Body]


class Leave(Record):
    """Leaves the innermost loop (`is_return`: everything), or its iteration (`is_continue`)."""

    is_continue: bool = False
    is_return: bool = False


Item = Operation | Repeat | Either | Leave | Behind | Drain
Body = tuple[Item, ...]


class Team(Record):
    """Threads that do the same; `threads` is how many they are."""

    name: str
    threads: int
    body: Body


class Gate(Record):
    """Where threads arrive and wait: `count` arrivals complete a phase. With `is_given` it stands
    for something that keeps phases apart by itself."""

    name: str
    count: int
    has_credit: bool = False
    is_given: bool = False


class Protocol(Record):
    teams: tuple[Team, ...]
    gates: Mapping[Hashable, Gate]


class BlockedPlan(Exception):
    """A plan whose threads can block one another: a defect of the compiler."""


class Fault(Record):
    """What is wrong, and the run that shows it, a line for each step and each team that waits."""

    message: str
    schedule: tuple[str, ...]


def check_liveness(protocol: Protocol, runs: int = RUNS) -> Fault | None:
    """The first fault that one of so many runs shows; None if all of them end."""
    for number in range(runs):
        fault = _Run(protocol, _Decisions(number)).fault()
        if fault is not None:
            return fault
    return None


class _Decisions:
    """How often loops go around and which arms are taken: the same in all of the first runs, then
    at random."""

    def __init__(self, run: int) -> None:
        self._run = run
        self._random = Random(run)
        self._made: dict[Hashable, int] = {}

    def trips(self, key: Hashable) -> int:
        if self._run <= MOST_TRIPS:
            return MOST_TRIPS - self._run
        return self._decided(key, MOST_TRIPS + 1)

    def arm(self, key: Hashable) -> int:
        return self._run % 2 if self._run <= MOST_TRIPS else self._decided(key, 2)

    def _decided(self, key: Hashable, possibilities: int) -> int:
        if key not in self._made:
            self._made[key] = self._random.randrange(possibilities)
        return self._made[key]


class _Left(Exception):
    def __init__(self, leave: Leave) -> None:
        super().__init__(leave)
        self.leave = leave


Left = dict[Hashable, Operation]


def _trace(
    body: Body, decisions: _Decisions, path: tuple[int, ...], behind: Left
) -> Iterator[Operation]:
    """What a team does in one run. `path` are the iterations of the loops around, `behind` what
    loops have left behind."""
    for item in body:
        match item:
            case Operation():
                yield item
            case Behind(loop=loop, operation=operation):
                if loop in behind:
                    yield replace(behind[loop], place=operation.place)
                behind[loop] = operation
            case Drain(loop=loop, place=place, is_dropped=is_dropped):
                last = behind.pop(loop, None)
                if last is not None and not is_dropped:
                    yield replace(last, place=place)
            case Either(key=key, arms=arms):
                yield from _trace(arms[decisions.arm((key, path))], decisions, path, behind)
            case Repeat(key=key, body=inner, runs=runs):
                for iteration in range(max(runs, decisions.trips((key, path)))):
                    try:
                        yield from _trace(inner, decisions, (*path, iteration), behind)
                    except _Left as left:
                        if left.leave.is_return:
                            raise
                        if not left.leave.is_continue:
                            break
            case Leave():
                raise _Left(item)


def _whole_trace(team: Team, decisions: _Decisions) -> tuple[Operation, ...]:
    found: list[Operation] = []
    try:
        for operation in _trace(team.body, decisions, (), {}):
            found.append(operation)
    except _Left:
        pass  # a return
    return tuple(found)


class _Phase:
    """One phase of a gate: how many have arrived, where, and what they had done by then."""

    def __init__(self, teams: int) -> None:
        self.arrived = 0
        self.place = ""
        self.clock = [0] * teams


class _Run:
    """One run of a protocol, team by team, each as far as it can go."""

    def __init__(self, protocol: Protocol, decisions: _Decisions) -> None:
        self._teams = protocol.teams
        self._gates = protocol.gates
        self._traces = [_whole_trace(team, decisions) for team in protocol.teams]
        self._next = [0] * len(self._teams)
        self._has_arrived = [False] * len(self._teams)
        self._clocks = [[0] * len(self._teams) for _ in self._teams]
        self._phases: dict[Hashable, list[_Phase]] = {key: [] for key in protocol.gates}
        self._arrivals: dict[tuple[int, Hashable], int] = {}
        self._waits: dict[tuple[int, Hashable], int] = {}
        self._begun: list[list[tuple[Hashable, ...]]] = [[] for _ in self._teams]
        self._told: list[str] = []
        self._wrong = ""

    def fault(self) -> Fault | None:
        moved = True
        while moved and not self._wrong:
            moved = any(self._advance(team) for team in range(len(self._teams)))
        if not self._wrong:
            self._judge_end()
        if not self._wrong:
            return None
        return Fault(message=self._wrong, schedule=(*self._told, *self._waiting()))

    def _advance(self, team: int) -> bool:
        """Let a team go on until it has to wait; whether it has done anything."""
        start = self._next[team], self._has_arrived[team]
        trace = self._traces[team]
        while self._next[team] < len(trace) and not self._wrong:
            operation = trace[self._next[team]]
            if operation.act in (Act.BEGIN, Act.COMPLETE):
                self._work(team, operation)
            if operation.act in (Act.ARRIVE, Act.MEET) and not self._has_arrived[team]:
                self._arrive(team, operation)
                self._has_arrived[team] = True
            if operation.act in (Act.WAIT, Act.MEET) and not self._may_pass(team, operation):
                break
            self._told.append(f"{self._who(team)}: {operation.act.value} {operation.place}")
            self._next[team] += 1
            self._has_arrived[team] = False
        return (self._next[team], self._has_arrived[team]) != start

    def _work(self, team: int, operation: Operation) -> None:
        begun = self._begun[team]
        if operation.act is Act.BEGIN:
            begun.append(operation.uses)
        else:
            del begun[: len(begun) - operation.groups]

    def _arrive(self, team: int, operation: Operation) -> None:
        key = operation.gate
        if any(key in uses for uses in self._begun[team]):
            name = self._gates[key].name
            self._wrong = f"{self._who(team)} may arrive at {name} for what is still in use"
        number = self._arrivals.get((team, key), 0)
        self._arrivals[team, key] = number + 1
        gate, phases = self._gates[key], self._phases[key]
        while len(phases) <= number:
            phases.append(_Phase(len(self._teams)))
        phase = phases[number]
        clock = self._clocks[team]
        clock[team] = _before(self._next[team])
        if number and not self._knows(clock, gate, phases[number - 1]):
            self._wrong = f"{self._who(team)} may arrive at {gate.name} before its phase is over"
        if operation.act is Act.MEET:
            if phase.place not in ("", operation.place):
                places = f"{phase.place} and {operation.place}"
                self._wrong = f"threads meet at {gate.name} from {places}"
            phase.place = operation.place
        phase.arrived += self._teams[team].threads
        phase.clock = _joined(phase.clock, clock)
        if phase.arrived > gate.count:
            self._wrong = (
                f"{phase.arrived} threads arrive at {gate.name}, which counts {gate.count}"
            )
        elif phase.arrived == gate.count:
            self._judge_waits(key, number, phase)

    def _judge_waits(self, key: Hashable, number: int, phase: _Phase) -> None:
        """All waits for the phase before must be over when a phase completes: parity has two
        values."""
        if self._gates[key].is_given:
            return
        index = number - 1 + self._gates[key].has_credit
        for team, trace in enumerate(self._traces):
            waits = [
                at
                for at, one in enumerate(trace)
                if one.gate == key and one.act in (Act.WAIT, Act.MEET)
            ]
            if 0 <= index < len(waits) and phase.clock[team] < _after(waits[index]):
                self._wrong = f"{self._who(team)} may miss a phase of {self._gates[key].name}"

    def _may_pass(self, team: int, operation: Operation) -> bool:
        key = operation.gate
        number = self._waits.get((team, key), 0) - self._gates[key].has_credit
        if number >= 0:
            phases = self._phases[key]
            if number >= len(phases) or phases[number].arrived < self._gates[key].count:
                return False
            self._clocks[team] = _joined(self._clocks[team], phases[number].clock)
        self._waits[team, key] = number + self._gates[key].has_credit + 1
        self._clocks[team][team] = _after(self._next[team])
        return True

    def _judge_end(self) -> None:
        stuck = [team for team in range(len(self._teams)) if self._operation(team) is not None]
        if stuck:
            self._wrong = f"{self._who(stuck[0])} may wait for ever"
            return
        for key, phases in self._phases.items():
            if any(phase.arrived < self._gates[key].count for phase in phases):
                self._wrong = f"not all threads arrive at {self._gates[key].name} equally often"

    def _knows(self, clock: list[int], gate: Gate, phase: _Phase) -> bool:
        """Whether a phase is over before what a clock stands for, whatever the speed."""
        is_over = phase.arrived == gate.count
        return gate.is_given or (is_over and all(map(int.__le__, phase.clock, clock)))

    def _waiting(self) -> Iterator[str]:
        for team in range(len(self._teams)):
            operation = self._operation(team)
            if operation is not None and operation.gate is not None:
                gate = self._gates[operation.gate].name
                yield f"{self._who(team)}: stuck {operation.place} at {gate}"

    def _operation(self, team: int) -> Operation | None:
        trace = self._traces[team]
        return trace[self._next[team]] if self._next[team] < len(trace) else None

    def _who(self, team: int) -> str:
        return self._teams[team].name


def _joined(first: list[int], second: list[int]) -> list[int]:
    return list(map(max, first, second))


def _before(operation: int) -> int:
    """A team's time when it arrives at its operation of this number."""
    return 2 * operation + 1


def _after(operation: int) -> int:
    """A team's time when it has passed its operation of this number."""
    return 2 * operation + 2

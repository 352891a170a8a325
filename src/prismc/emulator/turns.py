"""How the groups of a batch take turns, each running its code block by block."""

from __future__ import annotations

from collections.abc import Container

from prismc.emulator.launch import Launch
from prismc.emulator.program import Program
from prismc.emulator.state.batch import Batch, Group, Resting
from prismc.emulator.state.run import Run
from prismc.emulator.timer import Timer
from prismc.emulator.units.meetings import Meetings

# A loop that does not wait for others may turn this often before the rest gets a turn.
_PATIENCE = 1 << 16


class Turns:
    """Runs batches as far as they can go by themselves."""

    def __init__(self, launch: Launch, program: Program, timer: Timer) -> None:
        self.launch = launch
        self.codes = program.codes
        self.timer = timer

    def advance(self, batch: Batch) -> None:
        """Runs until no group of the batch is ready. Raises TimeLimit, InstructionLimit."""
        choose = self.launch.schedule.choose
        while batch.ready:
            self._execute(batch, batch.ready.pop(choose(batch.ready)))

    def _execute(self, batch: Batch, group: Group) -> None:
        """Runs a group block by block until others come before it or it ends or waits."""
        frame, block, crew = group.frame, group.block, group.crew
        launch, flow = self.launch, frame.outline.flow
        blocks = self.codes[frame.outline.function.name].blocks
        run = Run(batch, frame, group.mask, group.lanes, crew)
        turns = 0
        while True:
            here = blocks[block]
            if here.members is not None:
                gathered = batch.unit(Meetings).gather(run, block, here)
                if gathered is None:
                    return
                run = gathered
            launch.count(run, block)
            for step in here.steps:
                step(run)
            following = here.end(run)
            if following is None:
                return
            edge = (block, following)
            block = following
            if edge in flow.back_edges:
                self.timer.check()
                turns += 1
                if _must_rest(flow.spins, edge, turns):
                    turning = Group(frame, block, run.mask, run.count, crew)
                    batch.resting.append(Resting(turning, flow.spins.get(edge)))
                    return
            if batch.ready and launch.schedule.hands_over(batch.ready, (crew, frame.order(block))):
                batch.push(frame, block, run.mask, run.count, crew)
                return


def _must_rest(spins: Container[tuple[int, int]], edge: tuple[int, int], turns: int) -> bool:
    """Whether a turning loop must let others run: a waiting loop at once, others much later."""
    return edge in spins or turns > _PATIENCE

"""The fences of each lane: of those behind an access the first is found, however many follow."""

from __future__ import annotations

from random import Random

import numpy as np

from prismc.emulator.checks.fence_history import NEVER, FenceHistory


def test_the_first_fence_behind_an_access() -> None:
    random, history = Random(3), FenceHistory(8)
    noted: list[list[int]] = [[] for _ in range(8)]
    for now in range(1, 200):
        lanes = random.sample(range(7), random.randrange(4))  # lane 7 executes none
        history.note(np.array(lanes, np.int64), now)
        for lane in lanes:
            noted[lane].append(now)
    asked = [(lane, stamp) for lane in range(8) for stamp in range(205)]
    lanes, stamps = (np.array(each, np.int64) for each in zip(*asked, strict=True))
    expected = [next((one for one in noted[lane] if one > stamp), NEVER) for lane, stamp in asked]
    assert history.first_after(lanes, stamps).tolist() == expected
    none = np.full(3, -1, np.int64)
    assert history.first_after(none, np.zeros(3, np.int64)).tolist() == [NEVER] * 3

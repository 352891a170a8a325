"""Functions with a pipeline through a ring of `SLOTS` slots: copies ahead, and arms of warps."""

AHEAD = """\
from std.copy import cp_async_16

@requires(block[1], thread[64])
def total(x: ptr(const f32), n: int) -> f32 @ thread[1]:
    shared S: f32[SLOTS][256]
    t: int @ thread[1] = id()
    sum: f32 @ thread[1] = 0.0
    pipeline k in range(n) through S as s:
        produce:
            partition s as async d @ thread[1] at t * 4:
                cp_async_16(d, 0, x, k * 256 + t * 4)
        consume:
            sum += s[255 - t]
    return sum
"""
APART = """\
@requires(block[1], warp[3])
def sums(x: ptr(const f32), y: ptr(f32), n: int):
    shared S: f32[SLOTS][64]
    claim y as out @ warp[2]:
        pipeline k in range(n) through S as s:
            produce:
                claim s as slot @ warp[1]:
                    split warp:
                        case 2:
                            pass
                        case 1:
                            l: int @ thread[1] = id()
                            for j in range(2):
                                partition slot as own @ thread[1] at l + 32 * j:
                                    own[0] = x[k * 64 + l + 32 * j]
            consume:
                split warp:
                    case 2:
                        t: int @ thread[1] = id()
                        partition out as own @ thread[1] at t:
                            own[0] += s[63 - t]
"""

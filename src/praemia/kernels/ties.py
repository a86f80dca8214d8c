"""Take a best action for each machine state, drawing uniformly among equally good ones.

Passing a NumPy Generator into a kernel costs more than a small plan, so ties are broken with the "minimal standard"
generator, seeded by the caller from its Generator. Among k equals met one after the other, each newcomer replaces the
choice when the next number is a multiple of k. A number is drawn only where equals are met.
"""

from __future__ import annotations

from praemia.kernels.arrays import LANES, Actions, Floats
from praemia.kernels.compiling import compiled
from praemia.kernels.simd import any_lane, load, select, store, store_whole, zeros


@compiled(forceinline=True)
def take_best(
    values: Floats, num_actions: int, here: Floats, at: int, policy: Actions, place: int, count: int, tie: int
) -> int:
    """Write the best of values[a · 4 + k] to here[at + k] and its action to policy[place + k]; return the next tie.

    There are four machine states k, of which ``count`` or fewer exist; here and policy are flat.
    """
    zero = zeros(4)
    best, choice, ties = load(zero, values, 0), zero, zero
    for a in range(1, num_actions):
        value = load(zero, values, a * LANES)
        better, ties = value > best, select(value == best, 1.0, ties)
        best, choice = select(better, value, best), select(better, float(a), choice)
    store(here, at, best)
    store_whole(policy, place, choice, count)
    if any_lane(ties > 0.0, count):
        for k in range(min(count, LANES)):
            policy[place + k], tie = draw_best(values, k, LANES, num_actions, tie)
    return tie


@compiled()
def draw_best(values: Floats, first: int, step: int, num_actions: int, tie: int) -> tuple[int, int]:
    """Return the action with the largest of values[first + a · step], drawn among equals, and the next tie."""
    best, choice, equals = values[first], 0, 1
    for a in range(1, num_actions):
        value = values[first + a * step]
        if value > best:
            best, choice, equals = value, a, 1
        elif value == best:
            equals += 1
            tie = next_tie(tie)
            if tie % equals == 0:
                choice = a
    return choice, tie


@compiled()
def next_tie(state: int) -> int:
    """Return x ← 48271·x mod (2^31 − 1)."""
    return state * 48271 % 2147483647

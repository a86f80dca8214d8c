"""Take a best action for each machine state, drawing uniformly among equally good ones.

A number is drawn only where equals are met, so the common case needs none.
"""

from __future__ import annotations

from typing import Any

from praemia.kernels.arrays import Actions, Floats
from praemia.kernels.compiling import INTERNAL, compiled
from praemia.kernels.simd import any_lane, load, num_lanes, select, store, store_whole


@compiled(forceinline=True, **INTERNAL)
def take_best(
    zero: Any,
    options: Floats,
    num_actions: int,
    here: Floats,
    at: int,
    policy: Actions,
    place: int,
    count: int,
    rng: Any,
) -> None:
    """Write the best of options[a · lanes + k] to here[at + k] and its action to policy[place + k].

    ``count`` or fewer of the machine states k exist; here and policy are flat.
    """
    lanes = num_lanes(zero)
    best, choice, ties = load(zero, options, 0), zero, zero
    for a in range(1, num_actions):
        value = load(zero, options, a * lanes)
        better, ties = value > best, select(value == best, 1.0, ties)
        best, choice = select(better, value, best), select(better, float(a), choice)
    store(here, at, best)
    store_whole(policy, place, choice, count)
    if any_lane(ties > 0.0, count):
        for k in range(min(count, lanes)):
            policy[place + k] = draw_best(options, k, lanes, num_actions, rng)


@compiled(**INTERNAL)
def draw_best(options: Floats, first: int, step: int, num_actions: int, rng: Any) -> int:
    """Return the action with the largest of options[first + a · step], drawn among equals."""
    best, equals = options[first], 1
    for a in range(1, num_actions):
        value = options[first + a * step]
        equals = 1 if value > best else equals + (value == best)
        best = max(best, value)
    skipped = int(rng.random() * equals) if equals > 1 else 0
    for a in range(num_actions):
        if options[first + a * step] == best:
            if skipped == 0:
                return a
            skipped -= 1
    return 0

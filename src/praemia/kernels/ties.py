"""Choose among actions: the best one, sampled uniformly among equals.

To hand NumPy's generator to a kernel takes longer than a small plan. So ties have a stream of their own, the generator
of Lehmer (x ← 48271·x mod 2³¹ − 1), in an array of one integer that the caller seeds from NumPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.compiling import inlined, part
from praemia.kernels.lanes import any_lane, load, num_lanes, select, store_integers
from praemia.kernels.records import Actions, Floats, Ints, Whole

LARGEST = 2**31 - 1


def new_stream(rng: np.random.Generator) -> Ints:
    """Return a stream for ties, seeded by one number of a generator."""
    return np.array([1 + rng.bit_generator.random_raw() % (LARGEST - 1)], dtype=np.int64)


@inlined
def uniform(stream: Ints) -> float:
    """Return the next number of a stream, from 0 to 1."""
    stream[0] = stream[0] * 48271 % LARGEST
    return float(stream[0] / LARGEST)


@inlined
def take_best(
    zero: Any, options: Floats, num_actions: int, policy: Actions, place: Whole, count: int, stream: Ints
) -> Any:
    """Return the best of options[a · lanes + k], sampling among equals; no random number is taken where there are none.

    The actions go to policy[place + k], flat, for ``count`` or fewer machine states k.
    """
    lanes = num_lanes(zero)
    best, choice, ties = load(zero, options, 0), zero, zero
    for a in range(1, num_actions):
        value = load(zero, options, a * lanes)
        better, ties = value > best, select(value == best, 1.0, ties)
        best, choice = select(better, value, best), select(better, float(a), choice)
    store_integers(policy, place, choice, count)
    if any_lane(ties > 0.0, count):
        for k in range(lanes if count > lanes else count):
            policy[place + k] = sample_best(options, k, lanes, num_actions, stream, -1, 0.0)
    return best


@part
def sample_best(
    options: Floats, first: Whole, step: int, num_actions: int, stream: Ints, old: Whole, share: float
) -> Whole:
    """Return an action whose option is the largest, up to a share of it: ``old`` if it is one of them, else sampled.

    The option of action a is options[first + a · step]; an old action below 0 is none.
    """
    best, equals = options[first], 0
    for a in range(1, num_actions):
        best = max(best, options[first + a * step])
    enough = best * (1.0 - share)
    for a in range(num_actions):
        if options[first + a * step] >= enough:
            equals += 1
    if old >= 0 and options[first + old * step] >= enough:
        return np.int64(old)
    skipped = np.int64(uniform(stream) * equals) if equals > 1 else np.int64(0)
    for a in range(num_actions):
        if options[first + a * step] >= enough:
            if skipped == 0:
                return np.int64(a)
            skipped -= 1
    return np.int64(0)

"""Breaking ties: what a plan does among actions whose optimistic values U are the same.

Published learners draw. Headroom looks at two more values, of what was counted alone (p̂, without any bonus):

    never visited:   L = the least that can follow,        E = 1
    visited:         L = Σ p̂ Στ (φ + L_{h+1}),             E = β·Σ p̂ Στ E_{h+1},   β = 1 − 1/(H + 1)

L is what the plan earns if all that is unknown turns out worst. E is the mean of β^d, d the steps until the first pair
never visited, 0 if there is none on the way: the larger, the sooner something new is tried. Among the actions of the
largest U it takes those with L = U, which are certain, if there are any; of these the ones with the largest E; and of
what is left one is drawn, or a repair keeps the action of the plan, if that is among them. What is stored is the
largest U, the largest L among the actions with that U, and the largest E among those that are left: no value depends
on a draw. Equal means equal up to rounding, relative to the values, which may be tiny.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.compiling import INLINED, INTERNAL, compiled
from praemia.kernels.lanes import any_lane, load, num_lanes, select, store, store_whole
from praemia.kernels.records import FIRST, Actions, Floats, Whole
from praemia.kernels.switches import REPAIRS

EQUAL, AS_SOON = 1e-9, 1e-7  # up to these shares of a value, others count as equal to it


@compiled(**INLINED)
def take_best(zero: Any, options: Floats, num_actions: int, policy: Actions, place: Whole, count: int, rng: Any) -> Any:
    """Return the best of options[a · lanes + k], drawing among equals.

    The actions go to policy[place + k], flat, for ``count`` or fewer machine states k.
    """
    lanes = num_lanes(zero)
    best, choice, ties = load(zero, options, 0), zero, zero
    for a in range(1, num_actions):
        value = load(zero, options, a * lanes)
        better, ties = value > best, select(value == best, 1.0, ties)
        best, choice = select(better, value, best), select(better, float(a), choice)
    store_whole(policy, place, choice, count)
    if any_lane(ties > 0.0, count):
        for k in range(lanes if count > lanes else count):
            policy[place + k] = draw_best(options, k, lanes, num_actions, rng)
    return best


@compiled(**INTERNAL)
def draw_best(
    options: Floats, first: int, step: int, num_actions: int, rng: Any, old: Whole = -1, share: float = 0.0
) -> Whole:
    """Return an action whose option is the largest, up to a share of it: the old one, if that is among them, or a draw.

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
        return old
    skipped = np.int64(rng.random() * equals) if equals > 1 else FIRST
    for a in range(num_actions):
        if options[first + a * step] >= enough:
            if skipped == 0:
                return a
            skipped -= 1
    return 0


def counted_values(zero: Any, data: Any, pair: Whole, view: Any) -> Any:
    """Return L and E of a pair that was visited."""
    i, pairs, successors = np.uint64(pair), data.counts.pairs, data.counts.successors
    e = np.uint64(pairs[i]["first"])
    if REPAIRS:
        last, inverse = e + np.uint64(pairs[i]["planned"]), 1.0 / pairs[i]["at_plan"]
    else:
        last, inverse = e + np.uint64(pairs[i]["distinct"]), 1.0 / pairs[i]["visits"]
    at = np.int64(successors[e]["row"]) * view.width + view.lane
    low_base, soon_base = load(zero, view.least, at), load(zero, view.soon, at)
    low, soon = zero, zero
    e += np.uint64(1)
    while e < last:
        count = successors[e]["planned"] if REPAIRS else successors[e]["count"]
        at = np.int64(successors[e]["row"]) * view.width + view.lane
        low = low + count * (load(zero, view.least, at) - low_base)
        soon = soon + count * (load(zero, view.soon, at) - soon_base)
        e += np.uint64(1)
    delay = 1.0 - 1.0 / data.spec.steps.shape[0]
    return low_base + low * inverse, delay * np.maximum(soon_base + soon * inverse, zero)


def take_in_order(
    zero: Any, options: Floats, num_actions: int, policy: Actions, place: Whole, count: int, rng: Any, keeps: bool
) -> Any:
    """Choose among options[a · lanes + k], U of each action, followed by L and by E of each; return all three.

    The actions go to policy[place + k], flat, for ``count`` or fewer machine states k. With ``keeps`` those that are
    there stay if they are among the best.
    """
    lanes = num_lanes(zero)
    best, low = load(zero, options, 0), zero - np.inf
    for a in range(1, num_actions):
        best = np.maximum(best, load(zero, options, a * lanes))
    least = np.minimum(best * (1.0 - EQUAL), best * (1.0 + EQUAL))
    for a in range(num_actions):
        counted = load(zero, options, (num_actions + a) * lanes)
        low = np.maximum(low, select(least > load(zero, options, a * lanes), zero - np.inf, counted))
    asked = select(least > low, zero - np.inf, least)
    soon, choice, ties = zero - 1.0, zero, zero
    for a in range(num_actions):
        at = (2 * num_actions + a) * lanes
        left = select(asked > load(zero, options, (num_actions + a) * lanes), -1.0, load(zero, options, at))
        left = select(least > load(zero, options, a * lanes), -1.0, left)
        store(options, at, left)
        soon = np.maximum(soon, left)
    enough = soon * (1.0 - AS_SOON)
    for a in range(num_actions - 1, -1, -1):
        among = select(enough > load(zero, options, (2 * num_actions + a) * lanes), 0.0, 1.0 + zero)
        choice, ties = select(among > 0.0, float(a), choice), ties + among
    if any_lane(ties > 1.0, count):
        for k in range(lanes if count > lanes else count):
            old = np.int64(policy[place + k]) if keeps else np.int64(-1)
            policy[place + k] = draw_best(options, 2 * num_actions * lanes + k, lanes, num_actions, rng, old, AS_SOON)
    else:
        store_whole(policy, place, choice, count)
    return best, low, soon

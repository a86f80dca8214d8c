"""Plan, value the plan exactly, play until the next plan is due, and so on: a stretch of a run in one compiled call.

The call returns after an amount of work that the caller sets, so that the caller can serve Ctrl-C and show progress.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.arrays import Actions, Floats, Ints, LayerArrays, ModelArrays, SmallInts
from praemia.kernels.compiling import INTERNAL, compiled, plain, rebound
from praemia.kernels.counts import AT_PLAN, NUM_EPISODES, NUM_SLOTS, CountArrays
from praemia.kernels.exact_planning import fill
from praemia.kernels.play import OutcomeArrays, WorldArrays, play
from praemia.kernels.recursion import Memory, PlanData, SpecArrays

NUM_PLAYED, NUM_PLANS, IS_DUE, WORK = 0, 1, 2, 3  # places in ``LogArrays.state``


class ValueArrays(NamedTuple):
    """What the exact value of a policy is computed from.

    ``states`` are the product states o · M + m that an episode can reach, in the order of the first step at which it
    can; the first until[h] of them can be met at step h.
    """

    model: ModelArrays
    layers: LayerArrays
    states: SmallInts
    until: Ints  # [H]
    start_observations: SmallInts
    start_probs: Floats
    tables: Floats  # [2, O + X, W], to work in
    sizes: Ints  # A, M, the initial machine state


class LogArrays(NamedTuple):
    """What a run records; ``state`` says how far it has got."""

    plan_episodes: Ints
    plan_values: Floats
    optimistic_values: Floats
    returns: Floats
    state: Ints


@compiled(**INTERNAL)
def start_value(values: ValueArrays, table: Floats) -> float:
    """Return the value at the start, from a table whose first rows hold V_0[o, m], or V_0[o · M + m, 0]."""
    num_states, initial = values.sizes[1], values.sizes[2]
    on_product = table.shape[1] == 1 and num_states > 1
    total = 0.0
    for i in range(values.start_observations.shape[0]):
        o = np.int64(values.start_observations[i])
        found = table[o * num_states + initial, 0] if on_product else table[o, initial]
        total += values.start_probs[i] * found
    return total


@compiled(**INTERNAL)
def policy_value(values: ValueArrays, policy: Actions) -> float:
    """Return the exact value of policy[H, O, M], computed only for states that an episode can reach."""
    model, tables = values.model, values.tables
    num_actions, num_states, num_observations = values.sizes[0], values.sizes[1], policy.shape[1]
    last = tables[policy.shape[0] % 2]
    for o in range(num_observations):
        for m in range(num_states):
            last[o, m] = 0.0
    for h in range(policy.shape[0] - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        fill(after, num_observations, model, values.layers, 0, model.row_labels.shape[0])
        for i in range(values.until[h]):
            o, m = divmod(np.int64(values.states[i]), num_states)
            pair = np.uint64(o * num_actions + np.int64(policy[h, o, m]))
            e, end = np.uint64(model.indptr[pair]), np.uint64(model.indptr[pair + np.uint64(1)])
            total = 0.0
            while e < end:
                total += model.probs[e] * after[model.rows[e], m]
                e += np.uint64(1)
            here[o, m] = total
    return start_value(values, tables[0])


# The same for Python to call.
policy_value_alone = compiled()(rebound(plain(policy_value), "policy_value_alone"))


def stretch(
    plan: Any,
    world: WorldArrays,
    outcomes: OutcomeArrays,
    counts: CountArrays,
    spec: SpecArrays,
    memory: Memory,
    constants: Floats,
    learner_rng: Any,
    policy: Actions,
    values: ValueArrays,
    log: LogArrays,
    rule: int,
    rng: Any,
    most_work: int,
) -> None:
    """Plan and play on from where ``log`` is.

    It ends when all episodes are played, after an amount of work (in sums), or when the log or the memory of action
    values is full. ``rng`` is the world's. Plans are valued unless values.states is empty.
    """
    state, data = log.state, PlanData(counts, spec, memory, constants, learner_rng)
    num_states, num_machine_states = policy.shape[1], policy.shape[2]
    played_policy = policy.reshape((policy.shape[0], world.sizes[3], world.sizes[1]))
    horizon, total, work = policy.shape[0], log.returns.shape[0], 0
    recent, recent_rewards = np.empty((0, 6), dtype=np.int64), np.empty(0)
    while state[NUM_PLAYED] < total and work < most_work:
        if state[IS_DUE]:
            if state[NUM_PLANS] == log.plan_episodes.shape[0]:
                break
            if 0 < memory.action_values.shape[1] < counts.sizes[NUM_SLOTS]:
                break
            for i in range(counts.visits.shape[0]):
                counts.visits_at_plan[i] = counts.visits[i]
            counts.sizes[AT_PLAN] = counts.sizes[NUM_EPISODES]
            plan(data, policy)
            number = state[NUM_PLANS]
            log.plan_episodes[number] = state[NUM_PLAYED]
            log.optimistic_values[number] = start_value(values, memory.tables[0])
            if values.states.shape[0] > 0:
                log.plan_values[number] = policy_value(values, played_policy)
            state[NUM_PLANS], state[IS_DUE] = number + 1, 0
            work += horizon * (num_states * num_machine_states + counts.sizes[NUM_SLOTS] * 4 * num_machine_states)
        first = state[NUM_PLAYED]
        most = min(total - first, 1 + max(0, most_work - work) // (8 * horizon))
        returns = log.returns[first : first + most]
        episodes, due = play(world, outcomes, counts, played_policy, rule, rng, returns, recent, recent_rewards)
        state[NUM_PLAYED] = first + episodes
        work += episodes * 8 * horizon
        if due:
            state[IS_DUE] = 1
    state[WORK] += work

"""Plans that are repaired: bit for bit what the whole recursion gives with the same counts, tops and spreads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from line_walks import arrival, walk
from numpy.typing import NDArray

from praemia import Task, envs, learners
from praemia.kernels.counts import IS_REPAIR
from praemia.kernels.headroom_memory import HeadroomMemory, PlannedArrays
from praemia.kernels.records import END
from praemia.simulation.task_world import TaskWorld

Floats = NDArray[np.float64]
EQUAL = 1e-9
TASKS = {
    "paid twice": lambda: envs.make("warehouse-4"),
    "chance everywhere": lambda: envs.make("random-8x3x5-2"),
    "many machine states": lambda: envs.make("random-6x2x17-3"),
    "one machine state": lambda: envs.make("random-7x3x1-4"),
    "one action": lambda: envs.make("random-6x1x3-5"),
    "no chance": lambda: walk(arrival(1.0, moving=0.25, still=0.125)),
    "costs": lambda: walk(arrival(-2.0, moving=0.25)),
    "a machine that is done": lambda: envs.make("warehouse-3").with_until_done(),
    "discount": lambda: envs.make("riverswim-5").with_discount(0.9),
    "one step": lambda: envs.make("riverswim-5", horizon=1),
    "a lake": lambda: envs.make("generated-lake-3", horizon=20),
    "traps": lambda: envs.make("generated-traps-5"),
    "a lock": lambda: envs.make("generated-lock-2"),
}


def at_play(task: Task, seed: int, **parameters: Any) -> TaskWorld:
    return TaskWorld(task.in_unit_range, learners.make("headroom", **parameters), 200, (seed,))


def continued(world: TaskWorld, table: Floats, step: int, label: int, target: int, *, pays: bool, end: float) -> Floats:
    """Return what follows a successor in every machine state: the reward and the table's values, of step ``step``."""
    spec = world.spec
    later = table[target] if target < spec.num_observations else np.full(spec.num_machine_states, end)
    machine, found = spec.table, np.zeros(spec.num_machine_states)
    for m in range(spec.num_machine_states):
        row = label * spec.num_machine_states + m
        for j in range(machine.indptr[row], machine.indptr[row + 1]):
            found[m] += machine.probs[j] * (pays * machine.rewards[j] + later[machine.targets[j]])
    return found


def whole_recursion(world: TaskWorld) -> tuple[Floats, Floats, Floats]:
    """Compute U, L and E as docs and docstrings have them, one number at a time.

    The counts are those that the plan goes by; tops, spreads and the numbers of pairs are taken from its memory.
    """
    spec, memory, counts = world.spec, memory_of(world), world.counts
    known, planned, width = memory.known, memory.planned, memory.values.shape[1]
    labels = {int(seen["row"]): (int(seen["label"]), int(seen["target"])) for seen in counts.transitions}
    horizon, size, states, num_actions = spec.horizon, spec.num_observations, spec.num_machine_states, spec.num_actions
    upper, lower, soon = (np.zeros((horizon + 1, size, states)) for _ in range(3))
    delay = 1.0 - 1.0 / (horizon + 1)
    for h in range(horizon - 1, -1, -1):
        tops, end = memory.tables.tops[h].reshape(-1, width), spec.exits[h + 1, END, 0]
        for o in range(size):
            found, local_top = np.zeros((num_actions, 3, states)), np.zeros(states)
            for pair in range(o * num_actions, (o + 1) * num_actions):
                for label, target in followed(planned, labels, pair):
                    follows = continued(world, upper[h + 1], h + 1, label, target, pays=True, end=end)
                    local_top = np.maximum(local_top, follows)
            for a in range(num_actions):
                pair = o * num_actions + a
                top = tops[known.support.groups[pair], :states]
                found[a] = top, known.least[h + 1, :states], np.ones(states)
                if planned.edges.totals[pair] == 0:
                    continue
                places, first = followed(planned, labels, pair), planned.edges.start[pair]
                shares = planned.edges.weights[first : first + len(places)] / planned.edges.totals[pair]
                outcomes = [
                    np.array([continued(world, table[h + 1], h + 1, *place, pays=pays, end=pays * end)
                              for place in places])
                    for table, pays in ((upper, True), (lower, True), (soon, False))
                ]  # fmt: skip
                mean = shares @ outcomes[0]
                deviation = np.sqrt(shares @ (outcomes[0] - mean) ** 2)
                first_number, second = planned.coefficients[pair]
                spread, local_spread = memory.spread.shares[h]
                headroom = np.maximum(spread * (top - mean), local_spread * (local_top - mean))
                value = mean + first_number * deviation + second * headroom
                found[a] = np.minimum(top, value), shares @ outcomes[1], delay * (shares @ outcomes[2])
            upper[h, o], lower[h, o], soon[h, o] = in_order(found)
            discount = spec.discount if h else 1.0
            upper[h, o], lower[h, o] = discount * upper[h, o], discount * lower[h, o]
            if h:
                done = spec.is_done
                upper[h, o, done] = lower[h, o, done] = spec.exits[h, END, done]
                soon[h, o, done] = 0.0
    return upper, lower, soon


def in_order(found: Floats) -> Floats:
    """Return the values of the best actions of found[A, 3, M]: of what is certain, or else of what is soonest."""
    best = np.zeros(found.shape[1:])
    for m in range(found.shape[2]):
        upper, lower, soon = found[:, :, m].T
        equal = upper >= upper.max() * (1 - EQUAL)
        least = lower[equal].max()
        left = equal
        if least >= upper.max() * (1 - EQUAL):
            left = equal & (lower >= upper.max() * (1 - EQUAL))
        best[:, m] = upper.max(), least, soon[left].max()
    return best


def memory_of(world: TaskWorld) -> HeadroomMemory:
    return world.plan.memory[0]  # type: ignore[union-attr, no-any-return]


def followed(planned: PlannedArrays, labels: dict[int, tuple[int, int]], pair: int) -> list[tuple[int, int]]:
    """Return the label and the target of each transition of a pair that the plan goes by."""
    first = planned.edges.start[pair]
    return [labels[int(row)] for row in planned.edges.rows[first : planned.edges.stop[pair]]]


def tables_of(world: TaskWorld) -> list[Floats]:
    memory, spec = memory_of(world), world.spec
    shape = (spec.horizon + 1, -1, memory.values.shape[1])
    kept = (memory.tables.upper, memory.tables.lower, memory.tables.soon)
    return [table.reshape(shape)[:, : spec.num_observations, : spec.num_machine_states] for table in kept]


@pytest.mark.parametrize("name", TASKS)
def test_a_repaired_plan_is_that_of_the_whole_recursion(name: str) -> None:
    world, checks, repairs = at_play(TASKS[name](), 3), 0, 0
    rng = np.random.default_rng(5)
    while checks < 10 and world.played < 200:
        if world.is_due:
            world.replan()
            repairs += int(world.counts.totals[IS_REPAIR])
            visits, planned = world.counts.visits, memory_of(world).planned.edges.totals
            assert np.all(visits - planned < np.maximum(1, planned)), "a pair that has grown is planned by old counts"
            if rng.random() < 0.06:
                checks += 1
                for found, expected in zip(tables_of(world), whole_recursion(world), strict=True):
                    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
        world.play(1)
    assert checks > 2
    assert repairs > 2 or name == "one step"

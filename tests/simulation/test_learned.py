"""The policy that a run has learned: the best in p̂, with what is unknown at its worst."""

import gymnasium
import numpy as np
import pytest

import praemia
from praemia import Run, Task, envs, learners, simulate
from praemia.kernels.records import UNKNOWN
from praemia.simulation.loop import run_loop
from praemia.simulation.simulate import world_of
from praemia.tasks.extremes import extremes


def plain_policy_value(task: Task, counts: np.ndarray, unknown: float) -> float:
    """Return V_0 of the best policy in p̂, by loops; a pair never visited is worth ``unknown`` for each step left."""
    mdp, spec = task.mdp, task.spec
    values = np.zeros((spec.num_observations, spec.num_machine_states))
    numbers = spec.labelling.of(*(axis.ravel() for axis in np.indices(counts.shape)))
    labels = np.array(numbers[0]).reshape(counts.shape)
    for h in range(task.horizon - 1, -1, -1):
        after, values = values, np.zeros_like(values)
        for o, m in np.ndindex(values.shape):
            options = []
            for a in range(spec.num_actions):
                visits = counts[o, a].sum()
                if visits == 0:
                    options.append(unknown * (task.horizon - h))
                    continue
                total = 0.0
                for o_next in np.flatnonzero(counts[o, a]):
                    label = numbers[1][labels[o, a, o_next]]
                    for out in task.machine.outcomes(task.machine.states[m], label):
                        follows = after[o_next, task.machine.index[out.target]]
                        total += counts[o, a, o_next] / visits * out.probability * (out.reward.mean + follows)
                options.append(total)
            values[o, m] = max(options)
    return float(mdp.start_probs @ values[:, task.machine.index[task.machine.initial]])


@pytest.mark.parametrize("episodes", [3, 40])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_best_policy_in_the_estimate(seed: int, episodes: int) -> None:
    """In p̂ it is worth what plain loops find; few episodes leave pairs that were never visited."""
    task = envs.random_task(5, 3, 2, seed=seed, horizon=6)
    world = world_of(task, learners.make("headroom"), episodes, (seed,), None)
    run_loop(world, episodes)
    model = world.estimated_model()
    run = simulate(task, learners.make("headroom"), episodes, seed)
    own = praemia.evaluate(model, run.policy).values[0]  # type: ignore[arg-type]
    start = float(task.mdp.start_probs @ own[task.machine.index[task.machine.initial]])
    assert start == pytest.approx(plain_policy_value(task, world.experience().counts, 0.0), abs=1e-12)


def test_with_enough_data_it_is_optimal_where_the_last_plan_still_explores() -> None:
    task = envs.make("warehouse-4")
    run = simulate(task, learners.make("ucbvi-prm", bonus_scale=1.0), 5_000)
    best = praemia.solve(task).value
    assert praemia.evaluate(task, run.policy).value > 0.95 * best  # type: ignore[arg-type]
    assert praemia.evaluate(task, run.final_policy).value < 0.95 * best  # type: ignore[arg-type]


def same(run: Run) -> bool:
    return np.array_equal(run.policy.table, run.final_policy)  # type: ignore[arg-type]


def test_without_an_estimate_it_is_the_last_plan() -> None:
    task = envs.make("warehouse-3")
    assert same(simulate(task, learners.make("q-learning"), 50))
    assert same(simulate(task, learners.make("optimal"), 5))
    assert same(simulate(task, learners.make("headroom", learn_machine=True), 50))


def test_what_is_never_visited_is_as_bad_as_the_machine_allows() -> None:
    """Charged for every step, no plan is drawn to a pair that it knows nothing of, and none is charged too much."""
    machine = praemia.MachineBuilder("a").edge("a", "true", "a", reward=-1).build()
    task = envs.make("riverswim-5").with_machine(machine).with_horizon(4)
    run = simulate(task, learners.make("ucbvi-prm"), 1)
    assert praemia.evaluate(task, run.policy).value == pytest.approx(-4.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ucbvi", "psrl", "ucbvi-prm"])
def test_learners_of_the_product_learn_a_policy_of_the_task(name: str) -> None:
    task = envs.make("warehouse-3")
    run = simulate(task, learners.make(name), 3_000)
    assert praemia.evaluate(task, run.policy).value > 0.97 * praemia.solve(task).value  # type: ignore[arg-type]


@pytest.mark.parametrize("discount", [1.0, 0.7])
def test_in_a_black_box_what_is_never_visited_is_as_bad_as_any_label_makes_it(
    discount: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also labels that were never met; and the machine is not tabulated on them, which takes long if it is large."""
    outside = praemia.MachineBuilder("out").edge("out", "!goal", "out", reward=-0.3)
    inside = outside.edge("out", "goal", "in", reward=3).edge("in", "!hole", "in", reward=0.25)
    machine = inside.edge("in", "hole", "lost", reward=-5).build()
    lake, names = gymnasium.make("FrozenLake-v1"), {15: {"goal"}, 5: {"hole"}}
    box = praemia.BlackBox(lake, lambda o, a, z, info: names.get(z, ()), machine, 9, discount=discount)
    world = world_of(box, learners.make("ucbvi-prm"), 2, (0,), None)
    run_loop(world, 2)
    table = world.spec.every_step.support_table
    monkeypatch.setattr(type(world.spec), "table_on", None)
    unknown = world.estimated_model().exits[1:, UNKNOWN]
    np.testing.assert_allclose(unknown, extremes(world.spec, table, sign=-1.0)[:-1], rtol=1e-12, atol=1e-12)

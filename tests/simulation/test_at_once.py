"""Learners that plan in the middle of an episode, and the regret of the paths that they take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from line_walks import Rightwards, arrival, box, walk

import praemia
from praemia import Task, envs, learners, simulate, solve
from praemia.simulation.loop import run_loop
from praemia.simulation.task_world import TaskWorld

AT_ONCE = "-at-once"
LEARNERS = ("headroom", "ucbvi-prm", "psrl", "ucbvi", "qr-max", "euler")


def hasty(name: str) -> praemia.Learner:
    learner = learners.make(name)
    return learner if learner.replan_rule.at_once else replace(learner, replan=learner.replan + AT_ONCE)


@pytest.mark.parametrize("world", [walk(arrival()), box(arrival())], ids=["task", "box"])
def test_a_plan_is_made_as_soon_as_it_is_due(world: Any) -> None:
    Rightwards.notes.clear()
    simulate(world, Rightwards(replan="doubling-at-once"), 4)
    # Each of the three pairs is visited once in an episode: the first, second and fourth visits double its count. The
    # last step of an episode is followed by the next episode's plan, which the last episode does not need.
    assert [visits for visits, *_ in Rightwards.notes] == [0, 1, 2, 3, 4, 5, 6, 10, 11]
    assert [length for _, length, _ in Rightwards.notes] == [0, 1, 2, 3, 1, 2, 3, 1, 2]


@pytest.mark.parametrize(
    "task",
    [
        envs.make("warehouse-3", horizon=12),
        envs.make("riverswim-4").with_discount(0.9),
        envs.make("office-coffee", horizon=30).with_until_done(),
    ],
    ids=lambda task: task.name,
)
def test_the_mean_pathwise_regret_of_a_fixed_policy_is_exact(task: Task) -> None:
    """Within 4 standard errors of 4,000 episodes: error level 10⁻⁴ for each task."""
    exact = simulate(task, praemia.Random(), 1).plan_gaps[0]
    run = simulate(task, praemia.Random(replan="doubling-at-once"), 4000, 5)
    assert run.is_pathwise
    assert run.path_losses is not None
    assert np.all(run.path_losses >= 0.0)
    error = run.path_losses.std(ddof=1) / np.sqrt(4000)
    assert 0.0 < error < 0.1
    assert abs(run.path_losses.mean() - exact) <= 4 * error
    np.testing.assert_allclose(run.plan_gaps, exact, rtol=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("reward", [1.0, -2.0])
def test_without_chance_an_episode_loses_what_its_return_lacks(name: str, reward: float) -> None:
    task = walk(arrival(reward, moving=0.25, still=0.125))
    run = simulate(task, hasty(name), 60, 3)
    np.testing.assert_allclose(run.path_losses, solve(task).value - run.returns, atol=1e-12)
    np.testing.assert_allclose(run.regret, np.cumsum(solve(task).value - run.returns), atol=1e-10)


@pytest.mark.parametrize("name", LEARNERS)
def test_compiled_and_single_plans_are_the_same(name: str) -> None:
    task = envs.make("warehouse-3")
    run = simulate(task, hasty(name), 80, 7)
    if learners.make(name).sees == "product":
        return
    world = TaskWorld(task, hasty(name), 80, (7,))
    run_loop(world, 80, on_plan=lambda: None)
    np.testing.assert_array_equal(world.log.returns, run.returns)
    np.testing.assert_array_equal(world.log.losses, run.path_losses)
    np.testing.assert_array_equal(world.log.plans["episode"][: world.num_plans], run.plan_episodes)
    np.testing.assert_array_equal(world.log.plans["value"][: world.num_plans], run.plan_values)


class Noting(TaskWorld):
    """A world that values each plan once more when it is noted."""

    noted: ClassVar[list[tuple[int, float]]] = []

    def play(self, most: int) -> None:
        before, next_start = self.num_plans, self.played + int(self.progress["step"] > 0)
        super().play(most)
        for plan in self.log.plans[before : self.num_plans]:
            assert plan["episode"] >= next_start, "noted in the middle of an episode"
            self.noted.append((int(plan["episode"]), praemia.evaluate(self.task, self.policy.swapaxes(1, 2)).value))


@pytest.mark.parametrize("name", ["headroom", "psrl", "random"])
def test_plans_that_episodes_start_with_are_valued(name: str) -> None:
    Noting.noted.clear()
    task = envs.make("warehouse-3")
    run_loop(Noting(task, hasty(name), 100, (1,)), 100, on_plan=lambda: None)
    run = simulate(task, hasty(name), 100, 1)
    assert run.plan_episodes.tolist() == [episode for episode, _ in Noting.noted]
    np.testing.assert_allclose(run.plan_values, [value for _, value in Noting.noted], rtol=1e-12)


def test_frames_have_the_pathwise_regret() -> None:
    from praemia.experiments.frames import runs_frame

    run = simulate(envs.make("riverswim-3"), hasty("psrl"), 30)
    assert runs_frame([run])["regret"][0] == pytest.approx(run.regret[-1])


def test_a_plan_of_a_subclass_is_the_one_that_is_played() -> None:
    """Also where the learner that it is derived from plans within the compiled loop."""
    made = []

    class Own(praemia.Headroom):
        def plan(self, experience: Any, previous: Any, rng: Any) -> Any:
            made.append(experience.episodes_played)
            return super().plan(experience, previous, rng)

    task = praemia.envs.make("warehouse-3")
    ours, theirs = (praemia.simulate(task, learner, 30, 1) for learner in (Own(), praemia.Headroom()))
    assert len(made) > 2
    assert ours.returns.tobytes() == theirs.returns.tobytes()

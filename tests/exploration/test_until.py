"""Exploring until named machines' plans lose little: when it stops, what it says, and where it goes."""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium
import numpy as np
import oracles
import pytest
from helpers_exploration import tiny_task
from machine_families import machine_family

from praemia.envs import random_task, warehouse
from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, ParameterError, PraemiaError
from praemia.exploration import Dataset, explore, plan_from
from praemia.exploration.certificate import Scope
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import Posterior
from praemia.exploration.until import Check, Goal, check, check_counts, loss_and_weights, most_gain
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import evaluate, solve
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


def reach(name: str) -> RewardMachine:
    return MachineBuilder("seek").edge("seek", name, "done", reward=1).build()


def test_checks_double_and_the_last_is_at_the_end() -> None:
    assert check_counts(50) == [50]
    assert check_counts(100) == [100]
    assert check_counts(1_000) == [100, 200, 400, 800, 1_000]


@pytest.mark.parametrize("method", [None, "uncertainty"])
def test_it_stops_at_the_first_check_below_and_says_what_a_plan_says(method: str | None) -> None:
    task, checks = warehouse(3), []
    machines = [task.machine, reach("delivery")]
    data = explore(task, until=0.05, machines=machines, episodes=100_000, method=method, on_check=checks.append)
    (source,) = data.sources
    assert source["reached"]
    assert source["method"] == (method or "directed")
    assert [check.episodes for check in checks] == check_counts(100_000)[: len(checks)]
    assert data.num_episodes == checks[-1].episodes < 100_000
    assert all(check.loss >= 0.05 for check in checks[:-1])
    assert checks[-1].loss < 0.05
    assert source["checks"] == [list(check) for check in checks]
    assert max(plan_from(data, machine).likely_loss or 0.0 for machine in machines) == checks[-1].loss
    assert len(data.fixed_machines) == 2


def test_data_is_kept_when_the_episodes_run_out() -> None:
    task = warehouse(3)
    data = explore(task, until=1e-6, machines=[task.machine], episodes=250)
    assert data.num_episodes == 250
    assert data.num_transitions == 250 * task.horizon
    assert not data.sources[0]["reached"]
    assert [episodes for episodes, _ in data.sources[0]["checks"]] == [100, 200, 250]


def test_a_proven_bound_shares_its_failure_probability_among_the_checks() -> None:
    task, checks = warehouse(3), []
    machine = reach("delivery")
    explored = {"machines": [machine], "episodes": 3_200, "certify": "proven"}
    data = explore(task, until=0.7, on_check=checks.append, **explored)  # type: ignore[arg-type]
    certificate = plan_from(data, machine, failure_prob=0.05 / 6).certificate  # 100, 200, …, 3,200
    assert checks[-1].loss == certificate.bound < 0.7
    assert certificate.scope is Scope.RECORDED
    assert data.sources[0]["certify"] == "proven"


def test_a_proven_bound_draws_environments_only_to_direct_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("environments were drawn")

    monkeypatch.setattr(Posterior, "losses", refuse)
    task = warehouse(3)
    settings: dict[str, Any] = {"until": 1e-6, "machines": [task.machine], "certify": "proven"}
    assert not explore(task, episodes=150, method="uncertainty", **settings).sources[0]["reached"]
    assert not explore(task, episodes=100, **settings).sources[0]["reached"]  # nothing is played after the only check
    with pytest.raises(AssertionError, match="environments were drawn"):
        explore(task, episodes=150, **settings)


def test_one_seed_one_dataset() -> None:
    task = random_task(8, 2, 2, horizon=5, seed=0)
    settings: dict[str, Any] = {"until": 1e-9, "machines": [task.machine], "episodes": 300}
    first, again, other = (explore(task, seed=seed, **settings).to_bytes() for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"until": 0.1}, "without machines"),
        ({"until": 0.0, "machines": "own"}, "until=0.0; expected a positive number"),
        ({"until": -1, "machines": "own"}, "until=-1"),
        ({"until": float("nan"), "machines": "own"}, "until=nan"),
        ({"until": True, "machines": "own"}, "until=True"),
        ({"until": 0.1, "machines": "coffee"}, "'coffee', which the labels of this data never produce"),
        ({"until": 0.1, "machines": "own", "certify": "sure"}, "unknown kind of certainty 'sure'"),
        ({"until": 0.1, "machines": "own", "method": "euler"}, "EULER searches before it collects"),
        ({"method": "directed"}, "needs until and machines"),
        ({"method": "uncertainty", "certify": "likely"}, "give until and machines"),
    ],
)
def test_bad_input_is_refused_before_anything_is_played(settings: dict[str, Any], message: str) -> None:
    task = warehouse(3)
    named = {"own": [task.machine], "coffee": [reach("coffee")]}
    chosen = {**settings, "machines": named.get(settings.get("machines", ""), ())}

    def refuse(done: int, total: int) -> None:
        raise AssertionError("an episode was played")

    with pytest.raises(PraemiaError, match=message):
        explore(task, episodes=200, on_progress=refuse, **chosen)


def test_weights_follow_their_formula() -> None:
    """The 25 draws that lose the most, each its loss times how far its optimal policy's visits are from the plan's."""
    task = tiny_task(1, num_observations=4, horizon=3)
    data = explore(task, episodes=40, method="uncertainty")
    likely, weights = loss_and_weights(data, task.machine)
    policy = solve(data.model(task.machine)).policy
    posterior, draws = Posterior(Estimate.of(data, task.machine), 0), []
    for _ in range(200):
        best = solve(posterior.draw())
        draws.append((best.value - evaluate(posterior.model, policy).value, best.policy))
    np.testing.assert_array_equal(likely.losses, np.sort([loss for loss, _ in draws]))

    assert data.visits.min() > 0  # so all is known
    kernel = data.kernel.toarray()[:, :4].reshape(4, 2, 4)
    plain = Task(LabeledMDP.from_dense(kernel, task.mdp.labelling.rules, data.start_probs), task.machine, 3)

    def visits(actions: np.ndarray) -> np.ndarray:
        _, pairs, _ = oracles.occupancy(plain, actions)
        return np.array([[pairs.get((o, a), 0.0) for a in range(2)] for o in range(4)])

    own = visits(policy)
    expected = sum(loss * np.abs(visits(other) - own) for loss, other in sorted(draws, key=lambda draw: -draw[0])[:25])
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert weights.max() > 0.0


def test_the_directed_policy_collects_the_most_of_all_policies() -> None:
    task = tiny_task(3, num_observations=3, horizon=2)
    data = explore(task, episodes=4, method="uncertainty")
    gain = np.random.default_rng(0).uniform(size=(3, 2))
    kernel = data.kernel.toarray()[:, :3].reshape(3, 2, 3)  # what leads into the unknown is lost

    def collected(policy: Any) -> float:
        mass, total = data.start_probs.copy(), 0.0
        for h in range(2):
            total += sum(mass[o] * gain[o, policy[h][o]] for o in range(3))
            mass = sum(mass[o] * kernel[o, policy[h][o]] for o in range(3))
        return float(total)

    all_policies = itertools.product(itertools.product(range(2), repeat=3), repeat=2)
    assert collected(most_gain(data, gain)[:, 0]) == pytest.approx(max(map(collected, all_policies)), abs=1e-12)


class Doors(gymnasium.Env[int, int]):
    """A hall with two doors; behind the second is the goal, one time in two. Both end the episode."""

    observation_space, action_space = gymnasium.spaces.Discrete(3), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        z = 2 if action == 1 and self.np_random.random() < 0.5 else 1
        return z, 0.0, True, False, {}


def doors() -> BlackBox:
    machine = reach("goal").over(["goal", "ghost"])
    return BlackBox(Doors(), lambda o, a, z, info: {"goal"} if z == 2 else set(), machine, 2)


def test_a_black_box_is_explored_until_it_is_enough() -> None:
    data = explore(doors(), until=0.05, machines=[reach("goal")], episodes=5_000)
    assert data.sources[0]["reached"]
    plan = plan_from(data, reach("goal"))
    assert plan.likely_loss is not None
    assert plan.likely_loss < 0.05
    assert plan.policy[0, 0, 0] == 1  # type: ignore[index]


def test_a_label_that_is_never_met_leaves_the_loss_unknown() -> None:
    checks: list[Check] = []
    data = explore(doors(), until=0.05, machines=[reach("ghost")], episodes=150, on_check=checks.append)
    assert isinstance(data, Dataset)
    assert data.sources[0]["checks"] == [[100, None], [150, None]]
    assert not data.sources[0]["reached"]
    assert all(check.loss == float("inf") for check in checks)


def test_one_proposition_that_was_never_seen_is_enough_to_leave_the_loss_unknown() -> None:
    machine = (
        MachineBuilder("seek").edge("seek", "goal", "done", reward=0.1).edge("seek", "ghost & !goal", "done", reward=1)
    )
    data = explore(doors(), until=0.5, machines=[machine.build()], episodes=150)
    assert data.sources[0]["checks"] == [[100, None], [150, None]]
    assert not data.sources[0]["reached"]
    likely = plan_from(data, machine.build()).likely()
    assert likely is not None
    assert likely.never_seen == ("ghost",)
    assert "never seen, and so taken to be impossible: ghost" in likely.text()
    seen = plan_from(data, reach("goal")).likely()
    assert seen is not None
    assert "impossible" not in seen.text()


def test_machines_may_come_from_a_generator() -> None:
    task = tiny_task(0)
    settings: dict[str, Any] = {"until": 1e-9, "episodes": 100}
    given = explore(task, machines=(machine for machine in [task.machine]), **settings)
    assert given.to_bytes() == explore(task, machines=[task.machine], **settings).to_bytes()


def test_names_that_a_black_box_does_not_declare_are_refused() -> None:
    with pytest.raises(ModelError, match="'coffee', which the labels"):
        explore(doors(), until=0.05, machines=[reach("coffee")], episodes=150)
    with pytest.raises(ParameterError, match="without machines"):
        explore(doors(), until=0.05, episodes=150)


def test_machines_that_are_good_enough_get_no_visits() -> None:
    """With one machine far below the limit and one above, the check's weights are those of the second alone."""
    task = warehouse(3)
    data = explore(task, episodes=400, method="uncertainty")
    machines = list(machine_family(task.machine.propositions, 6).values())
    found = sorted(
        ((loss_and_weights(data, machine), machine) for machine in machines), key=lambda item: item[0][0].loss
    )
    (low, _), easy = found[0]
    (high, expected), hard = found[-1]
    middle = 0.5 * (low.loss + high.loss)
    goal = Goal(middle, (easy, hard), "likely")
    loss, weights = check(data, goal, 1, wants_weights=True)
    assert loss == high.loss
    np.testing.assert_array_equal(weights, expected)

"""Exploring until named machines' plans lose little: when it stops, what it says, and where it goes."""

from __future__ import annotations

import pytest
from places import Places

from praemia.envs import warehouse
from praemia.envs.black_box import BlackBox
from praemia.errors import PraemiaWarning
from praemia.exploration import explore, plan_from
from praemia.exploration.explore import Check
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine


def reach(name: str) -> RewardMachine:
    return MachineBuilder("seek").edge("seek", name, "done", reward=1).build()


def test_it_stops_at_the_first_check_below_and_says_what_a_plan_says() -> None:
    task, checks = warehouse(3), list[Check]()
    machines = [task.machine, reach("delivery")]
    data = explore(task, until=0.05, machines=machines, num_episodes=100_000, on_check=checks.append)
    (source,) = data.sources
    assert source["reached"]
    assert [check.episodes for check in checks] == [100 * 2**i for i in range(len(checks))]
    assert data.num_episodes == checks[-1].episodes < 100_000
    assert all(check.loss >= 0.05 for check in checks[:-1])
    assert checks[-1].loss < 0.05
    assert source["checks"] == [list(check) for check in checks]
    assert max(plan_from(data, machine).likely_loss or 0.0 for machine in machines) == checks[-1].loss


def test_data_is_kept_when_the_episodes_run_out() -> None:
    task = warehouse(3)
    data = explore(task, until=1e-6, machines=[task.machine], num_episodes=250)
    assert data.num_episodes == 250
    assert data.num_transitions == 250 * task.horizon
    assert not data.sources[0]["reached"]
    assert [episodes for episodes, _ in data.sources[0]["checks"]] == [100, 200, 250]


def doors() -> BlackBox:
    """Return a hall with two doors; behind the second is the goal, one time in two. Both end the episode."""
    machine = reach("goal").over(["goal", "ghost"])
    hall = Places(3, lambda place, action, rng: (2 if action == 1 and rng.random() < 0.5 else 1, True, {}))
    return BlackBox(hall, lambda o, a, z, info: {"goal"} if z == 2 else set(), machine, 2)


def test_a_black_box_is_explored_until_it_is_enough() -> None:
    data = explore(doors(), until=0.05, machines=[reach("goal")], num_episodes=5_000)
    assert data.sources[0]["reached"]
    plan = plan_from(data, reach("goal"))
    assert plan.likely_loss is not None
    assert plan.likely_loss < 0.05
    assert plan.policy[0, 0, 0] == 1  # type: ignore[index]


def test_one_proposition_that_was_never_seen_is_said_everywhere() -> None:
    """It leaves the loss unknown, and a plan says so in its text, on its card and with a warning."""
    machine = (
        MachineBuilder("seek").edge("seek", "goal", "done", reward=0.1).edge("seek", "ghost & !goal", "done", reward=1)
    )
    checks = list[Check]()
    data = explore(doors(), until=0.5, machines=[machine.build()], num_episodes=150, on_check=checks.append)
    assert data.sources[0]["checks"] == [[100, None], [150, None]]
    assert not data.sources[0]["reached"]
    assert all(check.loss == float("inf") for check in checks)
    with pytest.warns(PraemiaWarning, match="the data never saw ghost, which the machine reads"):
        plan = plan_from(data, machine.build())
    likely = plan.likely()
    assert plan.never_seen == likely.never_seen == ("ghost",)  # type: ignore[union-attr]
    assert "never seen, and so taken to be impossible: ghost" in likely.text()  # type: ignore[union-attr]
    assert "the data never saw ghost" in repr(plan)
    seen = plan_from(data, reach("goal"))
    assert "impossible" not in seen.likely().text()  # type: ignore[union-attr]
    assert "never saw" not in repr(seen)

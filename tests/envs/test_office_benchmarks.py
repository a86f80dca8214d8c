"""The published office benchmarks and craft: their maps, their errands, how moves slip."""

from __future__ import annotations

import numpy as np
import pytest

import praemia
from praemia.envs.builtin_machines import in_stages, sequence
from praemia.envs.craft import LEGEND, PLACES, TASKS

SHORTEST = {1: 15, 2: 29, 3: 29, 4: 30}  # steps, as published for the office without chance
SIZES = {0: 10 * 10, 1: 9 * 12, 2: 12 * 12, 3: 15 * 15, 4: 15 * 15}


@pytest.mark.parametrize(("number", "steps"), SHORTEST.items())
def test_the_shortest_ways_of_the_office_without_chance_are_those_published(number: int, steps: int) -> None:
    task = praemia.envs.make(f"office-jair-t{number}").with_discount(1.0)
    assert praemia.solve(task.with_horizon(steps)).value == 1.0
    assert praemia.solve(task.with_horizon(steps - 1)).value == 0.0


@pytest.mark.parametrize(("number", "cells"), SIZES.items())
def test_maps_have_as_many_cells_as_published(number: int, cells: int) -> None:
    task = praemia.envs.office_map(number, 1)
    assert task.num_observations == cells
    assert task.num_actions == 4


def test_a_move_that_is_blocked_as_meant_stays_and_does_not_slip() -> None:
    mdp = praemia.envs.make("office-map1-exp1").mdp
    corner = mdp.observation_names.index("0,0")
    kernel = mdp.to_dense()
    up, right = mdp.action_names.index("up"), mdp.action_names.index("right")
    assert kernel[corner, up, corner] == 1.0
    below, beside = mdp.observation_names.index("1,0"), mdp.observation_names.index("0,1")
    # To the right as meant with .8, down with .1; the slip upwards is blocked and stays.
    np.testing.assert_allclose(kernel[corner, right, [beside, below, corner]], [0.8, 0.1, 0.1], rtol=1e-15)


def test_slipping_when_blocked_is_kept_by_files(tmp_path) -> None:
    task = praemia.envs.make("office-map2-exp3")
    praemia.save_task(task, tmp_path / "task.yaml")
    again = praemia.load_task(tmp_path / "task.yaml")
    np.testing.assert_array_equal(again.mdp.probs, task.mdp.probs)
    assert again.machine == task.machine


def test_the_far_coffee_pays_a_thousand_and_the_first_one_taken_counts() -> None:
    machine = praemia.envs.make("office-map4-exp6").machine
    far = [{"coffee", "corner"}, {"coffee"}, {"office"}]
    near = [{"coffee"}, {"coffee", "corner"}, {"office"}]
    assert machine.expected_rewards(far).sum() == 1_000.0
    assert machine.expected_rewards(near).sum() == 1.0
    assert machine.expected_rewards([{"coffee"}, {"plant"}, {"office"}]).sum() == 0.0


def test_errands_that_name_a_coffee_are_refused_on_other_maps() -> None:
    with pytest.raises(praemia.PraemiaError, match="on map 4 only; found map=1"):
        praemia.envs.make("office-map1-exp6")
    with pytest.raises(praemia.PraemiaError, match="expected one of 0, 1, 2, 3, 4"):
        praemia.envs.make("office-map7-exp1")


@pytest.mark.parametrize(
    ("word", "paid"),
    [
        ("acfbh", 1.0),
        ("afcbh", 1.0),
        ("facbh", 1.0),
        ("fcabh", 0.0),  # the workbench before the wood
        ("acbfh", 0.0),  # the toolshed too early
        ("acfbbh", 1.0),
        ("acfhb", 0.0),
    ],
)
def test_the_longest_craft_task_takes_its_events_in_any_interleaving(word: str, paid: float) -> None:
    machine = in_stages(TASKS[10], tuple(LEGEND.values()))
    assert machine.expected_rewards([{LEGEND[letter]} for letter in word]).sum() == paid


def test_craft_maps_are_drawn_by_their_seed_with_every_place() -> None:
    one, other = praemia.envs.make("craft-3-task10"), praemia.envs.make("craft-4-task10")
    assert one.num_observations == 39 * 39
    assert one.mdp.map.text == praemia.envs.make("craft-3-task2").mdp.map.text
    assert one.mdp.map.text != other.mdp.map.text
    for letter, count in PLACES.items():
        assert one.mdp.map.text.count(letter) == count


def test_a_sequence_pays_its_last_event_and_nothing_after_a_hazard() -> None:
    machine = in_stages(sequence("a", "b"), ("a", "b", "hole"), hazard="hole")
    assert machine.expected_rewards([{"a"}, {"b"}, {"b"}]).tolist() == [0.0, 1.0, 0.0]
    assert machine.expected_rewards([{"a"}, {"hole", "b"}, {"b"}]).sum() == 0.0
    assert machine.num_states == 4


@pytest.mark.parametrize(
    ("name", "length", "success"),
    [("office-map1-exp1", 21.08, 0.6676), ("office-map1-exp5", 77.86, 0.1547), ("office-map2-exp2", 53.10, 0.3792)],
)
def test_discounted_optima_are_those_published(name: str, length: float, success: float) -> None:
    """Published figures are means over sampled episodes: they agree within one percentage point and one step."""
    task = praemia.envs.make(name).with_discount(0.9).with_horizon(None)
    played = task.with_horizon(1_000).with_discount(1.0).with_until_done(False)
    done = praemia.occupancy(played, praemia.solve(task)).states[:, task.machine.states.index("done")].sum(axis=1)
    assert done[-1] == pytest.approx(success, abs=0.01)
    assert np.arange(1, 1_001) @ np.diff(done) / done[-1] == pytest.approx(length, abs=1.0)

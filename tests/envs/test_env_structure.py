"""What the environments are made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from praemia import envs
from praemia.envs import office as office_function
from praemia.envs.grid_map import GridMap
from praemia.envs.office import LEGEND, MAP, office_machine
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import solve
from praemia.tasks.task import Task


def walk(machine: RewardMachine, events: list[str]) -> tuple[list[str], float]:
    """Return the states a deterministic machine passes on labels of one proposition, and what it pays."""
    state, path, paid = machine.initial, [], 0.0
    for event in events:
        (outcome,) = machine.outcomes(state, frozenset({event} if event else ()))
        state, paid = outcome.target, paid + outcome.reward.mean
        path.append(state)
    return path, paid


def reachable(task: Task) -> set[int]:
    dense = task.mdp.to_dense().max(axis=1)
    found, edge = set(), set(np.flatnonzero(task.mdp.start_probs).tolist())
    while edge:
        found |= edge
        edge = {int(z) for o in edge for z in np.flatnonzero(dense[o])} - found
    return found


@pytest.mark.parametrize("loop", [1, 5, 20, 100])
def test_the_flower_machine_has_13_states_and_the_big_loop(loop: int) -> None:
    task = envs.flower(loop=loop)
    assert task.num_machine_states == 13 + loop
    assert (task.num_observations, task.num_actions, task.horizon) == (6, 2, 30)


def test_a_small_loop_of_the_flower_needs_its_petal_four_times_and_ignores_the_rest() -> None:
    machine = envs.flower(loop=7).machine
    path, paid = walk(machine, ["", "petal-2", "petal-5", "petal-2", "", "petal-1", "petal-2"])
    assert paid == 0.0
    assert path[0] == "centre"
    assert path[1] == path[2] != path[3] == path[4] == path[5] != path[6]
    path, paid = walk(machine, ["petal-2"] * 4)
    assert (path[-1], paid) == ("centre", 1.0)
    assert "centre" not in path[:-1]


def test_the_big_loop_of_the_flower_pays_after_all_its_states() -> None:
    machine = envs.flower(loop=7).machine
    path, paid = walk(machine, ["petal-5"] * 8)
    assert (path[-1], paid) == ("centre", 1.0)
    assert len(set(path)) == 8
    assert walk(machine, ["petal-5"] * 7)[1] == 0.0


def test_only_the_first_action_in_a_petal_counts() -> None:
    task = envs.flower()
    numbers, labels = task.mdp.labelling.of(*(np.array(column) for column in ([3, 3, 0], [0, 1, 0], [0, 0, 3])))
    assert [labels[number] for number in numbers] == [frozenset({"petal-3"}), frozenset(), frozenset()]


@pytest.mark.parametrize("size", [5, 9, 13])
def test_two_rooms_are_the_inside_without_the_inner_wall(size: int) -> None:
    task = envs.two_rooms(size)
    inside = size - 2
    assert task.num_observations == inside**2 - inside + 1
    assert len(reachable(task)) == task.num_observations


def test_the_door_of_two_rooms_opens_to_both_sides_only() -> None:
    task = envs.two_rooms(7)
    names = list(task.mdp.observation_names or ())
    door, left, right = (names.index(name) for name in ("3,3", "3,2", "3,4"))
    row = task.mdp.to_dense()[door, 0]  # up, into the wall
    assert row[door] == pytest.approx(0.8)
    assert row[left] == pytest.approx(0.1)
    assert row[right] == pytest.approx(0.1)


def test_the_office_map_has_its_rooms_and_doors() -> None:
    office = GridMap(MAP, LEGEND)
    assert office.cells.shape == (9, 12)
    assert sorted("".join(office.letters.ravel()).replace(".", "")) == sorted("******ccmoABCDS")
    # 3 upright inner walls of 9 and 2 level ones of 12, less 6 doors to the side and 4 + 2 up and down.
    assert sum(int(walls.sum()) for walls in office.thin_walls) == 3 * 9 + 2 * 12 - 6 - 4 - 2
    task = envs.office("coffee")
    assert len(reachable(task)) == 108


@pytest.mark.parametrize("errand", ["coffee", "mail", "coffee-and-mail", "patrol"])
def test_a_broken_plant_is_for_ever(errand: str) -> None:
    task = envs.office(errand)
    broken = task.machine.index["broken"]
    assert np.all(solve(task).values[:, broken] == 0.0)
    for state in task.machine.states:
        if state not in ("done", "broken"):
            assert task.machine.outcomes(state, {"plant"})[0].target == "broken"


def test_errands_are_paid_at_their_end() -> None:
    assert walk(office_machine("mail"), ["office", "mail", "", "office", "office"])[1] == 1.0
    assert walk(office_machine("patrol"), list("ABCDABCD"))[1] == 2.0
    assert walk(office_machine("patrol"), list("ABDC"))[1] == 0.0
    assert walk(office_machine("mail"), ["mail", "plant", "office"])[1] == 0.0


def test_coffee_is_ready_four_times_in_five() -> None:
    outcomes = office_machine("coffee").outcomes("start", {"coffee"})
    assert {out.target: out.probability for out in outcomes} == pytest.approx({"with-coffee": 0.8, "start": 0.2})


def test_the_name_of_a_module_is_the_function() -> None:
    assert office_function("mail").name == "office-mail"


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**40), st.integers(1, 5))
def test_a_random_task_depends_on_its_arguments_alone(
    observations: int, actions: int, machine_states: int, seed: int, horizon: int
) -> None:
    sizes = (observations, actions, machine_states)
    task = envs.random_task(*sizes, horizon=horizon, seed=seed)
    again = envs.make(f"random-{observations}x{actions}x{machine_states}-{seed}", horizon=horizon + 1)
    assert (task.num_observations, task.num_actions, task.num_machine_states) == sizes
    assert np.array_equal(task.mdp.probs, again.mdp.probs)
    assert np.array_equal(task.mdp.successors, again.mdp.successors)
    assert task.machine == again.machine
    assert task.mdp.label_sets == again.mdp.label_sets


def test_random_tasks_differ_between_seeds_and_mix_kinds_of_rewards() -> None:
    tasks = [envs.random_task(seed=seed) for seed in range(5)]
    assert len({task.machine for task in tasks}) == 5
    rewards = [out.reward for task in tasks for rule in task.machine.rules for out in rule.outcomes]
    assert {len(reward.values) for reward in rewards} >= {1, 2, 3}
    assert any(reward.is_constant and 0.0 < reward.mean < 1.0 for reward in rewards)
    assert any(not task.machine.is_deterministic for task in tasks)


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("office-mail", "D*CcomAB"),
        ("office-jair-t1", "BpCcomADE"),
        ("office-map0-exp0", "kAcCDBoEm"),
        ("office-map2-exp3", "EpBDcoAmC"),
        ("office-map4-exp6", "pEkABmcDoC"),
        ("warehouse-3", "ID"),
    ],
)
def test_labels_of_a_map_are_numbered_as_it_is_read(name: str, letters: str) -> None:
    task = envs.make(name)
    assert isinstance(task.mdp.map, GridMap)
    met = dict.fromkeys(letter for letter in task.mdp.map.text if letter in task.mdp.map.legend)
    assert "".join(met) == letters
    assert task.mdp.label_sets == (frozenset(), *(frozenset(task.mdp.map.legend[letter]) for letter in letters))


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("rooms-9", ["corner-a", "corner-b", "door"]),
        ("drawn-traps-42", ["a", "b", "trap"]),
        ("drawn-office-42", ["item-0", "desk", "trap"]),
        ("craft-0-task10", ["wood", "gold", "iron", "workbench", "grass", "factory", "bridge", "toolshed"]),
    ],
)
def test_labels_of_other_maps_keep_their_numbers(name: str, labels: list[str]) -> None:
    assert envs.make(name).mdp.label_sets == (frozenset(), *(frozenset({label}) for label in labels))

"""What the built-in tasks are made of: machines, maps, how moves slip."""

from __future__ import annotations

import numpy as np
import pytest

from praemia import RewardMachine, envs, solve
from praemia.envs.craft import LEGEND
from praemia.envs.generated_models import errands, prices
from praemia.errors import PraemiaError


def total(machine: RewardMachine, *labels: str) -> float:
    """Return the mean return of a word; a label is written as its propositions."""
    return float(machine.expected_rewards([label.split() for label in labels]).sum())


# Machines


def test_errands_are_rewarded_at_the_end_or_one_by_one_once_or_in_rounds() -> None:
    machines = [errands(np.random.default_rng(i), ("a", "b"), 3, fits=9.0, others=("trap",)) for i in range(40)]
    words = ("aba", "abaaba", "aab", ("a", "trap", *"baaba"))
    thirds = {tuple(round(3 * total(m, *word)) for word in words) for m in machines if m.is_deterministic}
    assert thirds == {(3, 3, 0, 0), (3, 6, 0, 0), (3, 3, 2, 1), (3, 6, 2, 1)}
    noticed = {round(float(total(machine, *"aba")), 6) for machine in machines if not machine.is_deterministic}
    assert noticed
    assert max(noticed) < 0.95


def test_prices_count_the_first_event() -> None:
    assert total(prices({"a": 0.25, "b": 1.0}), "a b", "b") == 1.25


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
    assert total(envs.craft(task=10).machine, *(LEGEND[letter] for letter in word)) == paid


@pytest.mark.parametrize("loop", [1, 7, 20])
def test_a_loop_of_the_flower_needs_its_petal_once_more_than_it_has_states(loop: int) -> None:
    machine = envs.flower(loop=loop).machine
    assert machine.num_states == 13 + loop
    assert total(machine, *["petal-5"] * loop) == 0.0
    assert total(machine, *["petal-5"] * (loop + 1)) == 1.0
    assert total(machine, "", "petal-2", "petal-5", "petal-2", "", "petal-1", "petal-2") == 0.0
    assert total(machine, *["petal-2"] * 4) == 1.0


def test_only_the_first_action_in_a_petal_counts() -> None:
    labelling = envs.flower().mdp.labelling
    numbers, labels = labelling.of(*(np.array(column) for column in ([3, 3, 0], [0, 1, 0], [0, 0, 3])))
    assert [labels[number] for number in numbers] == [frozenset({"petal-3"}), frozenset(), frozenset()]


def test_errands_in_the_office_end_with_their_reward_or_with_a_broken_plant() -> None:
    mail, patrol, coffee = (envs.office(errand).machine for errand in ("mail", "patrol", "coffee"))
    assert total(mail, "office", "mail", "", "office", "office") == 1.0
    assert total(mail, "mail", "plant", "office") == 0.0
    assert total(patrol, *"ABCDABCD") == 2.0
    assert total(patrol, *"ABDC") == 0.0
    assert total(coffee, "coffee", "office") == pytest.approx(0.8)
    for errand in ("coffee", "mail", "coffee-and-mail", "patrol"):
        task = envs.office(errand)
        (state,) = {out.target for name in task.machine.states for out in task.machine.outcomes(name, {"plant"})}
        assert np.all(solve(task).values[:, task.machine.index[state]] == 0.0)


def test_the_far_coffee_has_a_reward_of_a_thousand_and_the_first_one_taken_counts() -> None:
    machine = envs.make("office-map4-exp6").machine
    assert total(machine, "coffee corner", "coffee", "office") == 1_000.0
    assert total(machine, "coffee", "coffee corner", "office") == 1.0
    assert total(machine, "coffee", "plant", "office") == 0.0


# Maps


def test_a_move_that_is_blocked_as_meant_stays_and_does_not_slip() -> None:
    mdp = envs.make("office-map1-exp1").mdp
    corner, below, beside = (mdp.observation_names.index(name) for name in ("0,0", "1,0", "0,1"))
    dense = mdp.to_dense()
    up, right = mdp.action_names.index("up"), mdp.action_names.index("right")
    assert dense[corner, up, corner] == 1.0
    # To the right as meant with .8, down with .1; the slip upwards is blocked and stays.
    np.testing.assert_allclose(dense[corner, right, [beside, below, corner]], [0.8, 0.1, 0.1], rtol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: envs.make("office-map1-exp6"), "on map 4 only; found map=1"),
        (lambda: envs.make("office-map7-exp1"), "map=7; expected one of 0, 1, 2, 3, 4"),
        (lambda: envs.office_jair(1.0), "task=1.0; expected one of 1, 2, 3, 4"),
        (lambda: envs.craft(task=10.0), "task=10.0; expected one of 2, 5, 8, 9, 10"),
        (lambda: envs.craft(task=True), "task=True; expected one of"),
    ],
)
def test_errands_that_there_are_not_are_refused(make, message: str) -> None:
    with pytest.raises(PraemiaError, match=message):
        make()

"""A task is an MDP and a machine that speak of the same labels."""

import warnings
from itertools import accumulate

import pytest
import strategies
from hypothesis import given

from praemia import RewardMachine
from praemia.envs import random_task, warehouse
from praemia.envs.classics import riverswim
from praemia.errors import ModelError, PraemiaWarning
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

MACHINE = MachineBuilder(initial="q", propositions=("goal",)).edge("q", "goal", "r", reward=1).build()


def loop(*propositions):
    """An MDP of one observation that goes on with the propositions given."""
    return LabeledMDP.from_dense([[[1.0]]], [LabelRule(frozenset(propositions))])


def test_a_label_that_the_machine_does_not_know_is_refused():
    with pytest.raises(ModelError, match=r"\{goal, goals\} has the proposition 'goals'.*did you mean 'goal'"):
        Task(loop("goal", "goals"), MACHINE, 3)


def test_a_proposition_that_no_label_has_is_warned_of_where_the_task_is_made():
    fetch = RewardMachine.from_ltlf("F(itm & X F delivery)")
    with pytest.warns(PraemiaWarning, match=r"'itm', which no label has \(did you mean 'item'\?\)") as warned:
        task = warehouse(3).with_machine(fetch)
    with pytest.warns(PraemiaWarning, match="'itm', which no label has") as again:
        Task(task.mdp, task.machine, 3)
    assert [warning.filename for warning in (*warned, *again)] == [__file__] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        task.with_horizon(3).with_discount(0.9).with_until_done()
        riverswim(3).with_machine(RewardMachine.from_ltlf("F right-end"))
        random_task(3, 2, 3, seed=1)


def test_another_machine_may_ignore_what_the_labels_say():
    task = riverswim(3).with_machine(MACHINE)
    assert set(task.machine.propositions) == {"goal", "left-end", "right-end"}
    assert task.horizon == 6


def table_edges(table, label, state):
    """The edges of a row of the table as {target: (probability, mean, law)}."""
    row = label * table.num_states + state
    edges = {}
    for e in range(table.indptr[row], table.indptr[row + 1]):
        law = table.laws[table.law_indptr[e] : table.law_indptr[e + 1]]
        paid = (tuple(law["value"]), tuple(law["sum"]))
        edges[int(table.targets[e])] = (table.probs[e], table.rewards[e], paid)
    return edges


@given(strategies.machines())
def test_the_table_says_what_the_machine_says(machine):
    table = MachineTable.of(machine, strategies.ALL_LABELS)
    for i, label in enumerate(strategies.ALL_LABELS):
        for m, state in enumerate(machine.states):
            outcomes = machine.outcomes(state, label)
            assert table_edges(table, i, m) == {
                machine.states.index(out.target): (
                    out.probability,
                    out.reward.mean,
                    (out.reward.values, tuple(accumulate(out.reward.probabilities))),
                )
                for out in outcomes
            }
            mean = sum(out.probability * out.reward.mean for out in outcomes)
            assert table.mean_rewards[i, m] == pytest.approx(mean)


@given(strategies.machines())
def test_a_still_label_moves_nothing_and_an_inert_one_pays_nothing_either(machine):
    table = MachineTable.of(machine, strategies.ALL_LABELS)
    for i, label in enumerate(strategies.ALL_LABELS):
        steps = [(state, out) for state in machine.states for out in machine.outcomes(state, label)]
        assert table.has_no_effect[i] == all(out.target == state and out.reward.mean == 0.0 for state, out in steps)


def test_a_task_says_what_it_is():
    assert repr(riverswim(5)) == "Task('riverswim-5': 5 observations, 2 actions, 2 machine states, horizon 10)"

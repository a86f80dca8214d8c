"""Going forward from the start gives the value that going backward gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tasks

from praemia.kernels.forward import value_from
from praemia.models.task import Task
from praemia.planning.exact import evaluate, inner_policy, solve


@settings(max_examples=100)
@given(task=tasks(), seed=st.integers(0, 2**32), randomised=st.booleans())
def test_the_value_from_the_start_is_that_of_backward_induction(task: Task, seed: int, randomised: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = (task.horizon, task.num_machine_states, task.num_observations)
    policy = rng.integers(task.num_actions, size=shape)
    if randomised:
        policy = rng.dirichlet(np.full(task.num_actions, 0.5), size=shape)
    for chosen in (policy, solve(task).policy):
        found = value_from(
            task.arrays,
            task.table.arrays,
            task.num_actions,
            inner_policy(task, chosen),
            task.mdp.start_probs,
            task.table.initial,
        )
        assert found == pytest.approx(evaluate(task, chosen).value, abs=1e-12)

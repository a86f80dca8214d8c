"""The kernels are plain Python too: without compilation they give the same bits."""

import json
import os
import subprocess
import sys

import numpy as np

from praemia.envs import make
from praemia.envs.riverswim import riverswim, riverswim_prm
from praemia.envs.warehouse import warehouse
from praemia.planning.exact import evaluate, occupancy, solve
from praemia.tasks.task import Task

# The last has more pairs than an int16 counts: Python's integers must not wrap where compiled ones do not.
TASKS = (
    riverswim(4),
    riverswim_prm(5, 7),
    warehouse(3),
    make("random-4x2x21-0", horizon=4),
    riverswim(17_000, 1),
)


def answers(task: Task) -> list[list[str]]:
    """Return all numbers that planning gives for a task, exactly."""
    plan = solve(task)
    shape = (*plan.policy.shape, task.num_actions)
    weights = np.random.default_rng(0).random(shape)
    randomised = weights / weights.sum(axis=-1, keepdims=True)
    arrays = [plan.values, plan.policy]
    for policy in (plan.policy, randomised):
        visits = occupancy(task, policy)
        arrays += [evaluate(task, policy).values, visits.states, visits.pairs]
    return [[float(number).hex() for number in array.ravel()] for array in arrays]


def test_without_compilation_the_answers_are_the_same_bit_for_bit():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, check=True)
    assert json.loads(ran.stdout) == [answers(task) for task in TASKS]


if __name__ == "__main__":
    from numba import config

    assert config.DISABLE_JIT
    print(json.dumps([answers(task) for task in TASKS]))

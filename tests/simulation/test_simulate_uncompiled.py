"""The kernels are plain Python too: without compilation every learner's run is the same, bit for bit."""

import json
import os
import subprocess
import sys

from praemia import envs, learners, simulate

# Name, horizon and episodes. The last one's machine fills more than one vector, and PSRL breaks sticks there.
TASKS = (("riverswim-5", 7, 15), ("random-3x2x3-4", 7, 15), ("random-16x2x9-1", 3, 6))
LEARN_MACHINES = [name for name in learners.names() if "learn_machine" in learners.make(name).parameters]


def answers(task: str, horizon: int, num_episodes: int) -> dict[str, list[list[str]]]:
    """Return all numbers of a run of each learner on a task, exactly."""
    world = envs.make(task, horizon=horizon)
    players = {name: learners.make(name) for name in learners.names()}
    players |= {f"{name} that learns the machine": learners.make(name, learn_machine=True) for name in LEARN_MACHINES}
    runs = {name: simulate(world, player, num_episodes, 2) for name, player in players.items()}
    return {
        name: [
            [float(number).hex() for number in array.ravel()]
            for array in (run.returns, run.plan_episodes, run.plan_values, run.optimistic_values, run.final_policy)
        ]
        for name, run in runs.items()
    }


def test_without_compilation_every_run_is_the_same_bit_for_bit():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run([sys.executable, "-W", "error", __file__], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    uncompiled = json.loads(ran.stdout)
    for i, task in enumerate(TASKS):
        compiled = answers(*task)
        assert list(compiled) == list(uncompiled[i])
        for name in compiled:
            assert uncompiled[i][name] == compiled[name], (task, name)


if __name__ == "__main__":
    from numba import config

    assert config.DISABLE_JIT
    print(json.dumps([answers(*task) for task in TASKS]))

"""Counts in a black box whose pairs have many successors, so that their places are moved again and again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from learner_oracles import Wanderer, Watched

from praemia import BlackBox, simulate
from praemia.machines.builder import MachineBuilder

SIZE, HORIZON, EPISODES = 30, 8, 200


class Scattering(gymnasium.Env):
    """Any observation follows any other; what happened is written down."""

    observation_space, action_space = Discrete(SIZE), Discrete(2)

    def __init__(self) -> None:
        self.happened: Counter[tuple[int, int, int]] = Counter()
        self.place = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = 0
        return self.place, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        before, self.place = self.place, int(self.np_random.integers(SIZE))
        self.happened[before, int(action), self.place] += 1
        return self.place, 0.0, False, False, {}


def test_every_step_is_counted_where_it_belongs() -> None:
    machine = MachineBuilder("even", ("odd",)).edge("even", "odd", "even", reward=1).build()
    env = Scattering()
    box = BlackBox(env, lambda o, a, z, info: ("odd",) if z % 2 else (), machine, HORIZON)
    watched = Watched(Wanderer())
    simulate(box, watched, EPISODES, 3)
    env.happened.clear()  # the labels may have been tried out before
    simulate(box, watched, EPISODES + 1, 3)
    seen = watched.shown[-1].transitions
    columns = (seen.observations.tolist(), seen.actions.tolist(), seen.successors.tolist())
    found = Counter(dict(zip(zip(*columns, strict=True), seen.counts.tolist(), strict=True)))
    assert found.total() == EPISODES * HORIZON
    assert found <= env.happened
    assert env.happened.total() - found.total() == HORIZON  # the last episode came after the last plan
    assert np.bincount(seen.observations * 2 + seen.actions).max() > 16, "no pair has so many successors"

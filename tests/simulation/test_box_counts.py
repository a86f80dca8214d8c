"""Counts in a black box whose pairs have many successors, so that their places are moved again and again."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from learner_oracles import Wanderer, Watched

from praemia import BlackBox, Headroom, simulate
from praemia.kernels.counts import EPISODES as PLAYED
from praemia.kernels.counts import GROWN, IS_REPAIR, PLANNED_EPISODES
from praemia.machines.builder import MachineBuilder
from praemia.simulation.box_world import BoxWorld
from praemia.simulation.loop import run_loop

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


class Opening(Scattering):
    """From some episode on the last observation is met, and no other, so that its label comes as a surprise."""

    opens_after = 92
    begun = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self.begun += 1
        return super().reset(seed=seed, options=options)

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        place, *rest = super().step(action)
        self.place = SIZE - 1 if self.begun > self.opens_after else place % (SIZE - 1)
        return self.place, *rest  # type: ignore[return-value]


class NotingWholePlans(BoxWorld):
    """A world that notes, of each plan made anew, how many episodes were counted for it, and for the one before."""

    noted: ClassVar[list[tuple[int, int, int]]] = []

    def replan(self) -> None:
        totals = self.counts.totals
        before = int(totals[PLANNED_EPISODES])
        super().replan()
        if not totals[IS_REPAIR]:
            self.noted.append((before, int(totals[PLANNED_EPISODES]), int(totals[PLAYED])))


def test_a_repair_that_a_new_label_turns_into_a_plan_counts_as_one() -> None:
    machine = MachineBuilder("going", ("last",)).edge("going", "last", "going", reward=1).build()
    box = BlackBox(Opening(), lambda o, a, z, info: ("last",) if z == SIZE - 1 else (), machine, HORIZON)
    world = NotingWholePlans(box, Headroom(), 100, (0,))
    run_loop(world, 100)
    assert all(at_plan == episodes for _, at_plan, episodes in world.noted)
    early = [before for before, _, episodes in world.noted if before < episodes < before + before / GROWN]
    assert len(early) == 1, "no plan was made before the episodes had grown"

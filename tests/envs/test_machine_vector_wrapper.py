"""A machine around a vector environment is the machine around each environment, in every autoreset mode."""

from __future__ import annotations

from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Dict, Discrete, Tuple
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array
from gymnasium.wrappers.vector import DictInfoToList
from scipy.stats import chisquare

import praemia
from praemia import MachineBuilder, MachineVectorWrapper, MachineWrapper, Reward, RewardMachine
from praemia.errors import ModelError

NUMBER = 3
MACHINE = RewardMachine.from_ltlf({"F(up & F down)": 1.0, "F(down & X F(up & X F down))": -0.5})
FORMS: dict[str, Any] = {
    "function": lambda o, a, z, info: (
        {"up"} if z["at"][0] > o["at"][0] else {"down"} if z["at"][0] < o["at"][0] else ()
    ),
    "functions": {"up": lambda o, a, z, info: z["at"] > o["at"], "down": lambda o, a, z, info: z["at"] < o["at"]},
    "predicates": praemia.labels.predicates({"down": "at[0] < before.at[0]", "up": "at[0] > before.at[0]"}),
    "info": "events",
}


class Walk(gymnasium.Env[Any, Any]):
    """A random walk with a dictionary for observations; an episode ends after a random number of steps."""

    observation_space = Dict({"at": Box(-99.0, 99.0, (1,)), "number": Discrete(2)})
    action_space = Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = float(self.np_random.integers(-5, 6))
        return self._observation(), {"events": ["reset"]}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        before, draw = self.at, self.np_random.random()
        self.at += int(action) - 1 if draw < 0.9 else 0
        events = ["up"] if self.at > before else ["down"] if self.at < before else []
        return self._observation(), 0.5, bool(draw < 0.1), bool(draw > 0.95), {"events": events}

    def _observation(self) -> Any:
        return {"at": np.array([self.at], np.float32), "number": np.int64(self.at % 2)}


def pair(form: str, machine: RewardMachine, mode: AutoresetMode, kind: Any = SyncVectorEnv) -> tuple[Any, Any]:
    """Return a vector environment of wrappers, and the vector wrapper around the same environments."""
    wrapped = SyncVectorEnv([lambda: MachineWrapper(Walk(), FORMS[form], machine)] * NUMBER, autoreset_mode=mode)
    return wrapped, MachineVectorWrapper(kind([Walk] * NUMBER, autoreset_mode=mode), FORMS[form], machine)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_it_shows_what_a_wrapper_around_each_environment_shows(form: str, mode: AutoresetMode) -> None:
    single, vector = pair(form, MACHINE, mode)
    assert vector.observation_space == single.observation_space
    assert vector.single_observation_space == single.single_observation_space
    first, other = single.reset(seed=[5, 6, 7]), vector.reset(seed=[5, 6, 7])
    np.testing.assert_equal(other[0], first[0])
    rng, ended, rewards = np.random.default_rng(0), 0, set()
    for _ in range(120):
        actions = rng.integers(3, size=NUMBER)
        one, two = single.step(actions), vector.step(actions)
        np.testing.assert_equal(two[:4], one[:4])
        assert vector.observation_space.contains(two[0])
        done = one[2] | one[3]
        ended, rewards = ended + int(done.sum()), rewards | set(two[1].tolist())
        np.testing.assert_equal(two[4]["machine_state"], one[4]["machine_state"])
        if mode != AutoresetMode.SAME_STEP:
            assert list(two[4]["label"]) == list(one[4]["label"])
        for i in np.flatnonzero(done) if mode == AutoresetMode.SAME_STEP else ():
            np.testing.assert_equal(two[4]["final_obs"][i], one[4]["final_obs"][i])
            last, expected = two[4]["final_info"], one[4]["final_info"]
            assert two[4]["label"][i] == last["label"][i] == expected["label"][i]
            assert last["machine_state"][i] == expected["machine_state"][i]
            assert last["_machine_state"][i] == last["_label"][i]
        if mode == AutoresetMode.DISABLED and done.any():
            shown = [envs.reset(options={"reset_mask": done.copy()})[0] for envs in (single, vector)]
            np.testing.assert_equal(shown[1], shown[0])
    assert ended > 10
    assert rewards >= {0.0, 1.0, -0.5}


@pytest.mark.parametrize("mode", AutoresetMode)
def test_info_says_which_environments_have_a_key(mode: AutoresetMode) -> None:
    """As Gymnasium's own vector environments do: ``DictInfoToList`` and others of its wrappers need it."""
    single, vector = (DictInfoToList(envs) for envs in pair("function", MACHINE, mode))
    first, other = single.reset(seed=[5, 6, 7])[1], vector.reset(seed=[5, 6, 7])[1]
    rng = np.random.default_rng(0)
    for _ in range(60):
        for one, two in zip(first, other, strict=True):
            assert set(two) == set(one)
            assert two.get("machine_state") == one.get("machine_state")
            assert two.get("environment") == one.get("environment")
        actions = rng.integers(3, size=NUMBER)
        one, two = single.step(actions), vector.step(actions)
        first, other = one[4], two[4]
        if mode == AutoresetMode.DISABLED and (one[2] | one[3]).any():
            mask = one[2] | one[3]
            first, other = (envs.reset(options={"reset_mask": mask.copy()})[1] for envs in (single, vector))


def test_it_wraps_environments_in_processes() -> None:
    single, vector = pair("predicates", MACHINE, AutoresetMode.SAME_STEP, AsyncVectorEnv)
    try:
        np.testing.assert_equal(vector.reset(seed=3)[0], single.reset(seed=3)[0])
        for _ in range(30):
            np.testing.assert_equal(vector.step(np.full(NUMBER, 2))[:4], single.step(np.full(NUMBER, 2))[:4])
    finally:
        vector.close()


@pytest.mark.parametrize("reward", [1.0, Reward((0.0, 2.0), (0.25, 0.75))])
def test_moves_and_rewards_have_the_machines_distribution(reward: Any) -> None:
    """χ² with level 0.001, had the seed not been fixed."""
    events = MachineBuilder("a", ("up", "down")).edge("a", "up", "b", 0.3, reward).edge("a", "up", "a", 0.7)
    machine = events.edge("b", "up", "a", reward=-1.0).build()
    _, vector = pair("predicates", machine, AutoresetMode.NEXT_STEP)
    shown, _ = vector.reset(seed=1)
    counts: Counter[Any] = Counter()
    for _ in range(3_000):
        before = shown["machine_state"]
        shown, rewards, _, _, info = vector.step(np.full(NUMBER, 2))
        for i in range(NUMBER):
            if info["label"][i] == ("up",):
                counts[before[i], shown["machine_state"][i], rewards[i]] += 1
    total = sum(count for (before, *_), count in counts.items() if before == 0)
    values = {1.0: 1.0} if reward == 1.0 else {0.0: 0.25, 2.0: 0.75}
    expected = {(0, 0, 0.0): 0.7 * total, **{(0, 1, value): 0.3 * p * total for value, p in values.items()}}
    assert set(counts) == {*expected, (1, 0, -1.0)}
    assert chisquare([counts[key] for key in expected], list(expected.values())).pvalue > 1e-3


def test_the_same_seed_gives_the_same_steps() -> None:
    machine = MACHINE.with_chance({"up": 0.5})
    _, vector = pair("predicates", machine, AutoresetMode.NEXT_STEP)

    def states(seed: int) -> list[Any]:
        vector.reset(seed=seed)
        return [vector.step(np.full(NUMBER, 2))[0]["machine_state"].tolist() for _ in range(20)]

    assert states(1) == states(1) != states(2)


class Pushed(Walk):
    """A walk whose actions have several parts."""

    def __init__(self, action_space: Any) -> None:
        self.action_space = action_space

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return super().step(action["push"] if isinstance(action, dict) else action[0])


PUSHES = Dict({"push": Discrete(3), "force": Box(0.0, 1.0, (2,))}), Tuple((Discrete(3), Box(0.0, 1.0, (2,))))


@pytest.mark.parametrize("space", PUSHES, ids=["dictionary", "tuple"])
@pytest.mark.parametrize("form", FORMS)
def test_actions_may_have_several_parts_and_machines_propositions_that_they_do_not_read(form: str, space: Any) -> None:
    machine = MACHINE.over([f"unread{i}" for i in range(30)])
    single = SyncVectorEnv([lambda: MachineWrapper(Pushed(space), FORMS[form], machine)] * NUMBER)
    vector = MachineVectorWrapper(SyncVectorEnv([lambda: Pushed(space)] * NUMBER), FORMS[form], machine)
    space.seed(1)
    np.testing.assert_equal(vector.reset(seed=2)[0], single.reset(seed=2)[0])
    for _ in range(40):
        actions = concatenate(space, [space.sample() for _ in range(NUMBER)], create_empty_array(space, NUMBER))
        np.testing.assert_equal(vector.step(actions)[:4], single.step(actions)[:4])


class Camera(gymnasium.vector.VectorWrapper):
    """Put into ``info`` what is the same for all environments."""

    def step(self, actions: Any) -> Any:
        *step, info = self.env.step(actions)
        return *step, info | {"fps": 30, "camera": "top", "size": [64, 48], "nested": {"gain": 0.5}}


def test_what_info_has_for_all_environments_is_shown_to_each() -> None:
    def labels(o: Any, a: Any, z: Any, info: dict[str, Any]) -> Any:
        assert (info["fps"], info["camera"], info["size"], info["nested"]) == (30, "top", [64, 48], {"gain": 0.5})
        return info["events"]

    vector = MachineVectorWrapper(Camera(SyncVectorEnv([Walk] * NUMBER)), labels, MACHINE)
    vector.reset(seed=0)
    assert ("up",) in list(vector.step(np.full(NUMBER, 2))[4]["label"])


def test_a_step_before_the_first_reset_is_refused() -> None:
    vector = MachineVectorWrapper(SyncVectorEnv([Walk]), "events", MACHINE)
    with pytest.raises(ResetNeeded, match="call reset first"):
        vector.step(np.array([0]))


def test_what_is_no_vector_environment_or_machine_is_refused() -> None:
    with pytest.raises(ModelError, match=r"envs=.*; expected a vector environment"):
        MachineVectorWrapper(Walk(), "events", MACHINE)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"machine='F up'; expected a RewardMachine"):
        MachineVectorWrapper(SyncVectorEnv([Walk]), "events", "F up")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="'upp', which is not one of the machine's"):
        MachineVectorWrapper(SyncVectorEnv([Walk]), {"upp": lambda *step: True}, MACHINE)

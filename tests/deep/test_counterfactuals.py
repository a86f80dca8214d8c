"""What other machine states would have made of a step has the distribution of the machine, and ends where it should."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from line_worlds import Line, line, side, there_and_back
from scipy.stats import chisquare

import praemia
from praemia.deep import counterfactual_replay
from praemia.deep.counterfactuals import Counterfactuals, ImaginedStep, view_of
from praemia.errors import MissingExtraError

MACHINE = there_and_back()
OUT, BACK, HOME = (MACHINE.index[state] for state in ("out", "back", "home"))
LEFT, RIGHT, NOWHERE = np.float32([-0.5]), np.float32([0.5]), np.float32([0.0])
GOES_ON = {"reward": 0.25, "terminated": False, "truncated": False}


def imagine(
    env: gymnasium.Env[Any, Any], own: int, target: Any, *, seed: int = 0, times: int = 1, **outside: Any
) -> list[ImaginedStep]:
    """Return what other machine states make of a step from the middle to a target."""
    view = view_of(env)
    parts = [{"observation": at, "machine_state": np.int64(own)} for at in (NOWHERE, target)]
    is_flat = isinstance(env.observation_space, spaces.Box)
    shown, seen = (spaces.flatten(view.space, part) for part in parts) if is_flat else parts
    info = {"label": tuple(side(NOWHERE, None, target, {})), "environment": GOES_ON | outside}
    counterfactuals = Counterfactuals(view, seed)
    return [step for _ in range(times) for step in counterfactuals.of(shown, seen, info)]


def state_of(env: gymnasium.Env[Any, Any], shown: Any) -> int:
    """Read the machine state from a dictionary, or from its place in a vector."""
    return int(shown["machine_state"]) if isinstance(shown, dict) else int(np.flatnonzero(shown[:3]).item())


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("target", [LEFT, RIGHT], ids=["left", "right"])
def test_next_states_and_rewards_have_the_machines_distribution(flat: bool, target: Any) -> None:
    """χ² with level 0.001 for each of 4 distributions: together they fail without a fault with probability 0.004."""
    env = line(flat=flat)
    steps = imagine(env, HOME, target, seed=3, times=4_000)
    label = side(NOWHERE, None, target, {})
    for m in (OUT, BACK):
        counts = Counter((state_of(env, s.next_state), s.reward) for s in steps if state_of(env, s.state) == m)
        expected = {
            (MACHINE.index[out.target], value): 4_000 * out.probability * prob
            for out in MACHINE.outcomes(MACHINE.states[m], label)
            for value, prob in zip(out.reward.values, out.reward.probabilities, strict=True)
        }
        assert counts.keys() == expected.keys()
        if len(expected) > 1:
            assert chisquare([counts[key] for key in expected], list(expected.values())).pvalue > 1e-3


def test_an_episode_ends_in_the_machine_state_that_can_earn_no_more() -> None:
    env = line(until_done=True)
    steps = imagine(env, OUT, LEFT, times=50)
    assert {(state_of(env, step.next_state), step.terminated) for step in steps} == {(HOME, True), (OUT, False)}
    assert not any(step.terminated for step in imagine(env, BACK, LEFT, times=50))
    assert not any(step.terminated for step in imagine(line(), OUT, LEFT, times=50))


def test_the_environments_end_is_the_end_in_every_machine_state() -> None:
    assert all(step.terminated for step in imagine(line(), OUT, NOWHERE, terminated=True))
    assert all(step.truncated for step in imagine(line(), OUT, NOWHERE, truncated=True))


def test_the_environments_reward_is_added_if_the_wrapper_adds_it() -> None:
    assert {step.reward for step in imagine(line(), OUT, NOWHERE)} == {0.0}
    assert {step.reward for step in imagine(line(add_reward=True), OUT, NOWHERE)} == {0.25}


def test_the_same_seed_samples_the_same() -> None:
    def drawn(seed: int) -> list[float]:
        return [step.reward for step in imagine(line(), OUT, LEFT, seed=seed, times=40)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


@pytest.mark.parametrize("flat", [False, True])
def test_what_info_says_of_a_step_is_the_step_without_the_machine(flat: bool) -> None:
    env = line(ends_at=0.9, horizon=3, flat=flat, until_done=True)
    env.reset(seed=0)
    seen = [env.step(np.float32([push]))[4]["environment"] for push in (0.4, -0.8, 0.2)]
    assert [(round(t["reward"], 6), t["terminated"], t["truncated"]) for t in seen] == [
        (0.2, False, False),
        (0.4, False, False),
        (0.1, False, True),
    ]
    env.reset(seed=0)
    seen = [env.step(np.float32([1.0]))[4]["environment"] for _ in range(2)]
    assert [t["terminated"] for t in seen] == [False, True]


@pytest.mark.parametrize("flat", [False, True])
def test_tasks_can_be_imagined_too(flat: bool) -> None:
    """A machine without chance: what is imagined is what happens when the same move is played in that state."""
    task = praemia.envs.riverswim(size=4, horizon=50)
    states = task.num_machine_states
    env: gymnasium.Env[Any, Any] = praemia.envs.TaskEnv(task)
    env = gymnasium.wrappers.FlattenObservation(env) if flat else env
    counterfactuals = Counterfactuals(view_of(env))

    def parts(shown: Any) -> tuple[int, int]:
        if flat:
            m, o = np.flatnonzero(shown)
            return int(m), int(o) - states
        return int(shown["machine_state"]), int(shown["observation"])

    shown, _ = env.reset(seed=0)
    for h in range(50):
        m, o = parts(shown)
        seen, _, _, truncated, info = env.step(int(h % 7 > 0))
        for step in counterfactuals.of(shown, seen, info):
            (other, at), (after, to) = parts(step.state), parts(step.next_state)
            assert other != m
            assert (at, to) == (o, parts(seen)[1])
            (out,) = task.machine.outcomes(task.machine.states[other], set(info["label"]))
            assert (after, step.reward) == (task.machine.index[out.target], out.reward.mean)
            assert step.truncated == truncated == (h == 49)
        assert len(counterfactuals.of(shown, seen, info)) == states - 1
        shown = seen


ALL_STATES = praemia.RewardMachine.from_ltlf({"F(right & F left)": 2.0, "F left": -1.0}).over(["left", "right"])
ONE_STATE = praemia.MachineBuilder("only", ("left", "right")).edge("only", "left", "only", reward=3.0).build()
STAGES: dict[Any, Any] = {state: lambda o, a, z, info: float(a[0]) for state in ALL_STATES.states} | {
    ("start", "start"): lambda o, a, z, info: 0.25
}


def as_dictionary(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Show where a point on the line is as a dictionary of a vector and a number."""
    space = spaces.Dict({"zone": spaces.Discrete(2), "at": spaces.Box(-1.0, 1.0, (1,), np.float32)})
    return gymnasium.wrappers.TransformObservation(env, lambda o: {"zone": int(o[0] > 0), "at": o}, space)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("wrap", [None, as_dictionary])
@pytest.mark.parametrize(
    "options",
    [{"shaping": 0.9}, {"stage_rewards": STAGES}, {"add_reward": True, "shaping": 0.5}, {"until_done": True}],
)
@pytest.mark.parametrize("others", [[], [ONE_STATE]], ids=["one machine", "two machines"])
def test_an_imagined_step_is_what_happens_where_the_machine_begins_in_that_state(
    flat: bool, wrap: Any, options: Any, others: list[Any]
) -> None:
    def make(machine: Any, options: Any = options) -> Any:
        inner = Line(ends_at=0.4) if wrap is None else wrap(Line(ends_at=0.4))
        labels = side if wrap is None else lambda o, a, z, info: side(o["at"], a, z["at"], info)
        return praemia.MachineWrapper(inner, labels, machine, 8, **options)

    dictionaries = make([ALL_STATES, *others])
    env = gymnasium.wrappers.FlattenObservation(dictionaries) if flat else dictionaries
    view = view_of(env)
    for action in map(np.float32, ([-1.0], [1.0], [0.1])):
        shown, _ = env.reset(seed=1)
        own = dictionaries.machine_state
        seen, _, _, _, info = env.step(action)
        imagined = Counterfactuals(view).of(shown, seen, info)
        sources = [m for m in range(len(view.states)) if m not in view.done_states and m != own]
        assert len(imagined) == len(sources)
        for m, step in zip(sources, imagined, strict=True):
            is_other = m >= ALL_STATES.num_states
            begins = ONE_STATE if is_other else ALL_STATES.replace(initial=view.states[m])
            plain = {key: value for key, value in options.items() if not (is_other and key == "stage_rewards")}
            real = make(begins, plain)
            real.reset(seed=1)
            state, reward, terminated, truncated, _ = real.step(action)
            offset = ALL_STATES.num_states if is_other else 0
            before, after = (
                spaces.unflatten(view.space, shown) if flat else shown for shown in (step.state, step.next_state)
            )
            assert (before["machine_state"], after["machine_state"]) == (m, state.pop("machine_state") + offset)
            np.testing.assert_equal({key: after[key] for key in state}, state)
            assert (step.reward, step.terminated, step.truncated) == (pytest.approx(reward), terminated, truncated)


def test_a_task_ends_early_where_nothing_more_can_be_earned() -> None:
    env = praemia.envs.TaskEnv(praemia.envs.warehouse(size=2, horizon=200).with_until_done())
    (state, _), terminated = env.reset(seed=1), False
    while not terminated:
        state, reward, terminated, truncated, _ = env.step(1 if state["machine_state"] == 0 else 2)
        assert not truncated
    assert (reward, state["machine_state"]) == (1.0, env.task.machine.index["done"])


def test_an_environment_without_a_machine_is_refused() -> None:
    with pytest.raises(praemia.PraemiaError, match=r"shows no machine; expected a praemia\.MachineWrapper"):
        view_of(gymnasium.make("CartPole-v1"))


def test_wrappers_around_the_machine_do_not_hide_it() -> None:
    assert view_of(gymnasium.wrappers.RecordEpisodeStatistics(line())).machines == (MACHINE,)


@pytest.mark.skipif(find_spec("stable_baselines3") is not None, reason="stable-baselines3 is installed here")
def test_a_missing_package_is_named_with_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"needs stable-baselines3.*the extra 'deep'"):
        counterfactual_replay(praemia.MachineWrapper(Line(), side, MACHINE))
